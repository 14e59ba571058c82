#include "sandbox/proof.h"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "sandbox/limits.h"

namespace warder::sandbox {
namespace {

std::string ReadProc(pid_t pid, const char* file) {
  const std::ifstream in(absl::StrFormat("/proc/%d/%s", pid, file));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string ReadLink(const std::string& path) {
  std::array<char, PATH_MAX> target = {};
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  return size < 0 ? "" : std::string(target.data(), static_cast<std::size_t>(size));
}

// The rest of the line of /proc/PID/status (or a file like it) that starts with `key`, trimmed.
std::string Field(const std::string& text, const std::string& key) {
  for (const auto& line : absl::StrSplit(text, '\n')) {
    const std::string row(line);
    if (row.rfind(key, 0) != 0) continue;
    const std::size_t start = row.find_first_not_of(" \t", key.size());
    return start == std::string::npos ? "" : row.substr(start);
  }
  return "";
}

Layer Judge(std::string name, bool holds, std::string proof) {
  Layer layer;
  layer.name = std::move(name);
  layer.state = holds ? LayerState::kEnforced : LayerState::kAbsent;
  layer.proof = std::move(proof);
  return layer;
}

Layer NotRequired(std::string name, std::string why) {
  Layer layer;
  layer.name = std::move(name);
  layer.required = false;
  layer.state = LayerState::kNotRequired;
  layer.proof = std::move(why);
  return layer;
}

Layer NamespaceLayer(pid_t pid, const char* name, const char* file) {
  const std::string inside = ReadLink(absl::StrFormat("/proc/%d/ns/%s", pid, file));
  const std::string outside = ReadLink(absl::StrFormat("/proc/self/ns/%s", file));
  return Judge(absl::StrFormat("%s namespace", name),
               !inside.empty() && !outside.empty() && inside != outside, inside);
}

Layer IdentityLayer(pid_t pid, const std::string& status, const CellRequest& request) {
  const std::string uid = Field(status, "Uid:");
  const std::string map = ReadProc(pid, "uid_map");
  std::istringstream ids(uid);
  unsigned long real = 0, effective = 0, saved = 0, file = 0;
  ids >> real >> effective >> saved >> file;
  const bool same = real == request.uid && effective == real && saved == real && file == real;
  const std::string groups = Field(status, "Groups:");
  std::string proof = absl::StrFormat("host uid %u", real);
  // An ordinary user cannot drop groups; the view holds nothing that they would open.
  if (!groups.empty()) proof += ", groups kept: " + groups;
  return Judge("user id",
               same && real != 0 && !map.empty() && (groups.empty() || !request.host->setgroups),
               proof);
}

Layer CapabilityLayer(const std::string& status, const Policy& policy) {
  std::string proof;
  bool none = true;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    const std::string value = Field(status, std::string(set) + ":");
    none = none && !value.empty() && value.find_first_not_of('0') == std::string::npos;
    proof += (proof.empty() ? "" : " ") + std::string(set) + "=" + value;
  }
  if (!policy.capabilities.empty()) {
    return NotRequired("capabilities", "policy keeps some: " + proof);
  }
  return Judge("capabilities", none, none ? "all five sets empty" : proof);
}

Layer SeccompLayer(const std::string& status) {
  const std::string mode = Field(status, "Seccomp:");
  const std::string filters = Field(status, "Seccomp_filters:");
  return Judge("seccomp", mode == "2" && !filters.empty() && std::stoi(filters) >= 2,
               absl::StrFormat("mode %s, %s filters", mode, filters));
}

Layer LandlockLayer(const Host& host) {
  return Judge("landlock", host.landlock_abi > 0,
               DescribeLandlock(host.landlock_abi) +
                   (host.landlock_abi > 0 ? "; restrict_self succeeded" : ""));
}

// The root must be our tmpfs, read-only, and no mount may pass events to or from the host.
Layer FileViewLayer(pid_t pid) {
  const std::string table = ReadProc(pid, "mountinfo");
  bool root_sealed = false;
  int mounts = 0;
  for (const auto& line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    ++mounts;
    if (words.size() < 9 || words[4] != "/") continue;
    const auto dash = std::find(words.begin(), words.end(), "-");
    root_sealed = words[5].rfind("ro", 0) == 0 && dash != words.end() && dash + 1 != words.end() &&
                  *(dash + 1) == "tmpfs";
  }
  const bool shared =
      table.find(" shared:") != std::string::npos || table.find(" master:") != std::string::npos;
  return Judge("file view", root_sealed && !shared,
               absl::StrFormat("root on read-only tmpfs: %s, %d mounts, propagation: %s",
                               root_sealed ? "yes" : "no", mounts, shared ? "shared" : "none"));
}

std::string SpellLimit(rlim64_t value) {
  return value == RLIM64_INFINITY ? "unlimited" : absl::StrFormat("%u", value);
}

Layer LimitsLayer(pid_t pid, const Limits& limits, bool cgroup) {
  const std::string table = ReadProc(pid, "limits");
  std::string wrong, lowered;
  int proven = 0;
  for (const ResourceLimit& limit : ResourceLimits(limits, cgroup)) {
    std::istringstream row(Field(table, limit.name));
    std::string soft, hard;
    row >> soft >> hard;
    if (soft == SpellLimit(limit.value.rlim_cur) && hard == SpellLimit(limit.value.rlim_max)) {
      ++proven;
    } else {
      wrong += std::string(wrong.empty() ? "" : ", ") + limit.name;
    }
    if (limit.lowered) lowered += absl::StrFormat(", the host's own %s %s", limit.name, hard);
  }
  return Judge(
      "resource limits", wrong.empty() && proven > 0,
      wrong.empty() ? absl::StrFormat("%d read back%s", proven, lowered) : "not as set: " + wrong);
}

Layer ControlGroupLayer(pid_t pid, const CellRequest& request, const CellCgroup* group) {
  const Policy& policy = *request.policy;
  if (!policy.limits.memory_bytes.has_value() && !policy.limits.processes.has_value()) {
    return NotRequired("control group", "policy sets no memory or process limit");
  }
  if (HasCgroupLimits(request)) {
    const auto proof =
        group == nullptr ? absl::InternalError("the cell has none") : group->Prove(pid);
    return Judge("control group", proof.ok(),
                 proof.ok() ? *proof : std::string(proof.status().message()));
  }
  const std::string why = request.cgroups == nullptr ? "not looked for" : request.cgroups->missing;
  Layer layer = Judge("control group", false,
                      "resource limits hold for each process, nothing for the whole cell: " + why);
  if (policy.without_cgroup == OnMissing::kDegrade) layer.state = LayerState::kDegraded;
  return layer;
}

Layer DescriptorLayer(pid_t pid) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(
      opendir(absl::StrFormat("/proc/%d/fd", pid).c_str()), closedir);
  std::vector<int> others;
  int standard = 0;
  if (directory == nullptr) return Judge("descriptors", false, "cannot read /proc/PID/fd");
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::stoi(entry->d_name);
    if (fd <= 2) {
      ++standard;
    } else if (fd != kReportFd && fd != kGoFd && fd != kExecFd && fd != kListenerFd) {
      others.push_back(fd);
    }
  }
  return Judge("descriptors", others.empty() && standard == 3,
               others.empty() ? "standard streams only; the others close on exec"
                              : absl::StrFormat("%d unexpected", others.size()));
}

