#include "sandbox/listener.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "sandbox/call_object.h"

namespace warder::sandbox {
namespace {

std::int64_t MonotonicMs() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Listener::Listener(UniqueFd fd, const SyscallFilter& filter, std::uint64_t max_answers)
    : fd_(std::move(fd)), filter_(&filter), max_answers_(max_answers), started_ms_(MonotonicMs()) {
  report_.watched = fd_.ok();
}

std::int64_t Listener::NowMs() const { return MonotonicMs() - started_ms_; }

void Listener::Serve() {
  for (int answers = 0; answers < kAnswersPerTurn && fd_.ok(); ++answers) {
    pollfd ready = {fd_.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) != 1) return;
    // POLLHUP: nobody is left who has this filter.
    if ((ready.revents & POLLIN) == 0 || !AnswerOne()) fd_.Reset();
  }
}

// False when the listener is of no more use.
bool Listener::AnswerOne() {
  seccomp_notif call = {};
  // A caller that was killed since poll has taken its call with it (ENOENT).
  if (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
    return errno == ENOENT || errno == EINTR;
  }
  const SyscallRule* rule = NotifyingRule(*filter_, call.data);
  Denial denial;
  denial.layer = "seccomp";
  denial.operation = SyscallName(call.data.nr);
  denial.error = rule != nullptr ? rule->error : EPERM;
  if (rule != nullptr) {
    denial.place = rule->place;
    denial.group = rule->group;
    denial.reason = rule->reason;
  }
  denial.first_ms = NowMs();
  denial.object = DescribeObject(denial.operation, call.data,
                                 filter_->memory_is_prompt ? static_cast<pid_t>(call.pid) : 0);
  // The pid may have been another process's by then.
  if (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) != 0) return errno == ENOENT;
  seccomp_notif_resp answer = {};
  answer.id = call.id;
  answer.error = -denial.error;
  // Unanswered is not counted: the caller is gone, or its call begins again and asks again.
  if (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0) return errno == ENOENT;
  AddDenial(std::move(denial), report_);
  report_.stopped = ++answered_ == max_answers_;
  return !report_.stopped;
}

void Listener::AddKill() {
  Denial denial;
  denial.layer = "seccomp";
  denial.object = "signal=SIGSYS";
  denial.reason =
      "a call of another ABI, or one that the policy kills for; "
      "SIGSYS that a tool sends to itself looks the same";
  denial.first_ms = NowMs();
  AddDenial(std::move(denial), report_);
}

}  // namespace warder::sandbox
