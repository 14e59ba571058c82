#include "sandbox/trees.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "sandbox/remedy.h"
#include "sandbox/spawn.h"

namespace warder::sandbox {

absl::Status WriteExisting(const std::string& path, const std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.ok() || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::InternalError(absl::StrFormat("%s: write: %s", path, strerror(errno)));
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> MakeIdMapNamespace(const IdMap& map) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe2");
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  StepList steps;
  steps.Add(StepKind::kReadGo).fd = read_end.get();  // ends with us, whenever that is
  auto holder = CloneChild(steps, CLONE_NEWUSER);
  if (!holder.ok()) return holder.status();
  const std::string proc = absl::StrFormat("/proc/%d/", holder->pid());
  absl::Status status =
      WriteExisting(proc + "uid_map", absl::StrFormat("%u %u 1\n", map.disk_uid, map.cell_uid));
  if (status.ok()) {
    status =
        WriteExisting(proc + "gid_map", absl::StrFormat("%u %u 1\n", map.disk_gid, map.cell_gid));
  }
  if (!status.ok()) return status;
  UniqueFd fd(open((proc + "ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return absl::InternalError(absl::StrFormat("%sns/user: %s", proc, strerror(errno)));
  return fd;
}

absl::StatusOr<UniqueFd> CloneTree(int source, const TreeOptions& options,
                                   const std::string& what) {
  UniqueFd tree(static_cast<int>(syscall(
      SYS_open_tree, source, "",
      AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | static_cast<unsigned>(OPEN_TREE_CLOEXEC))));
  if (!tree.ok()) {
    return absl::FailedPreconditionError(absl::StrFormat("%s: clone the mount (open_tree): %s%s",
                                                         what, strerror(errno),
                                                         StepRemedy("place-mount", errno)));
  }
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_NOSUID;
  if (!options.devices) attributes.attr_set |= MOUNT_ATTR_NODEV;
  if (options.access == PathAccess::kRead) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  UniqueFd id_map;
  if (options.map.has_value()) {
    auto made = MakeIdMapNamespace(*options.map);
    if (!made.ok()) return made.status();
    id_map = std::move(*made);
    attributes.attr_set |= MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<std::uint64_t>(id_map.get());
  }
  if (syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
              sizeof attributes) != 0) {
    const std::string hint =
        options.map.has_value() && errno == EINVAL
            ? "; its file system has no id-mapped mounts: run as an ordinary user, or move it"
            : StepRemedy("mount-attributes", errno);
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: mount attributes (mount_setattr): %s%s", what, strerror(errno), hint));
  }
  return tree;
}

}  // namespace warder::sandbox
