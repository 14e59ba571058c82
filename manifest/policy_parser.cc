#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "manifest/host_path.h"
#include "manifest/policy_fragment.h"

namespace warder::manifest {
namespace {

constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kDayMs = 24 * 60 * 60 * kSecondMs;
constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;
constexpr std::int64_t kTiB = 1024 * kGiB;
constexpr std::size_t kLongestPath = 4096;  // PATH_MAX

bool IsAtOrBelow(const std::string& path, const std::string& top) {
  return path == top || path.compare(0, top.size() + 1, top + "/") == 0;
}

// Paths that a cell makes itself, for its own processes.
std::string GrantFault(const std::string& path) {
  for (const char* own : {"/proc", "/dev"}) {
    if (IsAtOrBelow(path, own)) return "lies in a place that every cell makes for itself";
  }
  return "";
}

std::vector<std::string> ReadPaths(JsonObjectReader& reader, bool absolute) {
  std::vector<std::string> paths = reader.Strings("paths");
  if (paths.empty()) reader.Fail("paths", "is empty");
  for (const std::string& path : paths) {
    if (const std::string fault = PathFault(path, absolute); !fault.empty()) {
      reader.Fail("paths", absl::StrFormat("%s %s", Quoted(path), fault));
    }
  }
  return paths;
}

void ReadGrants(JsonObjectReader& reader, const char* name, sandbox::PathAccess access,
                std::vector<sandbox::PathGrant>& grants, std::set<std::string>& seen) {
  reader.EachObject(name, [&](JsonObjectReader& entry) {
    const bool optional = entry.OptionalBool("optional").value_or(false);
    const std::string reason = ReadReason(entry);
    for (const std::string& path : ReadPaths(entry, /*absolute=*/true)) {
      if (const std::string fault = GrantFault(path); !fault.empty()) {
        entry.Fail("paths", absl::StrFormat("%s %s", Quoted(path), fault));
      }
      if (!seen.insert(path).second) {
        entry.Fail("paths", absl::StrFormat("%s is granted twice in this file", Quoted(path)));
      }
      grants.push_back({path, access, optional, reason});
    }
  });
}

// Reads {"KEY": choice, "reason"} and returns the choice's index.
std::size_t ReadChoice(JsonObjectReader& reader, const char* key,
                       const std::vector<std::string>& choices) {
  const std::optional<std::size_t> choice = reader.OptionalChoice(key, choices);
  if (!choice.has_value()) reader.Fail(key, "is missing, and required");
  ReadReason(reader);
  return choice.value_or(0);
}

void ReadFilesystem(JsonObjectReader& reader, PolicyFragment& policy) {
  std::set<std::string> seen;
  ReadGrants(reader, "system", sandbox::PathAccess::kRead, policy.grants, seen);
  ReadGrants(reader, "read", sandbox::PathAccess::kRead, policy.grants, seen);
  ReadGrants(reader, "write", sandbox::PathAccess::kReadWrite, policy.grants, seen);
  reader.EachObject("hide", [&](JsonObjectReader& entry) {
    const std::string reason = ReadReason(entry);
    for (const std::string& path : ReadPaths(entry, /*absolute=*/true)) {
      policy.hide.push_back({path, reason});
    }
  });
  reader.Object("workspace", [&](JsonObjectReader& entry) {
    constexpr sandbox::WorkspaceMode kModes[] = {sandbox::WorkspaceMode::kReadOnly,
                                                 sandbox::WorkspaceMode::kReadWrite,
                                                 sandbox::WorkspaceMode::kOverlay};
    policy.workspace = kModes[ReadChoice(entry, "mode", {"read-only", "read-write", "overlay"})];
  });
  reader.EachObject("protect", [&](JsonObjectReader& entry) {
    const std::string reason = ReadReason(entry);
    for (const std::string& path : ReadPaths(entry, /*absolute=*/false)) {
      policy.protect.push_back({path, reason});
    }
  });
}

void ReadLimits(JsonObjectReader& reader, sandbox::Limits& limits) {
  for (const LimitField& field : LimitFields()) {
    reader.Object(field.key, [&](JsonObjectReader& entry) {
      limits.*field.member =
          static_cast<std::uint64_t>(entry.Integer("max", field.least, field.most));
      ReadReason(entry);
    });
  }
}

// Names of variables; a trailing '*' is allowed where `patterns`.
std::vector<std::string> ReadVariableNames(JsonObjectReader& reader) {
  std::vector<std::string> names = reader.Strings("names");
  if (names.empty()) reader.Fail("names", "is empty");
  for (const std::string& name : names) {
    const std::string stem =
        !name.empty() && name.back() == '*' ? name.substr(0, name.size() - 1) : name;
    if (stem.empty() || stem.find_first_of("=*") != std::string::npos) {
      reader.Fail(
          "names",
          "holds a text that is neither a variable's name nor the beginning of one and `*`");
    }
  }
  return names;
}

void ReadNameList(JsonObjectReader& reader, const char* name, std::vector<std::string>& into) {
  reader.EachObject(name, [&](JsonObjectReader& entry) {
    ReadReason(entry);
    for (std::string& variable : ReadVariableNames(entry)) into.push_back(std::move(variable));
  });
}

void ReadEnvironment(JsonObjectReader& reader, PolicyFragment& policy) {
  reader.Object("inherit", [&](JsonObjectReader& entry) {
    policy.inherit_all = ReadChoice(entry, "mode", {"baseline", "all"}) == 1;
  });
  ReadNameList(reader, "baseline", policy.baseline);
  ReadNameList(reader, "loader_names", policy.loader_names);
  reader.EachObject("fixed", [&](JsonObjectReader& entry) {
    const std::string name = entry.String("name");
    if (name.empty() || name.find_first_of("=*") != std::string::npos) {
      entry.Fail("name", "is not a variable's name");
    }
    policy.fixed.emplace_back(name, entry.String("value"));
    ReadReason(entry);
  });
  reader.Object("readable", [&](JsonObjectReader& entry) {
    policy.readable = entry.Has("names") && entry.Value("names")->empty()
                          ? entry.Strings("names")
                          : ReadVariableNames(entry);
    ReadReason(entry);
  });
  reader.Object("trusted_path_only", [&](JsonObjectReader& entry) {
    policy.trusted_path_only = entry.OptionalBool("value");
    if (!policy.trusted_path_only.has_value()) entry.Fail("value", "is missing, and required");
    ReadReason(entry);
  });
}

void ReadApproval(JsonObjectReader& reader, PolicyFragment& policy) {
  const std::vector<std::string> approvers = {"ask", "allow-all", "deny-all", "rules", "program"};
  policy.approver = approvers[ReadChoice(reader, "approver", approvers)];
  policy.approver_program = reader.OptionalStrings("program").value_or(std::vector<std::string>());
  const bool is_program = policy.approver == "program";
  if (is_program == policy.approver_program.empty()) {
    reader.Fail("program", "must be given with approver \"program\", and only then");
  } else if (is_program && !PathFault(policy.approver_program.front(), /*absolute=*/true).empty()) {
    reader.Fail("program", "must begin with an absolute, normalised path");
  }
  policy.ask_timeout_ms = reader.OptionalInteger("ask_timeout_ms", kSecondMs, kDayMs);
  policy.use_by_ms = reader.OptionalInteger("use_by_ms", kSecondMs, kDayMs / 24);
  policy.session_grants = reader.OptionalBool("session_grants");
}

void ReadCapabilities(JsonObjectReader& reader, std::vector<std::string>& capabilities) {
  reader.EachObject("capabilities", [&](JsonObjectReader& entry) {
    const std::string name = entry.String("capability");
    const bool spelled =
        name.size() > 4 && name.compare(0, 4, "CAP_") == 0 &&
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
    if (!spelled) entry.Fail("capability", "must be a name such as CAP_NET_BIND_SERVICE");
    ReadReason(entry);
    capabilities.push_back(name);
  });
}

}  // namespace

const std::vector<LimitField>& LimitFields() {
  using sandbox::Limits;
  static const std::vector<LimitField>* const kFields = new std::vector<LimitField>{
      {"wall_ms", &Limits::wall_ms, 1, 7 * kDayMs},
      {"cpu_ms", &Limits::cpu_ms, 1, 7 * kDayMs},
      {"memory_bytes", &Limits::memory_bytes, kMiB, 64 * kTiB},
      {"processes", &Limits::processes, 1, 1 << 22},  // PID_MAX_LIMIT
      {"open_files", &Limits::open_files, 8,
       1 << 20},  // the three standard ones and a loader's; nr_open's default
      {"file_bytes", &Limits::file_bytes, 0, 64 * kTiB},
      {"disk_bytes", &Limits::disk_bytes, 64 * kKiB, kTiB},
      {"disk_inodes", &Limits::disk_inodes, 16, 1 << 24},
      {"output_bytes", &Limits::output_bytes, 1, kTiB},
      {"stdout_bytes", &Limits::stdout_bytes, 0, kGiB},  // kept in memory
      {"stderr_bytes", &Limits::stderr_bytes, 0, kGiB},
  };
  return *kFields;
}

std::string PathFault(const std::string& path, bool absolute) {
  if (path.empty() || path.size() >= kLongestPath) return "is empty or longer than a path can be";
  for (const char byte : path) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(byte))) return "holds a control character";
  }
  if ((path.front() == '/') != absolute) {
    return absolute ? "must be absolute" : "must be relative to the workspace root";
  }
  for (const auto part : absl::StrSplit(absolute ? path.substr(1) : path, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return "must be written without `.`, `..`, doubled and trailing slashes, and below the root";
    }
  }
  return "";
}

