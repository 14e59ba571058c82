#include "sandbox/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "sandbox/mount_entries.h"
#include "sandbox/workspace_tree.h"

namespace warder::sandbox {
namespace {

// Sizes for the tmpfs mounts that hold only Warder's own few files.
constexpr std::uint64_t kFixedTmpfsBytes = 1u << 20;

class MountStepper {
 public:
  MountStepper(const MountRequest& request, StepList& steps, std::vector<PathRule>& rules)
      : request_(request), steps_(steps), rules_(rules) {}

  void BeginRoot();
  void AddDevices(std::vector<UniqueFd> nodes);
  void AddEtc(const std::vector<MountEntry>& entries);
  void AddEntry(MountEntry& entry, const std::vector<MountEntry>& all);
  void EnterRoot();

 private:
  // Steps run with the new root as working directory: paths lose their leading slash.
  const char* Inside(const std::string& path) {
    return steps_.Keep(path == "/" ? "." : path.substr(1));
  }
  void MakeDirectories(const std::string& path);
  void MakeParents(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash > 0) MakeDirectories(path.substr(0, slash));
  }
  void Mount(const std::string& target, const char* type, unsigned long flags,
             const std::string& options);
  void Tmpfs(const std::string& target, std::uint64_t bytes, const char* mode,
             unsigned long flags = 0);
  void Link(const std::string& target, const std::string& text);
  void WriteFile(const std::string& path, std::string bytes);
  void Overlay(MountEntry& entry);
  void Mask(const MountEntry& entry, const std::vector<MountEntry>& all);
  void Place(UniqueFd tree, const std::string& target);
  void Allow(const std::string& path, LandlockAccess access, bool directory = true) {
    rules_.push_back({path, access, directory});
  }

  const MountRequest& request_;
  StepList& steps_;
  std::vector<PathRule>& rules_;
  std::set<std::string> made_;
  std::vector<std::string> unsealed_ = {"/", "/dev"};
};

void MountStepper::MakeDirectories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (made_.insert(part).second) {
      Step& step = steps_.Add(StepKind::kMakeDirectory, part);
      step.path = Inside(part);
      step.value = 0755;
    }
    if (end == std::string::npos) return;
  }
}

void MountStepper::Mount(const std::string& target, const char* type, unsigned long flags,
                         const std::string& options) {
  const MountArguments arguments = {steps_.Keep(type), steps_.Keep(options)};
  const MountArguments* kept = steps_.KeepValue(arguments);
  Step& step = steps_.Add(StepKind::kMount, absl::StrFormat("%s on %s", type, target));
  step.text = arguments.type;
  step.path = Inside(target);
  step.value = flags;
  step.data = kept;
}

void MountStepper::Tmpfs(const std::string& target, std::uint64_t bytes, const char* mode,
                         unsigned long flags) {
  Mount(target, "tmpfs", MS_NOSUID | MS_NODEV | flags,
        absl::StrFormat("size=%u,nr_inodes=%u,mode=%s", bytes,
                        request_.policy->limits.disk_inodes.value_or(kTmpfsInodes), mode));
}

void MountStepper::Link(const std::string& target, const std::string& text) {
  MakeParents(target);
  Step& step = steps_.Add(StepKind::kSymlink, target);
  step.path = Inside(target);
  step.text = steps_.Keep(text);
}

void MountStepper::WriteFile(const std::string& path, std::string bytes) {
  MakeParents(path);
  Step& step = steps_.Add(StepKind::kWriteFile, path);
  step.path = Inside(path);
  step.value = 0644;
  step.data_size = bytes.size();
  step.data = steps_.Keep(std::move(bytes));
}

void MountStepper::Place(UniqueFd tree, const std::string& target) {
  Step& step = steps_.Add(StepKind::kMoveMount, target);
  step.fd = steps_.Keep(std::move(tree));
  step.path = Inside(target);
}

