#include "sandbox/host.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "sandbox/landlock.h"
#include "sandbox/namespace_remedy.h"
#include "sandbox/privileges.h"
#include "sandbox/remedy.h"
#include "sandbox/spawn.h"
#include "sandbox/step_list.h"
#include "sandbox/trees.h"

namespace warder::sandbox {
namespace {

absl::Status EnterUserNamespace(uid_t uid, gid_t gid) {
  if (unshare(CLONE_NEWUSER) != 0) {
    const std::string why = strerror(errno);
    return absl::FailedPreconditionError(
        absl::StrFormat("user namespace: unshare: %s: %s", why, NamespaceRemedy(CLONE_NEWUSER)));
  }
  absl::Status status = WriteExisting("/proc/self/setgroups", "deny");
  if (status.ok()) {
    status = WriteExisting("/proc/self/uid_map", absl::StrFormat("%u %u 1\n", uid, uid));
  }
  if (status.ok()) {
    status = WriteExisting("/proc/self/gid_map", absl::StrFormat("%u %u 1\n", gid, gid));
  }
  if (!status.ok()) {
    // AppArmor lets it be made and then refuses everything in it.
    return absl::FailedPreconditionError(absl::StrFormat(
        "user namespace: %s: %s", std::string(status.message()), UserNamespaceRemedy()));
  }
  return absl::OkStatus();
}

// Holds the reserved numbers with the null device, so that nothing else of ours ever gets one.
absl::Status ReserveDescriptors() {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.ok()) {
    return absl::FailedPreconditionError(absl::StrFormat("/dev/null: %s", strerror(errno)));
  }
  for (const int fd : {kReportFd, kGoFd, kExecFd}) {
    if (dup3(null.get(), fd, O_CLOEXEC) < 0) {
      return absl::InternalError(absl::StrFormat("descriptors: cannot reserve number %d: %s: %s",
                                                 fd, strerror(errno), LayerRemedy("descriptors")));
    }
  }
  return absl::OkStatus();
}

// Without a program the kernel looks at the flags first (EINVAL) and then misses the program
// (EFAULT).
bool FilterFlagsKnown(unsigned flags) {
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr) != 0 && errno == EFAULT;
}

// A filter that this process inherited may have a listener, and a second one is refused. Tried in a
// child, with a filter that kills: then the next call is the child's last, and how it ended says
// whether the kernel took the filter.
bool ListenerPossible() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("Seccomp_filters:")) break;
  }
  if (line.ends_with("\t0")) return true;
  static constexpr sock_filter kKill[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  StepList steps;
  steps.Add(StepKind::kNoNewPrivileges);
  Step& close = steps.Add(StepKind::kCloseRange);
  close.value = kListenerFd;
  close.target = kListenerFd;
  Step& filter = steps.Add(StepKind::kSeccomp);
  filter.value = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  filter.target = kListenerFd;
  filter.data = kKill;
  filter.data_size = std::size(kKill);
  auto child = CloneChild(steps, 0);
  if (!child.ok()) return false;
  const auto end = child->Wait();
  return end.ok() && end->signaled;
}

// Since 5.19 a signal does not make the kernel ask twice for one call
// (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).
bool HasFilters() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

unsigned ListenerFlags() {
  if (!ListenerPossible()) return 0;
  constexpr unsigned kBest =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  return FilterFlagsKnown(kBest) ? kBest : SECCOMP_FILTER_FLAG_NEW_LISTENER;
}

// The kernel's own struct sigaction for rt_sigaction; glibc's wrapper hides the signals 32 and 33,
// which its posix_spawn leaves ignored.
struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
constexpr int kLastSignal = 64;

}  // namespace

void ResetSignals() {
  const KernelSigaction standard = {SIG_DFL, 0, nullptr, 0};
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    // SIGKILL and SIGSTOP refuse, and always have their default.
    syscall(SYS_rt_sigaction, signal, &standard, nullptr, sizeof standard.mask);
  }
  // Handlers, not SIG_IGN: exec and CLONE_CLEAR_SIGHAND turn them back to the default.
  for (const int caught : {SIGPIPE, SIGXFSZ}) std::ignore = signal(caught, [](int) {});
}

absl::StatusOr<Host> EnterLauncher() {
  Host host;
  host.uid = geteuid();
  host.gid = getegid();
  host.tier = host.uid == 0 ? Tier::kRoot : Tier::kUserns;
  host.setgroups = host.tier == Tier::kRoot;
  host.landlock_abi = LandlockAbi();
  host.last_capability = LastCapability();
  host.filters = HasFilters();
  host.listener_flags = ListenerFlags();
  absl::Status status = ReserveDescriptors();
  if (!status.ok()) return status;
  if (host.tier == Tier::kUserns) {
    status = EnterUserNamespace(host.uid, host.gid);
    if (!status.ok()) return status;
  }
  if (unshare(CLONE_NEWNS) != 0) {
    const std::string why = strerror(errno);
    return absl::FailedPreconditionError(
        absl::StrFormat("mount namespace: unshare: %s: %s", why, NamespaceRemedy(CLONE_NEWNS)));
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "mount namespace: mount: %s: a container or a security module refuses it: allow mount(2)",
        strerror(errno)));
  }
  setsid();  // a terminal's Ctrl-C is for the supervisor alone; fails harmlessly for a group leader
  umask(022);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return absl::InternalError(absl::StrFormat("death signal: %s", strerror(errno)));
  }
  return host;
}

absl::StatusOr<UidLease> UidLease::Take(const std::string& lock_file, const UidRange& range) {
  UniqueFd fd(open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.ok()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: user id locks: %s", lock_file, strerror(errno)));
  }
  for (std::uint32_t offset = 0; offset < range.count; ++offset) {
    flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = 1;
    if (fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) {
      return UidLease(std::move(fd), range.first + offset);
    }
    if (errno != EAGAIN && errno != EACCES) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s: lock: %s", lock_file, strerror(errno)));
    }
  }
  return absl::ResourceExhaustedError(
      absl::StrFormat("all %u user ids from %u on are in use; widen `uid_range` in config.json",
                      range.count, range.first));
}

}  // namespace warder::sandbox
