#include "sandbox/child_main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Danger: this file runs in a copy of the launcher's memory, before exec. No allocation, no locks,
// no glibc wrapper that keeps state (setresuid broadcasts to threads, sigaction(2)'s wrapper hides
// signals). Everything goes through syscall(2).

namespace warder::sandbox {
namespace {

struct State {
  const ChildPlan* plan;
  int slots[kSlots];
};

int Resolve(const State& state, int fd) {
  return fd >= kSlotBase ? state.slots[fd - kSlotBase] : fd;
}

long Keep(State& state, int target, long fd) {
  if (fd < 0) return -1;
  state.slots[target - kSlotBase] = static_cast<int>(fd);
  return 0;
}

long WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const long written = syscall(SYS_write, fd, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    data += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

long ReadGo(int fd) {
  char byte = 0;
  long got = 0;
  do {
    got = syscall(SYS_read, fd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1) return 0;
  if (got == 0) errno = EPIPE;  // the launcher is gone: nothing may run
  return -1;
}

long WriteNewFile(const Step& step) {
  const long fd = syscall(SYS_openat, AT_FDCWD, step.path,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, step.value);
  if (fd < 0) return -1;
  if (WriteAll(static_cast<int>(fd), static_cast<const char*>(step.data), step.data_size) != 0) {
    return -1;
  }
  return syscall(SYS_close, fd);
}

// The copy is opened again for reading: a file that anyone has open for writing cannot be executed
// (ETXTBSY).
long CopyFile(State& state, const Step& step, int source) {
  const long fd = syscall(SYS_openat, AT_FDCWD, step.path,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, step.value);
  if (fd < 0) return -1;
  long offset = 0;
  long moved = 0;
  do {
    moved = syscall(SYS_sendfile, fd, source, &offset, size_t{1} << 30);
    if (moved < 0 && errno == EINTR) moved = 1;
  } while (moved > 0);
  if (moved < 0) return -1;
  // fchmod, because the umask took bits away.
  if (syscall(SYS_fchmod, fd, step.value) != 0) return -1;
  if (syscall(SYS_close, fd) != 0) return -1;
  return Keep(state, step.target,
              syscall(SYS_openat, AT_FDCWD, step.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0));
}

long BindFile(int source, const char* path) {
  const long tree = syscall(SYS_open_tree, source, "",
                            AT_EMPTY_PATH | OPEN_TREE_CLONE | static_cast<long>(OPEN_TREE_CLOEXEC));
  if (tree < 0) return -1;
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return -1;
  }
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) != 0) return -1;
  return syscall(SYS_close, tree);
}

// Opens the step's path and says what is there now.
long OpenPath(const Step& step, struct stat& now) {
  const long fd = syscall(SYS_openat, AT_FDCWD, step.path, step.value | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return -1;
  return syscall(SYS_newfstatat, fd, "", &now, AT_EMPTY_PATH) == 0 ? fd : -1;
}

// ESTALE: what is at the path is not what was shown.
long KeepIf(bool same, State& state, const Step& step, long fd) {
  if (same) return Keep(state, step.target, fd);
  errno = ESTALE;
  return -1;
}

long OpenExpected(State& state, const Step& step) {
  struct stat now = {};
  const long fd = OpenPath(step, now);
  if (fd < 0) return -1;
  const auto& want = *static_cast<const FileIdentity*>(step.data);
  bool same =
      want.compare == Compare::kNothing || (now.st_dev == want.device && now.st_ino == want.inode);
  if (want.compare == Compare::kContent) {
    same = same && static_cast<std::uint64_t>(now.st_size) == want.size &&
           now.st_mtim.tv_sec * 1'000'000'000L + now.st_mtim.tv_nsec == want.mtime_ns &&
           now.st_ctim.tv_sec * 1'000'000'000L + now.st_ctim.tv_nsec == want.ctime_ns;
  }
  return KeepIf(same, state, step, fd);
}

long OpenSame(State& state, const Step& step, int other) {
  struct stat now = {};
  struct stat want = {};
  const long fd = OpenPath(step, now);
  if (fd < 0 || syscall(SYS_newfstatat, other, "", &want, AT_EMPTY_PATH) != 0) return -1;
  return KeepIf(now.st_dev == want.st_dev && now.st_ino == want.st_ino, state, step, fd);
}

long LoopbackUp() {
  const long fd = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (syscall(SYS_ioctl, fd, SIOCSIFFLAGS, &request) != 0) return -1;
  return syscall(SYS_close, fd);
}

long SetPriority() {
  // ioprio_set(2). Some versions of <linux/ioprio.h> are no C++.
  constexpr int kIoprioWhoProcess = 1;
  // Lowering one's own niceness needs a privilege in the host; a launcher that was niced keeps its
  // niceness.
  sched_param parameter = {};
  if (syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &parameter) != 0) return -1;
  return syscall(SYS_ioprio_set, kIoprioWhoProcess, 0, 0);
}

long DropBounding(std::uint64_t last, std::uint64_t kept) {
  for (std::uint64_t capability = 0; capability <= last; ++capability) {
    if ((kept >> capability & 1) != 0) continue;
    // EINVAL: this kernel knows fewer.
    if (syscall(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) return -1;
  }
  return 0;
}

long SetCapabilities(std::uint64_t mask) {
  if (syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  for (int half = 0; half < 2; ++half) {
    const auto bits = static_cast<std::uint32_t>(mask >> (32 * half));
    data[half].permitted = bits;
    data[half].effective = bits;
    data[half].inheritable = bits;
  }
  if (syscall(SYS_capset, &header, data) != 0) return -1;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if ((mask >> capability & 1) == 0) continue;
    if (syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return -1;
  }
  return 0;
}

long LandlockRule(const Step& step, int ruleset) {
  const long fd = syscall(SYS_openat, AT_FDCWD, step.path, O_PATH | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return -1;
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = step.value;
  rule.parent_fd = static_cast<int>(fd);
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) return -1;
  return syscall(SYS_close, fd);
}

long InstallFilter(const Step& step) {
  sock_fprog program = {};
  program.len = static_cast<unsigned short>(step.data_size);
  program.filter = static_cast<sock_filter*>(const_cast<void*>(step.data));
  errno = EBADF;  // for a listener on another number than the one that the launcher takes
  const long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, step.value, &program);
  return listener <= 0 || listener == step.target ? -(listener < 0) : -1;
}

long CloseUnused(const ChildPlan& plan) {
  for (size_t i = 0; i < plan.unused_count; ++i) {
    if (syscall(SYS_close_range, plan.unused[i].first, plan.unused[i].last, 0) != 0) return -1;
  }
  return 0;
}

long IgnoreChildren() {
  // The kernel's struct sigaction, not glibc's: handler, flags, restorer, mask.
  const unsigned long action[4] = {reinterpret_cast<unsigned long>(SIG_IGN), 0, 0, 0};
  return syscall(SYS_rt_sigaction, SIGCHLD, action, nullptr, sizeof action[3]);
}

long UnblockSignals() {
  const unsigned long none = 0;
  return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

long Report(const State& state, std::uint32_t step, std::int32_t error) {
  const ChildReport report = {step, error};
  return WriteAll(state.plan->report_fd, reinterpret_cast<const char*>(&report), sizeof report);
}

// The child has our parent for its own: it goes on, and we are done.
long CloneSibling(const State& state) {
  clone_args arguments = {};
  arguments.flags = CLONE_PARENT;
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid <= 0) return pid;
  Report(state, static_cast<std::uint32_t>(pid), kReportCloned);
  _exit(0);
}

long RunFileStep(State& state, const Step& step, int fd) {
  switch (step.kind) {
    case StepKind::kMakeDirectory:
      return syscall(SYS_mkdirat, AT_FDCWD, step.path, step.value) == 0 || errno == EEXIST ? 0 : -1;
    case StepKind::kSymlink:
      return syscall(SYS_symlinkat, step.text, AT_FDCWD, step.path);
    case StepKind::kWriteFile:
      return WriteNewFile(step);
    case StepKind::kCopyFile:
      return CopyFile(state, step, fd);
    case StepKind::kBindFile:
      return BindFile(fd, step.path);
    case StepKind::kChangeDirectory:
      return syscall(SYS_chdir, step.path);
    case StepKind::kOpenExpected:
      return OpenExpected(state, step);
    case StepKind::kOpenSame:
      return OpenSame(state, step, fd);
    case StepKind::kEnterDirectory:
      return syscall(SYS_fchdir, fd);
    case StepKind::kDuplicate:
      return syscall(SYS_dup3, fd, step.target, step.value) < 0 ? -1 : 0;
    case StepKind::kCloseRange:
      return syscall(SYS_close_range, step.value, static_cast<unsigned>(step.target), 0);
    default:
      errno = ENOSYS;
      return -1;
  }
}

long RunMountStep(const Step& step, int fd) {
  switch (step.kind) {
    case StepKind::kMakePrivate:
      return syscall(SYS_mount, "none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    case StepKind::kMount: {
      const auto& arguments = *static_cast<const MountArguments*>(step.data);
      return syscall(SYS_mount, step.text, step.path, arguments.type, step.value,
                     arguments.options);
    }
    case StepKind::kUnmount:
      return syscall(SYS_umount2, step.path, step.value);
    case StepKind::kMoveMount:
      return syscall(SYS_move_mount, fd, "", AT_FDCWD, step.path, MOVE_MOUNT_F_EMPTY_PATH);
    case StepKind::kMountAttributes: {
      mount_attr attributes = {};
      attributes.attr_set = step.value;
      return syscall(SYS_mount_setattr, AT_FDCWD, step.path, 0, &attributes, sizeof attributes);
    }
    case StepKind::kPivotRoot:
      return syscall(SYS_pivot_root, ".", ".");
    default:
      errno = ENOSYS;
      return -1;
  }
}

long RunIdentityStep(const Step& step, int fd) {
  switch (step.kind) {
    case StepKind::kJoinNamespace:
      return syscall(SYS_setns, fd, step.value);
    case StepKind::kNewNamespace:
      return syscall(SYS_unshare, step.value);
    case StepKind::kSetGroup:
      return syscall(SYS_setresgid, step.value, step.value, step.value);
    case StepKind::kClearGroups:
      return syscall(SYS_setgroups, 0, nullptr);
    case StepKind::kSetUser:
      return syscall(SYS_setresuid, step.value, step.value, step.value);
    case StepKind::kNewSession:
      return syscall(SYS_setsid) < 0 ? -1 : 0;
    case StepKind::kSetHostName:
      return syscall(SYS_sethostname, step.text, step.value);
    case StepKind::kSetUmask:
      return syscall(SYS_umask, step.value) < 0 ? -1 : 0;
    case StepKind::kSetLimit:
      return syscall(SYS_prlimit64, 0, step.value, step.data, nullptr);
    case StepKind::kDropBounding:
      return DropBounding(step.value, step.data_size);
    case StepKind::kSetCapabilities:
      return SetCapabilities(step.value);
    case StepKind::kNoNewPrivileges:
      return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    case StepKind::kDeathSignal:
      return syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    case StepKind::kNotDumpable:
      return syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    default:
      errno = ENOSYS;
      return -1;
  }
}

long RunStep(State& state, const Step& step, std::uint32_t index) {
  const int fd = Resolve(state, step.fd);
  if (step.kind >= StepKind::kMakePrivate && step.kind <= StepKind::kPivotRoot) {
    return RunMountStep(step, fd);
  }
  switch (step.kind) {
    case StepKind::kCloseUnused:
      return CloseUnused(*state.plan);
    case StepKind::kReadGo:
      return ReadGo(fd);
    case StepKind::kCloneSibling:
      return CloneSibling(state);
    case StepKind::kLoopbackUp:
      return LoopbackUp();
    case StepKind::kSetPriority:
      return SetPriority();
    case StepKind::kLandlockCreate:
      return Keep(state, step.target,
                  syscall(SYS_landlock_create_ruleset, step.data, step.data_size, 0));
    case StepKind::kLandlockRule:
      return LandlockRule(step, fd);
    case StepKind::kLandlockRestrict:
      return syscall(SYS_landlock_restrict_self, fd, 0);
    case StepKind::kSeccomp:
      return InstallFilter(step);
    case StepKind::kIgnoreChildren:
      return IgnoreChildren();
    case StepKind::kUnblockSignals:
      return UnblockSignals();
    case StepKind::kReport:
      return Report(state, index, kReportReady);
    case StepKind::kIdle:
      for (;;) syscall(SYS_pause);
    case StepKind::kExec:
      return syscall(SYS_execveat, fd, "", state.plan->argv, state.plan->envp, AT_EMPTY_PATH);
    default:
      break;
  }
  const bool of_files = step.kind >= StepKind::kMakeDirectory && step.kind <= StepKind::kCloseRange;
  return of_files ? RunFileStep(state, step, fd) : RunIdentityStep(step, fd);
}

}  // namespace

void RunChild(const ChildPlan& plan) noexcept {
  State state = {&plan, {-1, -1, -1, -1}};
  for (std::uint32_t index = 0; index < plan.count; ++index) {
    if (RunStep(state, plan.steps[index], index) != 0) {
      Report(state, index, errno);
      _exit(127);
    }
  }
  _exit(127);
}

}  // namespace warder::sandbox