std::string ReadReason(JsonObjectReader& reader) {
  std::string reason = reader.String("reason");
  if (absl::StripAsciiWhitespace(reason).empty()) {
    reader.Fail("reason", "must say why, in words");
  }
  return reason;
}

absl::StatusOr<PolicyFragment> ParsePolicy(std::string_view bytes, const std::string& source,
                                           const SyscallGroups& groups) {
  JsonPositions positions;
  absl::StatusOr<Json> json = ParseStrictJson(bytes, source, {}, &positions);
  if (!json.ok()) return json.status();
  JsonObjectReader reader(*json, positions, source);
  PolicyFragment policy;
  policy.source = source;
  reader.Integer("schema", 1, 1);
  policy.description = reader.String("description");
  if (absl::StripAsciiWhitespace(policy.description).empty()) {
    reader.Fail("description", "is blank");
  }
  policy.abstract = reader.OptionalBool("abstract").value_or(false);
  policy.extends = reader.OptionalString("extends");
  reader.Object("filesystem", [&](JsonObjectReader& entry) { ReadFilesystem(entry, policy); });
  reader.Object("network", [&](JsonObjectReader& entry) {
    constexpr sandbox::NetworkMode kModes[] = {sandbox::NetworkMode::kNone,
                                               sandbox::NetworkMode::kHost};
    policy.network = kModes[ReadChoice(entry, "mode", {"none", "host"})];
  });
  reader.Object("syscalls",
                [&](JsonObjectReader& entry) { ReadSyscalls(entry, groups, policy.syscalls); });
  ReadCapabilities(reader, policy.capabilities);
  reader.Object("limits", [&](JsonObjectReader& entry) { ReadLimits(entry, policy.limits); });
  reader.Object("environment", [&](JsonObjectReader& entry) { ReadEnvironment(entry, policy); });
  reader.Object("minimum_tier", [&](JsonObjectReader& entry) {
    constexpr sandbox::Tier kTiers[] = {sandbox::Tier::kLandlock, sandbox::Tier::kUserns,
                                        sandbox::Tier::kRoot};
    policy.minimum_tier = kTiers[ReadChoice(entry, "tier", {"landlock", "userns", "root"})];
  });
  const auto read_missing = [&](const char* field, std::optional<sandbox::OnMissing>& action) {
    reader.Object(field, [&](JsonObjectReader& entry) {
      constexpr sandbox::OnMissing kActions[] = {sandbox::OnMissing::kRefuse,
                                                 sandbox::OnMissing::kDegrade};
      action = kActions[ReadChoice(entry, "action", {"refuse", "degrade"})];
    });
  };
  read_missing("on_missing_cgroup", policy.without_cgroup);
  read_missing("on_missing_landlock", policy.without_landlock);
  reader.Object("approval", [&](JsonObjectReader& entry) { ReadApproval(entry, policy); });
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return policy;
}

}  // namespace warder::manifest
