#include "sandbox/cgroup_host.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/spawn.h"

namespace warder::sandbox {
namespace {

// Where our own processes go when a delegated group must hold groups of cells: the kernel lets a
// group have processes or children with controllers, not both.
constexpr char kHostLeaf[] = "warder.host";
constexpr char kTopGroup[] = "warder";
constexpr char kRemedy[] =
    "run in a systemd unit with Delegate=yes (systemd-run --user --scope -p Delegate=yes ...), run "
    "as root, or name a delegated v2 group as `cgroup_parent` in config.json";

std::string ReadText(const char* path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::StatusOr<CgroupParent> OpenParent(const std::string& path) {
  CgroupParent parent;
  parent.path = path;
  parent.fd = UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!parent.fd.ok()) {
    return absl::FailedPreconditionError(absl::StrFormat("%s: %s", path, strerror(errno)));
  }
  if (faccessat(parent.fd.get(), ".", W_OK, AT_EACCESS) != 0 ||
      faccessat(parent.fd.get(), "cgroup.procs", W_OK, AT_EACCESS) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat("%s: %s", path, strerror(errno)));
  }
  return parent;
}

bool HasWords(const std::string& text, std::initializer_list<const char*> words) {
  const std::set<std::string> all = absl::StrSplit(text, ' ');
  return std::all_of(words.begin(), words.end(),
                     [&](const char* word) { return all.contains(word); });
}

// That `dir` has both controllers for its groups; else what is missing, and what would bring it.
absl::Status HasControllers(const CgroupParent& dir) {
  const std::string there = ReadGroupFile(dir.fd.get(), "cgroup.controllers").value_or("");
  for (const char* controller : {"memory", "pids"}) {
    if (HasWords(there, {controller})) continue;
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: has no %s controller (it must be in cgroup.subtree_control of the group above, in no "
        "tree of version 1, and not in the kernel's cgroup_disable=)",
        dir.path, controller));
  }
  return absl::OkStatus();
}

// Lets groups below `dir` have memory and process limits.
absl::Status EnableControllers(const CgroupParent& dir) {
  const auto enabled = ReadGroupFile(dir.fd.get(), "cgroup.subtree_control");
  if (enabled.ok() && HasWords(*enabled, {"memory", "pids"})) return absl::OkStatus();
  absl::Status status = HasControllers(dir);
  if (!status.ok()) return status;
  status = WriteGroupFile(dir.fd.get(), "cgroup.subtree_control", "+memory +pids");
  if (status.ok()) return status;
  return absl::FailedPreconditionError(
      absl::StrFormat("%s/%s", dir.path, std::string(status.message())));
}

// Whether a child can really be born in a group below `parent`.
absl::Status TryBirth(const CgroupParent& parent) {
  const std::string name = absl::StrFormat("%s%d-0", kGroupPrefix, getpid());
  auto group = MakeGroup(parent.fd.get(), name);
  if (!group.ok()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s/%s", parent.path, std::string(group.status().message())));
  }
  absl::Status born;
  {
    auto child = CloneChild(StepList(), 0, nullptr, nullptr, group->get());
    born = child.status();
  }
  RemoveGroup(parent.fd.get(), name, group->get());
  if (born.ok()) return born;
  return absl::FailedPreconditionError(absl::StrFormat("%s: start a process below it: %s",
                                                       parent.path, std::string(born.message())));
}

// A v2 directory that gives its groups limits, found by doing.
absl::StatusOr<CgroupParent> TryUnified(const std::string& path) {
  auto parent = OpenParent(path);
  if (!parent.ok()) return parent;
  struct statfs system = {};
  if (fstatfs(parent->fd.get(), &system) != 0 || system.f_type != CGROUP2_SUPER_MAGIC) {
    return absl::FailedPreconditionError(path + ": is no directory of the v2 control group tree");
  }
  absl::Status status = EnableControllers(*parent);
  if (status.ok()) status = TryBirth(*parent);
  if (!status.ok()) return status;
  return parent;
}

