#include "sandbox/limits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/in_child.h"

namespace warder::sandbox {
namespace {

const ResourceLimit* Find(const std::vector<ResourceLimit>& list, int resource) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const ResourceLimit& limit) {
    return limit.resource == resource;
  });
  return found == list.end() ? nullptr : &*found;
}

TEST(ResourceLimits, CoreFilesAreOffWhateverThePolicySays) {
  const auto list = ResourceLimits({}, false);
  ASSERT_NE(Find(list, RLIMIT_CORE), nullptr);
  EXPECT_EQ(Find(list, RLIMIT_CORE)->value.rlim_max, 0u);
}

TEST(ResourceLimits, NobodyRunsBeforeOthers) {
  const auto list = ResourceLimits({}, false);
  for (const int resource : {RLIMIT_RTPRIO, RLIMIT_NICE}) {
    ASSERT_NE(Find(list, resource), nullptr) << resource;
    EXPECT_EQ(Find(list, resource)->value.rlim_max, 0u) << resource;
  }
}

TEST(ResourceLimits, TheHostsOwnHardLimitIsTheMost) {
  Limits limits;
  limits.open_files = 1'000'000'000;  // more than any kernel gives
  limits.file_bytes = 4096;
  EXPECT_EQ(::warder::testing::InChild([&] {
              const rlimit64 own = {50, 70};
              if (setrlimit64(RLIMIT_NOFILE, &own) != 0) return 1;
              const auto list = ResourceLimits(limits, false);
              const ResourceLimit* files = Find(list, RLIMIT_NOFILE);
              const ResourceLimit* bytes = Find(list, RLIMIT_FSIZE);
              if (files->value.rlim_cur != 70 || files->value.rlim_max != 70) return 2;
              return files->lowered && !bytes->lowered ? 0 : 3;
            }),
            0);
}

TEST(ResourceLimits, CpuTimeIsRoundedUpAndTheHardLimitComesLater) {
  Limits limits;
  limits.cpu_ms = 1500;
  const auto list = ResourceLimits(limits, false);
  ASSERT_NE(Find(list, RLIMIT_CPU), nullptr);
  EXPECT_EQ(Find(list, RLIMIT_CPU)->value.rlim_cur, 2u);
  EXPECT_EQ(Find(list, RLIMIT_CPU)->value.rlim_max, 3u);
}

TEST(ResourceLimits, AbsentLimitsAreNotSet) {
  const auto list = ResourceLimits({}, false);
  for (const int resource : {RLIMIT_CPU, RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_FSIZE}) {
    EXPECT_EQ(Find(list, resource), nullptr) << resource;
  }
}

TEST(ResourceLimits, WithAControlGroupMemoryIsItsAndItRefusesForksFirst) {
  Limits limits;
  limits.memory_bytes = 1;
  limits.processes = 20;
  const auto list = ResourceLimits(limits, true);
  EXPECT_EQ(Find(list, RLIMIT_DATA), nullptr);
  EXPECT_GT(Find(list, RLIMIT_NPROC)->value.rlim_max, 20u + 1);
}

TEST(ResourceLimits, EachPolicyLimitHasItsResource) {
  Limits limits;
  limits.memory_bytes = 1;
  limits.processes = 2;
  limits.open_files = 3;
  limits.file_bytes = 4;
  const auto list = ResourceLimits(limits, false);
  EXPECT_EQ(Find(list, RLIMIT_DATA)->value.rlim_max, 1u);
  EXPECT_EQ(Find(list, RLIMIT_NPROC)->value.rlim_max, 2u);
  EXPECT_EQ(Find(list, RLIMIT_NOFILE)->value.rlim_max, 3u);
  EXPECT_EQ(Find(list, RLIMIT_FSIZE)->value.rlim_max, 4u);
}

}  // namespace
}  // namespace warder::sandbox
