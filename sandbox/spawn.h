// Spawn: a process made from a StepList, and the descriptor that owns it.
#ifndef WARDER_SANDBOX_SPAWN_H_
#define WARDER_SANDBOX_SPAWN_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "sandbox/step_list.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

struct ProcessExit {
  bool signaled = false;
  int status = 0;  // exit code or signal
  rusage usage = {};
};

// A child of ours, owned by its pidfd. Destroying it kills it and waits until it is gone.
class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(UniqueFd pidfd, pid_t pid) : pidfd_(std::move(pidfd)), pid_(pid) {}
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  // Readable when the process has ended.
  int pidfd() const { return pidfd_.get(); }
  // Names the process in /proc. It cannot be reused before Wait: a zombie keeps it.
  pid_t pid() const { return pid_; }
  bool running() const { return pidfd_.ok(); }

  // SIGKILL. Nothing happens when it has ended.
  void Kill() const;
  // Kills it and whoever else is in the process group that it leads, all of them children of ours,
  // and reaps them. Nothing is owned afterwards.
  void EndGroup();
  // Blocks until it has ended and reaps it. Call once. Errors: kInternal.
  absl::StatusOr<ProcessExit> Wait();

 private:
  UniqueFd pidfd_;
  pid_t pid_ = 0;
};

// clone3 with `flags` and CLONE_CLEAR_SIGHAND, all signals blocked in the child, which runs
// `steps`. `argv` and `envp` end with nullptr and are used by kExec. `cgroup`, when not -1, is the
// v2 control group that it is born in. Call from a single-threaded process. Errors:
// kResourceExhausted (EAGAIN, ENOMEM), kFailedPrecondition (ENOSPC, EPERM: namespaces are refused;
// the text says which, and what mends it), kInternal.
absl::StatusOr<ChildProcess> CloneChild(const StepList& steps, std::uint64_t flags,
                                        const char* const* argv = nullptr,
                                        const char* const* envp = nullptr, int cgroup = -1);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_SPAWN_H_