// systemd marks what it gives away; without systemd a group that only we are in is ours.
bool Delegated(int dir) {
  char mark = 0;
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    if (fgetxattr(dir, name, &mark, sizeof mark) == 1 && mark == '1') return true;
  }
  return access("/run/systemd/system", F_OK) != 0;
}

// Moves ourselves and the supervisor, if nobody else is there, into a group of their own, so that
// the one that was delegated to us can have groups with limits.
absl::Status VacateOwnGroup(const CgroupParent& own) {
  const auto members = ReadGroupFile(own.fd.get(), "cgroup.procs");
  if (!members.ok() || !Delegated(own.fd.get())) {
    return absl::FailedPreconditionError(own.path + ": is not delegated to us");
  }
  const std::set<std::string> ours = {std::to_string(getpid()), std::to_string(getppid())};
  const std::vector<std::string> pids = absl::StrSplit(*members, '\n', absl::SkipEmpty());
  for (const std::string& pid : pids) {
    if (!ours.contains(pid)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s: process %s is in it, too", own.path, pid));
    }
  }
  if (mkdirat(own.fd.get(), kHostLeaf, 0755) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s/%s: %s", own.path, kHostLeaf, strerror(errno)));
  }
  for (const std::string& pid : pids) {
    absl::Status moved =
        WriteGroupFile(own.fd.get(), absl::StrFormat("%s/cgroup.procs", kHostLeaf), pid);
    if (!moved.ok()) return moved;
  }
  return absl::OkStatus();
}

absl::StatusOr<CgroupParent> TryOwnUnified(const std::string& path) {
  const auto own = OpenParent(path);
  if (!own.ok()) return own.status();
  absl::Status there = HasControllers(*own);
  if (!there.ok()) return there;
  absl::Status vacated = VacateOwnGroup(*own);
  if (!vacated.ok()) return vacated;
  return TryUnified(path);
}

// Where a unit's processes are started in a subgroup (DelegateSubgroup=), or a launcher before us
// vacated the unit's group.
absl::StatusOr<CgroupParent> TryUpperUnified(const std::string& path) {
  const auto upper = OpenParent(path);
  if (!upper.ok()) return upper.status();
  if (!Delegated(upper->fd.get())) {
    return absl::FailedPreconditionError(path + ": is not delegated to us");
  }
  return TryUnified(path);
}

absl::StatusOr<CgroupParent> TryTop(const std::string& top) {
  const auto root = OpenParent(top);
  if (!root.ok()) return root.status();
  absl::Status enabled = EnableControllers(*root);
  if (!enabled.ok()) return enabled;
  if (mkdirat(root->fd.get(), kTopGroup, 0755) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s/%s: %s", top, kTopGroup, strerror(errno)));
  }
  return TryUnified(top + "/" + kTopGroup);
}

// Looks through the v2 tree. What was tried in vain is added to `why`.
std::optional<CgroupParent> FindUnified(const std::vector<CgroupMount>& mounts,
                                        const std::string& own_groups, std::string& why) {
  const auto mount =
      std::find_if(mounts.begin(), mounts.end(), [](const CgroupMount& entry) { return entry.v2; });
  const auto own = OwnGroupDirectory(mounts, own_groups, "");
  if (mount == mounts.end() || !own.has_value()) {
    why = "v2: not mounted";
    return std::nullopt;
  }
  const auto keep = [&](absl::StatusOr<CgroupParent> tried) -> std::optional<CgroupParent> {
    if (tried.ok()) return *std::move(tried);
    why += (why.empty() ? "v2: " : ", ") + std::string(tried.status().message());
    return std::nullopt;
  };
  std::optional<CgroupParent> found;
  if (*own != mount->point) {
    found = keep(TryOwnUnified(*own));
    if (!found.has_value()) found = keep(TryUpperUnified(own->substr(0, own->rfind('/'))));
  }
  if (!found.has_value() && geteuid() == 0) found = keep(TryTop(mount->point));
  if (!found.has_value() && why.empty()) why = "v2: we are in no group that could be delegated";
  return found;
}

