#include "sandbox/spawn.h"

#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "sandbox/namespace_remedy.h"
#include "sandbox/remedy.h"

namespace warder::sandbox {
namespace {

absl::Status CloneError(int error, std::uint64_t flags) {
  std::string remedy = NamespaceRemedy(flags);
  if (remedy.empty()) {
    remedy = StepRemedy("clone", error);
  } else {
    remedy.insert(0, ": ");
  }
  const std::string text =
      absl::StrFormat("clone3 (flags 0x%x): %s%s", flags, strerror(error), remedy);
  switch (error) {
    case EAGAIN:
    case ENOMEM:
      return absl::ResourceExhaustedError(text);
    case ENOSPC:
    case EPERM:
    case ENOSYS:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

// The ranges between the descriptors that steps name, the standard and the reserved ones.
std::vector<DescriptorRange> UnusedDescriptors(const StepList& steps) {
  std::set<int> used = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kReportFd, kGoFd};
  for (const Step& step : steps.steps()) {
    if (step.fd >= 0 && step.fd < kSlotBase) used.insert(step.fd);
  }
  std::vector<DescriptorRange> ranges;
  unsigned next = 0;
  for (const int fd : used) {
    const auto number = static_cast<unsigned>(fd);
    if (number > next) ranges.push_back({next, number - 1});
    next = number + 1;
  }
  ranges.push_back({next, ~0U});
  return ranges;
}

}  // namespace

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    const ChildProcess old(std::move(*this));
    pidfd_ = std::move(other.pidfd_);
    pid_ = other.pid_;
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  if (!pidfd_.ok()) return;
  Kill();
  Wait().IgnoreError();  // the only errors are of a process that is not ours to reap
}

void ChildProcess::Kill() const {
  if (pidfd_.ok()) syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

void ChildProcess::EndGroup() {
  if (!pidfd_.ok()) return;
  Kill();
  pollfd ended = {pidfd_.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
  // It makes no more children, and as a zombie it keeps its number, the group's, from others.
  kill(-pid_, SIGKILL);
  pidfd_.Reset();
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) continue;
  while (waitid(P_PGID, static_cast<id_t>(pid_), &info, WEXITED) == 0 || errno == EINTR) continue;
}

absl::StatusOr<ProcessExit> ChildProcess::Wait() {
  siginfo_t info = {};
  ProcessExit result;
  long done = 0;
  do {
    done = syscall(SYS_waitid, P_PIDFD, pidfd_.get(), &info, WEXITED, &result.usage);
  } while (done != 0 && errno == EINTR);
  const int error = errno;
  pidfd_.Reset();
  if (done != 0) return absl::InternalError(absl::StrFormat("waitid: %s", strerror(error)));
  result.signaled = info.si_code != CLD_EXITED;
  result.status = info.si_status;
  return result;
}

absl::StatusOr<ChildProcess> CloneChild(const StepList& steps, std::uint64_t flags,
                                        const char* const* argv, const char* const* envp,
                                        int cgroup) {
  const std::vector<DescriptorRange> unused = UnusedDescriptors(steps);
  ChildPlan plan = steps.Plan();
  plan.unused = unused.data();
  plan.unused_count = unused.size();
  plan.argv = argv;
  plan.envp = envp;
  int pidfd = -1;
  clone_args arguments = {};
  arguments.flags = flags | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) RunChild(plan);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return CloneError(error, flags);
  return ChildProcess(UniqueFd(pidfd), static_cast<pid_t>(pid));
}

}  // namespace warder::sandbox
