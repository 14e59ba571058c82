#include "approval/confinement.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "approval/preview.h"
#include "sandbox/mounts.h"

namespace warder::approval {
namespace {

std::string Tiers(sandbox::Tier minimum) {
  switch (minimum) {
    case sandbox::Tier::kRoot:
      return "The cell is of tier root: namespaces made by a privileged launcher, an unprivileged "
             "user inside.";
    case sandbox::Tier::kUserns:
      return "The cell is of tier userns or stronger: namespaces of its own.";
    case sandbox::Tier::kLandlock:
      return "The cell is of tier landlock or stronger: at the weakest it has no namespaces of its "
             "own.";
  }
  return "The policy names no tier that is known.";
}

std::string Granted(const sandbox::FilesystemPolicy& filesystem, sandbox::PathAccess access) {
  std::vector<std::string> paths;
  for (const sandbox::PathGrant& grant : filesystem.grants) {
    if (grant.access != access) continue;
    paths.push_back(absl::StrCat(Quoted(grant.path), grant.optional ? " (where it exists)" : ""));
  }
  return paths.empty() ? "nothing" : absl::StrJoin(paths, ", ");
}

std::string Workspace(const sandbox::FilesystemPolicy& filesystem, std::string_view workspace) {
  const std::string name = Quoted(workspace);
  switch (filesystem.workspace) {
    case sandbox::WorkspaceMode::kReadOnly:
      return absl::StrCat("The workspace ", name, " can be read and not written.");
    case sandbox::WorkspaceMode::kOverlay:
      return absl::StrCat("The workspace ", name,
                          " can be read; what is written goes to a layer of this call's own.");
    case sandbox::WorkspaceMode::kReadWrite:
      break;
  }
  std::vector<std::string> kept;
  for (const sandbox::ProtectedPath& path : filesystem.protect) kept.push_back(Quoted(path.path));
  if (kept.empty()) return absl::StrCat("The workspace ", name, " can be read and written.");
  return absl::StrCat("The workspace ", name, " can be read and written, except for ",
                      absl::StrJoin(kept, ", "),
                      "; what the tool makes under one of these names that is absent is moved to "
                      "quarantine after the call.");
}

std::string Network(sandbox::NetworkMode mode) {
  switch (mode) {
    case sandbox::NetworkMode::kNone:
      return "Network: no network: only the cell's own loopback.";
    case sandbox::NetworkMode::kHost:
      return "Network: shares the host's network, without any filter of addresses or ports.";
  }
  return "The policy names no network mode that is known.";
}

std::string Limit(std::string_view what, const std::optional<std::uint64_t>& limit,
                  std::string_view unit) {
  return absl::StrCat(std::string(what), " ",
                      limit ? absl::StrCat(*limit, std::string(unit)) : "without limit");
}

std::string LimitSentence(const sandbox::Policy& policy) {
  const sandbox::Limits& limits = policy.limits;
  const std::vector<std::string> parts = {
      Limit("time", limits.wall_ms, " ms"),
      Limit("processor time", limits.cpu_ms, " ms"),
      Limit("memory", limits.memory_bytes, " bytes"),
      Limit("processes", limits.processes, ""),
      Limit("open files", limits.open_files, ""),
      Limit("size of one file", limits.file_bytes, " bytes"),
      Limit("each private directory", limits.disk_bytes, " bytes"),
      Limit("files in each", limits.disk_inodes ? limits.disk_inodes : sandbox::kTmpfsInodes, ""),
      Limit("output in all", limits.output_bytes, " bytes"),
      Limit("kept standard output", limits.stdout_bytes, " bytes"),
      Limit("kept standard error", limits.stderr_bytes, " bytes"),
  };
  return absl::StrCat(
      "Limits of the policy: ", absl::StrJoin(parts, ", "), "; without a cgroup ",
      policy.without_cgroup == sandbox::OnMissing::kDegrade
          ? "memory and processes are limited for each process only, and the outcome says so."
          : "the call is refused.");
}

}  // namespace

std::vector<std::string> DescribeConfinement(const manifest::NamedPolicy& policy,
                                             std::string_view workspace) {
  const sandbox::Policy& cell = policy.confinement;
  std::vector<std::string> sentences = {
      Tiers(cell.minimum_tier),
      absl::StrCat("Can be read: ", Granted(cell.filesystem, sandbox::PathAccess::kRead), "."),
      absl::StrCat("Can be read and written: ",
                   Granted(cell.filesystem, sandbox::PathAccess::kReadWrite), "."),
      Workspace(cell.filesystem, workspace),
      "Private and empty, gone after the call: \"/tmp\", the home directory, \"/dev/shm\".",
      Network(cell.network),
  };
  std::vector<std::string> hidden;
  for (const sandbox::HiddenPath& path : cell.filesystem.hide) hidden.push_back(Quoted(path.path));
  if (!hidden.empty()) {
    sentences.push_back(absl::StrCat("Hidden: ", absl::StrJoin(hidden, ", "), "."));
  }
  if (!cell.capabilities.empty()) {
    std::vector<std::string> kept;
    for (const std::string& name : cell.capabilities) kept.push_back(Visible(name));
    sentences.push_back(absl::StrCat(
        "Keeps capabilities inside its own user namespace: ", absl::StrJoin(kept, ", "), "."));
  }
  sentences.push_back(absl::StrCat("System calls: ", cell.syscalls.allow.size(), " rules allow, ",
                                   cell.syscalls.deny.size(),
                                   " rules deny, what no rule names fails."));
  if (cell.without_landlock == sandbox::OnMissing::kDegrade) {
    sentences.emplace_back(
        "Where the kernel has no Landlock the mounts alone hold this, and the outcome says so.");
  }
  sentences.push_back(LimitSentence(cell));
  return sentences;
}

}  // namespace warder::approval