std::optional<CgroupParent> FindV1(const std::vector<CgroupMount>& mounts,
                                   const std::string& own_groups, const char* controller,
                                   const char* file, std::string& why) {
  const auto own = OwnGroupDirectory(mounts, own_groups, controller);
  if (!own.has_value()) {
    why += absl::StrFormat("; v1 %s: not mounted", controller);
    return std::nullopt;
  }
  auto parent = OpenParent(*own);
  if (!parent.ok()) {
    why += absl::StrFormat("; v1 %s: %s", controller, std::string(parent.status().message()));
    return std::nullopt;
  }
  if (!HasGroupFile(parent->fd.get(), file)) {
    why += absl::StrFormat("; v1 %s: %s has no %s", controller, *own, file);
    return std::nullopt;
  }
  return *std::move(parent);
}

// v2 groups without controllers still give birth, an end, and the processor time of the tree.
void AddBareUnified(const std::vector<CgroupMount>& mounts, const std::string& own_groups,
                    CgroupHost& host) {
  const auto own = OwnGroupDirectory(mounts, own_groups, "");
  if (!own.has_value()) return;
  auto parent = OpenParent(*own);
  if (parent.ok() && TryBirth(*parent).ok()) host.unified = *std::move(parent);
}

}  // namespace

std::vector<CgroupMount> ParseCgroupMounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 7 || words.end() - dash < 4) continue;
    const std::string& type = *(dash + 1);
    // A path with an escape is nothing that an init system chooses.
    if (words[3].find('\\') != std::string::npos || words[4].find('\\') != std::string::npos) {
      continue;
    }
    if (type == "cgroup2") mounts.push_back({true, "", words[3], words[4]});
    if (type == "cgroup") mounts.push_back({false, *(dash + 3), words[3], words[4]});
  }
  return mounts;
}

std::optional<std::string> OwnGroupDirectory(const std::vector<CgroupMount>& mounts,
                                             std::string_view text, std::string_view controller) {
  const auto lists = [&](const std::string& controllers) {
    const std::set<std::string> all = absl::StrSplit(controllers, ',');
    return all.contains(std::string(controller));
  };
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || !lists(fields[1])) continue;
    for (const CgroupMount& mount : mounts) {
      if (mount.v2 != controller.empty() || (!mount.v2 && !lists(mount.controllers))) continue;
      const std::string root = mount.root == "/" ? "" : mount.root;
      const std::string group = fields[2] == "/" ? "" : fields[2];
      const bool outside = group.find("/..") == 0 || (group + "/").rfind(root + "/", 0) != 0;
      if (!outside) return mount.point + group.substr(root.size());
    }
  }
  return std::nullopt;
}

absl::StatusOr<CgroupHost> FindCgroupHost(const std::optional<std::string>& configured) {
  CgroupHost host;
  const std::vector<CgroupMount> mounts = ParseCgroupMounts(ReadText("/proc/self/mountinfo"));
  const std::string own_groups = ReadText("/proc/self/cgroup");
  if (configured.has_value()) {
    auto parent = TryUnified(*configured);
    if (!parent.ok()) {
      return absl::FailedPreconditionError("config.json: cgroup_parent: " +
                                           std::string(parent.status().message()));
    }
    host.version = CgroupVersion::kV2;
    host.unified = *std::move(parent);
  } else if (auto unified = FindUnified(mounts, own_groups, host.missing); unified.has_value()) {
    host.version = CgroupVersion::kV2;
    host.unified = *std::move(unified);
  } else {
    AddBareUnified(mounts, own_groups, host);
    auto memory = FindV1(mounts, own_groups, "memory", "memory.limit_in_bytes", host.missing);
    auto pids = FindV1(mounts, own_groups, "pids", "cgroup.procs", host.missing);
    if (memory.has_value() && pids.has_value()) {
      host.version = CgroupVersion::kV1;
      host.memory = *std::move(memory);
      host.pids = *std::move(pids);
    }
  }
  if (host.limits()) {
    host.missing.clear();
  } else {
    host.missing += absl::StrFormat("; %s", kRemedy);
  }
  for (const CgroupParent* parent : {&host.unified, &host.memory, &host.pids}) {
    if (parent->fd.ok()) SweepGroups(parent->fd.get());
  }
  return host;
}

}  // namespace warder::sandbox
