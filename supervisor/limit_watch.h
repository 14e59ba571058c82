// LimitWatch: which limit of its policy a cell has hit, by the kernel's counters.
#ifndef WARDER_SUPERVISOR_LIMIT_WATCH_H_
#define WARDER_SUPERVISOR_LIMIT_WATCH_H_

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "sandbox/cgroup.h"
#include "sandbox/policy.h"
#include "supervisor/launcher.h"

namespace warder::supervisor {

// Of one running cell. Where it has no control group only the tool's own end is looked at.
class LimitWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `group` may be nullptr; otherwise it outlives the watch.
  LimitWatch(sandbox::CellCgroup* group, const sandbox::Limits& limits, Clock::time_point now);

  // A descriptor whose being readable calls for Exceeded(); -1: none.
  int event() const { return group_ == nullptr || stopped_ ? -1 : group_->memory_event(); }
  // When Exceeded() is to be asked next: the budget of processor time cannot be used up earlier,
  // with every processor of the machine at work. time_point::max(): never.
  Clock::time_point next() const { return stopped_ ? Clock::time_point::max() : next_; }

  // Whether the cell must be killed now. Looks at the counters; says it once.
  bool Exceeded(Clock::time_point now);
  // What to say of the tool's end, with the limit that caused it as far as the kernel counted one.
  ToolExit Describe(bool signaled, int status, const rusage& usage) const;

 private:
  LimitHit HitBy(const ToolExit& exit) const;
  bool CpuExceeded(Clock::time_point now);

  sandbox::CellCgroup* group_;
  std::optional<std::int64_t> cpu_budget_us_;
  Clock::time_point next_ = Clock::time_point::max();
  bool stopped_ = false, cpu_used_up_ = false;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_LIMIT_WATCH_H_
