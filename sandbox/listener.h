// Listener: answers the calls that a cell's filter denies, and keeps a record of them.
//
// The kernel holds each such call until it is answered. The answer is always the rule's errno,
// never "go on": what the record says is read from memory that the caller may change meanwhile, and
// nothing is decided by it.
#ifndef WARDER_SANDBOX_LISTENER_H_
#define WARDER_SANDBOX_LISTENER_H_

#include <cstdint>

#include "sandbox/denial.h"
#include "sandbox/syscall_filter.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// Calls answered before others get their turn. An answer takes some 20 microseconds.
inline constexpr int kAnswersPerTurn = 16;
// Calls answered for one cell. After that the listener is closed and the kernel itself refuses,
// with ENOSYS: a few seconds of the launcher's time are enough for a program that does nothing
// else.
inline constexpr std::uint64_t kMaxAnswers = 1u << 18;

class Listener {
 public:
  // `fd` is from seccomp(2), SECCOMP_FILTER_FLAG_NEW_LISTENER; not open when there is none.
  // `filter` outlives this object.
  Listener(UniqueFd fd, const SyscallFilter& filter, std::uint64_t max_answers = kMaxAnswers);

  // To be polled for POLLIN; -1 when there is nothing to wait for any more.
  int fd() const { return fd_.get(); }
  // Answers what waits, at most kAnswersPerTurn calls. Never blocks.
  // Source: seccomp_unotify(2); 5.0.
  void Serve();
  // Adds that the tool itself was killed by the filter. The kernel tells that by SIGSYS alone.
  void AddKill();

  const DenialReport& report() const { return report_; }

 private:
  bool AnswerOne();
  std::int64_t NowMs() const;

  UniqueFd fd_;
  const SyscallFilter* filter_;
  std::uint64_t max_answers_;
  std::int64_t started_ms_;
  std::uint64_t answered_ = 0;
  DenialReport report_;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_LISTENER_H_
