#include "supervisor/limit_watch.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace warder::supervisor {
namespace {

using std::chrono::microseconds;

// The last looks before the budget is used up are this far apart: the tree gets at most this much
// too much, on each processor.
constexpr microseconds kShortestLook{20'000};

std::int64_t Processors() { return std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)); }

std::int64_t Microseconds(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
}

}  // namespace

LimitWatch::LimitWatch(sandbox::CellCgroup* group, const sandbox::Limits& limits,
                       Clock::time_point now)
    : group_(group) {
  if (limits.cpu_ms.has_value()) cpu_budget_us_ = static_cast<std::int64_t>(*limits.cpu_ms) * 1000;
  // Nothing has run yet: the first look can wait for as long as the whole budget takes.
  if (group_ != nullptr && group_->birth() >= 0 && cpu_budget_us_.has_value())
    next_ = now + std::max(microseconds(*cpu_budget_us_ / Processors()), kShortestLook);
}

bool LimitWatch::CpuExceeded(Clock::time_point now) {
  if (now < next_) return false;
  const std::int64_t left = *cpu_budget_us_ - group_->Use().cpu_us.value_or(0);
  next_ = now + std::max(microseconds(left / Processors()), kShortestLook);
  return left <= 0;
}

bool LimitWatch::Exceeded(Clock::time_point now) {
  if (group_ == nullptr || stopped_) return false;
  cpu_used_up_ = CpuExceeded(now);
  stopped_ = cpu_used_up_ || group_->TakeMemoryEvent();
  return stopped_;
}

ToolExit LimitWatch::Describe(bool signaled, int status, const rusage& usage) const {
  ToolExit exit;
  exit.signaled = signaled;
  exit.status = status;
  exit.usage.user_us = Microseconds(usage.ru_utime);
  exit.usage.system_us = Microseconds(usage.ru_stime);
  exit.usage.max_rss_kib = usage.ru_maxrss;
  exit.limit = HitBy(exit);
  return exit;
}

LimitHit LimitWatch::HitBy(const ToolExit& exit) const {
  sandbox::CgroupUse use;
  use.cpu_us = 0;
  if (group_ != nullptr) use = group_->Use();
  if (use.out_of_memory) return LimitHit::kMemory;
  if (cpu_used_up_) return LimitHit::kCpu;
  if (cpu_budget_us_.has_value() && exit.signaled) {
    const std::int64_t used =
        std::max(use.cpu_us.value_or(0), exit.usage.user_us + exit.usage.system_us);
    // RLIMIT_CPU counts ticks, which can be ahead of what a process really used. A program can send
    // itself these signals: then it has used little.
    if (exit.status == SIGXCPU && used >= *cpu_budget_us_ / 2) return LimitHit::kCpu;
    if (exit.status == SIGKILL && used >= *cpu_budget_us_) return LimitHit::kCpu;
  }
  const bool failed = exit.signaled || exit.status != 0;
  return failed && use.out_of_processes ? LimitHit::kProcesses : LimitHit::kNone;
}

}  // namespace warder::supervisor