Layer SessionLayer(pid_t pid) {
  const std::string stat = ReadProc(pid, "stat");
  const std::size_t after = stat.rfind(')');  // the name before it may hold anything
  if (after == std::string::npos) return Judge("session", false, "cannot read /proc/PID/stat");
  std::istringstream fields(stat.substr(after + 1));
  std::string state;
  long parent = 0, group = 0, leader = 0, terminal = 0;
  fields >> state >> parent >> group >> leader >> terminal;
  return Judge("session", leader == pid && terminal == 0 && parent == getpid(),
               "own session, no terminal, child of the launcher");
}

}  // namespace

Attestation ProveTool(pid_t pid, const CellRequest& request, const CellCgroup* group) {
  Attestation attestation;
  attestation.tier = request.host->tier;
  attestation.policy = request.policy->name;
  auto& layers = attestation.layers;
  const std::string status = ReadProc(pid, "status");
  const std::pair<const char*, const char*> namespaces[] = {{"user", "user"}, {"pid", "pid"},
                                                            {"mount", "mnt"}, {"ipc", "ipc"},
                                                            {"uts", "uts"},   {"cgroup", "cgroup"}};
  for (const auto& [name, file] : namespaces) layers.push_back(NamespaceLayer(pid, name, file));
  layers.push_back(request.policy->network == NetworkMode::kNone
                       ? NamespaceLayer(pid, "network", "net")
                       : NotRequired("network namespace", "policy shares the host's network"));
  layers.push_back(IdentityLayer(pid, status, request));
  layers.push_back(FileViewLayer(pid));
  layers.push_back(CapabilityLayer(status, *request.policy));
  layers.push_back(Judge("no_new_privs", Field(status, "NoNewPrivs:") == "1",
                         "NoNewPrivs " + Field(status, "NoNewPrivs:")));
  layers.push_back(SeccompLayer(status));
  layers.push_back(LandlockLayer(*request.host));
  layers.push_back(LimitsLayer(pid, request.policy->limits, HasCgroupLimits(request)));
  layers.push_back(ControlGroupLayer(pid, request, group));
  layers.push_back(DescriptorLayer(pid));
  layers.push_back(SessionLayer(pid));
  return attestation;
}

}  // namespace warder::sandbox
