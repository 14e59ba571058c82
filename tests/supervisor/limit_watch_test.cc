#include "supervisor/limit_watch.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace warder::supervisor {
namespace {

LimitHit HitBy(bool signaled, int status, long cpu_seconds, std::optional<std::uint64_t> cpu_ms) {
  sandbox::Limits limits;
  limits.cpu_ms = cpu_ms;
  rusage usage = {};
  usage.ru_utime.tv_sec = cpu_seconds;
  return LimitWatch(nullptr, limits, LimitWatch::Clock::now())
      .Describe(signaled, status, usage)
      .limit;
}

TEST(LimitWatch, SignalsOfTheProcessorLimitCountWhenTheTimeWasReallyUsed) {
  EXPECT_EQ(HitBy(true, SIGXCPU, 2, 2000), LimitHit::kCpu);
  EXPECT_EQ(HitBy(true, SIGKILL, 3, 2000), LimitHit::kCpu);
  EXPECT_EQ(HitBy(true, SIGXCPU, 0, 2000), LimitHit::kNone);
  EXPECT_EQ(HitBy(true, SIGKILL, 1, 2000), LimitHit::kNone);
  EXPECT_EQ(HitBy(true, SIGTERM, 3, 2000), LimitHit::kNone);
}

TEST(LimitWatch, WithoutALimitOrAnEndBySignalNothingIsBlamedOnIt) {
  EXPECT_EQ(HitBy(true, SIGXCPU, 100, std::nullopt), LimitHit::kNone);
  EXPECT_EQ(HitBy(false, 0, 100, 2000), LimitHit::kNone);
  EXPECT_EQ(HitBy(false, 1, 100, 2000), LimitHit::kNone);
}

TEST(LimitWatch, WithoutAControlGroupThereIsNothingToLookAt) {
  sandbox::Limits limits;
  limits.cpu_ms = 1;
  LimitWatch watch(nullptr, limits, LimitWatch::Clock::now());
  EXPECT_EQ(watch.event(), -1);
  EXPECT_EQ(watch.next(), LimitWatch::Clock::time_point::max());
  EXPECT_FALSE(watch.Exceeded(LimitWatch::Clock::now() + std::chrono::hours(1)));
}

TEST(LimitWatch, EndIsDescribedAsTheKernelToldIt) {
  rusage usage = {};
  usage.ru_utime.tv_sec = 7;
  const ToolExit exit =
      LimitWatch(nullptr, {}, LimitWatch::Clock::now()).Describe(true, SIGSEGV, usage);
  EXPECT_TRUE(exit.signaled);
  EXPECT_EQ(exit.status, SIGSEGV);
  EXPECT_EQ(exit.usage.user_us, 7'000'000);
}

}  // namespace
}  // namespace warder::supervisor
