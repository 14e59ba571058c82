#include "sandbox/proof.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sandbox/landlock.h"
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

// One id of the cell is one id of ours, and nothing else is mapped. Read by the launcher: the
// second number is what it is out here.
bool MapsOnly(const std::string& map, unsigned long id) {
  std::istringstream words(map);
  unsigned long inside = 0, outside = 0, count = 0, more = 0;
  words >> inside >> outside >> count;
  return inside == id && outside == id && count == 1 && !(words >> more);
}

Layer IdentityLayer(pid_t pid, const std::string& status, const CellRequest& request) {
  const std::string uid = Field(status, "Uid:");
  std::istringstream ids(uid);
  unsigned long real = 0, effective = 0, saved = 0, file = 0;
  ids >> real >> effective >> saved >> file;
  const bool same = real == request.uid && effective == real && saved == real && file == real;
  const bool mapped = MapsOnly(ReadProc(pid, "uid_map"), request.uid) &&
                      MapsOnly(ReadProc(pid, "gid_map"), request.gid);
  const std::string groups = Field(status, "Groups:");
  std::string proof =
      absl::StrFormat("host uid %u, %s", real, mapped ? "no other is mapped" : "mapped otherwise");
  // An ordinary user cannot drop groups; the view holds nothing that they would open.
  if (!groups.empty()) proof += ", groups kept: " + groups;
  return Judge("user id",
               same && real != 0 && mapped && (groups.empty() || !request.host->setgroups), proof);
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

// Both filters of ours, above what the launcher itself was started with: a container's own filter
// must not stand for one that is missing.
Layer SeccompLayer(const std::string& status) {
  const std::string mode = Field(status, "Seccomp:");
  int ours = 0, theirs = 0;
  const bool counted =
      absl::SimpleAtoi(Field(status, "Seccomp_filters:"), &theirs) &&
      absl::SimpleAtoi(Field(ReadProc(getpid(), "status"), "Seccomp_filters:"), &ours);
  return Judge("seccomp", mode == "2" && counted && theirs == ours + 2,
               absl::StrFormat("mode %s, %d filters, %d of them inherited", mode, theirs, ours));
}

// The kernel shows nobody what Landlock restricts: this rests on the steps' results.
Layer LandlockLayer(const CellRequest& request) {
  const int abi = request.host->landlock_abi;
  const LandlockRuleset ruleset = CellRuleset(abi);
  if (abi > 0) {
    return Judge("landlock", true,
                 absl::StrFormat("%s; handled rights 0x%x, scopes 0x%x; restrict_self succeeded",
                                 DescribeLandlock(abi), ruleset.handled_access_fs, ruleset.scoped));
  }
  Layer layer = Judge("landlock", false, DescribeLandlock(abi));
  if (HasLandlock(request)) return layer;
  layer.state = LayerState::kDegraded;
  layer.proof += "; the mounts alone hold the file view";
  return layer;
}

// In the order of mounting, without the numbers that the kernel gives anew each time (proc(5)): ids
// of mounts and of anonymous devices.
struct MountTable {
  int mounts = 0;
  bool root_sealed = false, shared = false, setuid = false;
  std::string digest;  // SHA-256, the first 16 hexadecimal digits
};

MountTable ReadMountTable(pid_t pid) {
  MountTable table;
  std::string text;
  const std::string lines = ReadProc(pid, "mountinfo");
  for (const auto& line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 9 || words.end() - dash < 3) return {};
    ++table.mounts;
    text += absl::StrJoin(words.begin() + 3, words.end(), " ") + "\n";
    // Between the options and the dash: what a mount shares (mount_namespaces(7)).
    table.shared = table.shared || dash - words.begin() > 6;
    table.setuid = table.setuid || words[5].find("nosuid") == std::string::npos;
    if (words[4] == "/") table.root_sealed = words[5].rfind("ro", 0) == 0 && *(dash + 1) == "tmpfs";
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  for (int i = 0; i < 8; ++i) {
    table.digest += absl::StrFormat("%02x", digest[static_cast<std::size_t>(i)]);
  }
  return table;
}

// The root must be our tmpfs, read-only, no mount may pass events to or from the host, and none may
// give a set-user-id program its rights.
Layer FileViewLayer(pid_t pid) {
  const MountTable table = ReadMountTable(pid);
  return Judge(
      "file view", table.root_sealed && !table.shared && !table.setuid,
      absl::StrFormat(
          "root on read-only tmpfs: %s, %d mounts, all nosuid: %s, propagation: %s, table %s",
          table.root_sealed ? "yes" : "no", table.mounts, table.setuid ? "no" : "yes",
          table.shared ? "shared" : "none", table.digest));
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

// The report, the barrier, the program and the filter's listener: needed until exec, closed by it.
bool ClosesOnExec(pid_t pid, int fd) {
  if (fd != kReportFd && fd != kGoFd && fd != kExecFd && fd != kListenerFd) return false;
  const std::string flags =
      Field(ReadProc(pid, absl::StrFormat("fdinfo/%d", fd).c_str()), "flags:");
  return (std::strtoul(flags.c_str(), nullptr, 8) & O_CLOEXEC) != 0;
}

Layer DescriptorLayer(pid_t pid) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(
      opendir(absl::StrFormat("/proc/%d/fd", pid).c_str()), closedir);
  if (directory == nullptr) return Judge("descriptors", false, "cannot read /proc/PID/fd");
  std::set<int> standard, closing, others;
  while (const dirent* entry = readdir(directory.get())) {
    int fd = 0;
    if (!absl::SimpleAtoi(entry->d_name, &fd)) continue;
    (fd <= STDERR_FILENO ? standard : ClosesOnExec(pid, fd) ? closing : others).insert(fd);
  }
  return Judge("descriptors", others.empty() && standard.size() == 3,
               absl::StrFormat("open: %s; closing on exec: %s; unexpected: %s",
                               absl::StrJoin(standard, " "), absl::StrJoin(closing, " "),
                               others.empty() ? "none" : absl::StrJoin(others, " ")));
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
  layers.push_back(LandlockLayer(request));
  layers.push_back(LimitsLayer(pid, request.policy->limits, HasCgroupLimits(request)));
  layers.push_back(ControlGroupLayer(pid, request, group));
  layers.push_back(DescriptorLayer(pid));
  layers.push_back(SessionLayer(pid));
  return attestation;
}

}  // namespace warder::sandbox