// The new root is mounted over /proc: the one directory that is certain to exist, and the host's
// /proc stays in the namespace below it, which the kernel wants to see before it lets a user
// namespace mount a fresh one.
void MountStepper::BeginRoot() {
  steps_.Add(StepKind::kMakePrivate, "/");
  const MountArguments* arguments = steps_.KeepValue(
      MountArguments{"tmpfs", steps_.Keep(absl::StrFormat("size=%u,nr_inodes=%u,mode=0755",
                                                          kFixedTmpfsBytes, kTmpfsInodes))});
  Step& mount = steps_.Add(StepKind::kMount, "tmpfs as the new root");
  mount.text = "tmpfs";
  mount.path = "/proc";
  mount.value = MS_NOSUID | MS_NODEV;
  mount.data = arguments;
  Step& enter = steps_.Add(StepKind::kChangeDirectory, "the new root");
  enter.path = "/proc";
  Allow("/", LandlockAccess::kList);
  for (const char* path :
       {"/proc", "/dev", "/tmp", "/home", "/run", kPinDirectory, "/etc", "/var"}) {
    MakeDirectories(path);
  }
  Link("/var/tmp", "../tmp");
  Mount("/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "");
  Allow("/proc", LandlockAccess::kDevices);
  Allow("/run", LandlockAccess::kRead);
}

constexpr const char* kDeviceNodes[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                        "/dev/random", "/dev/urandom", "/dev/tty"};

void MountStepper::AddDevices(std::vector<UniqueFd> nodes) {
  Tmpfs("/dev", kFixedTmpfsBytes, "0755", MS_NOEXEC);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    WriteFile(kDeviceNodes[i], "");
    Place(std::move(nodes[i]), kDeviceNodes[i]);
  }
  MakeDirectories("/dev/pts");
  MakeDirectories("/dev/shm");
  MakeDirectories(kQueueDirectory);  // mounted by the tool, whose queues they are
  Mount("/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
  Link("/dev/ptmx", "pts/ptmx");
  Link("/dev/fd", "/proc/self/fd");
  Link("/dev/stdin", "/proc/self/fd/0");
  Link("/dev/stdout", "/proc/self/fd/1");
  Link("/dev/stderr", "/proc/self/fd/2");
  Allow("/dev", LandlockAccess::kDevices);
  Allow(kQueueDirectory, LandlockAccess::kReadWrite);
}

void MountStepper::AddEtc(const std::vector<MountEntry>& entries) {
  const auto granted = [&](std::string_view path) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const MountEntry& entry) { return IsBelow(path, entry.target); });
  };
  const std::string ids = absl::StrFormat("%u:%u", request_.uid, request_.gid);
  const std::pair<const char*, std::string> files[] = {
      {"/etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\ntool:x:" + ids +
                          ":tool:" + kCellHome +
                          ":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
      {"/etc/group", absl::StrFormat("root:x:0:\ntool:x:%u:\nnogroup:x:65534:\n", request_.gid)},
      {"/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\tcell\n"},
      {"/etc/nsswitch.conf",
       "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
  };
  for (const auto& [path, bytes] : files) {
    if (!granted(path)) WriteFile(path, bytes);
  }
  Allow("/etc", LandlockAccess::kRead);
}

// The writable layer's tmpfs is unmounted from its place at once; the overlay keeps it, and it goes
// with the cell.
void MountStepper::Overlay(MountEntry& entry) {
  const std::string lower = "/run/overlay/lower";
  const std::string layer = "/run/overlay/layer";
  MakeDirectories(lower);
  MakeDirectories(layer);
  Place(std::move(entry.tree), lower);
  Tmpfs(layer, request_.policy->limits.disk_bytes.value_or(kFixedTmpfsBytes), "0700");
  MakeDirectories(layer + "/upper");
  MakeDirectories(layer + "/work");
  Mount(entry.target, "overlay", MS_NOSUID | MS_NODEV,
        "lowerdir=run/overlay/lower,upperdir=run/overlay/layer/upper,workdir=run/overlay/layer/"
        "work,userxattr");
  for (const std::string& path : {lower, layer}) {
    Step& step = steps_.Add(StepKind::kUnmount, path);
    step.path = Inside(path);
    step.value = MNT_DETACH;
  }
}

// The entry that `entry` lies in: the one with the longest path above it, if any.
const MountEntry* Around(const MountEntry& entry, const std::vector<MountEntry>& all) {
  const MountEntry* around = nullptr;
  for (const MountEntry& other : all) {
    if (&other == &entry || other.kind == EntryKind::kLink) continue;
    if (!IsBelow(entry.target, other.target)) continue;
    if (around == nullptr || other.target.size() >= around->target.size()) around = &other;
  }
  return around;
}

void MountStepper::AddEntry(MountEntry& entry, const std::vector<MountEntry>& all) {
  // Inside a tree the mount point is part of the tree; creating it would write to the host.
  const MountEntry* around = Around(entry, all);
  const bool inside_tree = around != nullptr && (around->kind == EntryKind::kTree ||
                                                 around->kind == EntryKind::kOverlay);
  if (entry.kind == EntryKind::kLink) {
    if (!inside_tree) Link(entry.target, entry.link);
    return;
  }
  if (!inside_tree && entry.kind != EntryKind::kMask) {
    if (entry.directory) {
      MakeDirectories(entry.target);
    } else {
      WriteFile(entry.target, "");
    }
  }
  const std::uint64_t disk = request_.policy->limits.disk_bytes.value_or(kFixedTmpfsBytes);
  switch (entry.kind) {
    case EntryKind::kTmpfs:
      Tmpfs(entry.target, disk, entry.target == kCellHome ? "0700" : "1777");
      break;
    case EntryKind::kOverlay:
      Overlay(entry);
      break;
    case EntryKind::kTree:
      Place(std::move(entry.tree), entry.target);
      break;
    case EntryKind::kMask:
      Mask(entry, all);
      break;
    case EntryKind::kLink:
      break;
  }
  if (!entry.narrows) Allow(entry.target, entry.access, entry.directory);
}

// An empty directory that nobody may search; with grants below it, one that shows only these and is
// sealed when they are in place.
void MountStepper::Mask(const MountEntry& entry, const std::vector<MountEntry>& all) {
  const bool empty = std::none_of(all.begin(), all.end(), [&](const MountEntry& other) {
    return Around(other, all) == &entry;
  });
  Tmpfs(entry.target, kFixedTmpfsBytes, empty ? "0000" : "0555", empty ? MS_RDONLY : 0);
  if (!empty) unsealed_.push_back(entry.target);
}

void MountStepper::EnterRoot() {
  steps_.Add(StepKind::kPivotRoot, "/");
  Step& old = steps_.Add(StepKind::kUnmount, "the host's root");
  old.path = ".";
  old.value = MNT_DETACH;
  Step& enter = steps_.Add(StepKind::kChangeDirectory, "/");
  enter.path = "/";
  for (const std::string& sealed : unsealed_) {
    Step& seal = steps_.Add(StepKind::kMountAttributes, sealed);
    seal.path = steps_.Keep(sealed);
    seal.value = MOUNT_ATTR_RDONLY;
  }
}

absl::StatusOr<std::vector<UniqueFd>> OpenDevices() {
  std::vector<UniqueFd> nodes;
  for (const char* path : kDeviceNodes) {
    auto fd = OpenPath(AT_FDCWD, path);
    if (!fd.ok()) return fd.status();
    auto tree = CloneTree(fd->get(), {.access = PathAccess::kReadWrite, .devices = true}, path);
    if (!tree.ok()) return tree.status();
    nodes.push_back(std::move(*tree));
  }
  return nodes;
}

}  // namespace

absl::Status AddMountSteps(const MountRequest& request, StepList& steps,
                           std::vector<PathRule>& rules, std::vector<std::string>& absent) {
  auto view = CollectView(request);
  if (!view.ok()) return view.status();
  auto devices = OpenDevices();
  if (!devices.ok()) return devices.status();
  MountStepper stepper(request, steps, rules);
  stepper.BeginRoot();
  stepper.AddDevices(std::move(*devices));
  stepper.AddEtc(view->entries);
  for (MountEntry& entry : view->entries) stepper.AddEntry(entry, view->entries);
  stepper.EnterRoot();
  absent = std::move(view->absent);
  return absl::OkStatus();
}

}  // namespace warder::sandbox
