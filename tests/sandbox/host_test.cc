#include "sandbox/host.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::ScratchDirectory;

TEST(Host, TierFollowsFromWhoRunsTheLauncher) {
  EXPECT_EQ(InLauncher([](const Host& host) { return std::string(TierName(host.tier)); }),
            geteuid() == 0 ? "root" : "userns");
}

TEST(Host, LauncherSharesNoMountWithTheHost) {
  EXPECT_EQ(InLauncher([](const Host&) -> std::string {
              const std::string table = ::warder::testing::ReadFileText("/proc/self/mountinfo");
              return table.find(" shared:") == std::string::npos ? "private" : "shared";
            }),
            "private");
}

TEST(Host, SignalsThatWereIgnoredAreNotIgnoredInWhatTheLauncherStarts) {
  EXPECT_EQ(InLauncher([](const Host&) -> std::string {
              signal(SIGPIPE, SIG_IGN);
              signal(SIGHUP, SIG_IGN);
              ResetSignals();
              const std::string status = ::warder::testing::ReadFileText("/proc/self/status");
              return status.substr(status.find("SigIgn"), 24);
            }),
            "SigIgn:\t0000000000000000");
}

TEST(UidLease, EveryLeaseHasItsOwnIdAndTheRangeIsTheLimit) {
  const ScratchDirectory directory;
  const std::string file = directory.path() + "/uids";
  const UidRange range = {100'000, 2};
  auto first = UidLease::Take(file, range);
  auto second = UidLease::Take(file, range);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_NE(first->uid(), second->uid());
  const auto third = UidLease::Take(file, range);
  EXPECT_EQ(third.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(third.status().message()).find("uid_range"), std::string::npos);
}

TEST(UidLease, IdComesBackWhenItsHolderIsGone) {
  const ScratchDirectory directory;
  const std::string file = directory.path() + "/uids";
  const UidRange range = {100'000, 1};
  {
    ASSERT_TRUE(UidLease::Take(file, range).ok());
  }
  EXPECT_TRUE(UidLease::Take(file, range).ok());
}

}  // namespace
}  // namespace warder::sandbox
