#include "sandbox/cgroup_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;

constexpr char kHybrid[] =
    "30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:4 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 30 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
    "41 30 0:38 / /a\\040b rw,relatime - cgroup cgroup rw,pids\n"
    "42 30 0:39 / /short - cgroup\n";

TEST(CgroupMounts, ThoseOfBothVersionsAreFoundAndNothingElse) {
  const auto mounts = ParseCgroupMounts(kHybrid);
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].controllers, "rw,cpu,cpuacct");
  EXPECT_EQ(mounts[1].point, "/sys/fs/cgroup/memory");
  EXPECT_FALSE(mounts[1].v2);
  EXPECT_TRUE(mounts[2].v2);
  EXPECT_TRUE(ParseCgroupMounts("").empty());
}

TEST(OwnGroup, IsFoundInTheTreeOfItsController) {
  const auto mounts = ParseCgroupMounts(kHybrid);
  const std::string own = "4:memory:/jobs/1:2\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/user.slice\n";
  EXPECT_EQ(OwnGroupDirectory(mounts, own, "memory"), "/sys/fs/cgroup/memory/jobs/1:2");
  EXPECT_EQ(OwnGroupDirectory(mounts, own, "cpuacct"), "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(OwnGroupDirectory(mounts, own, ""), "/sys/fs/cgroup/unified/user.slice");
  EXPECT_EQ(OwnGroupDirectory(mounts, own, "pids"), std::nullopt);
  EXPECT_EQ(OwnGroupDirectory(mounts, "0::/x\n", "memory"), std::nullopt);
}

TEST(OwnGroup, OutsideOfWhatIsMountedIsNotThere) {
  const auto mounts = ParseCgroupMounts("40 30 0:37 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(OwnGroupDirectory(mounts, "0::/box/a\n", ""), "/sys/fs/cgroup/a");
  EXPECT_EQ(OwnGroupDirectory(mounts, "0::/box\n", ""), "/sys/fs/cgroup");
  EXPECT_EQ(OwnGroupDirectory(mounts, "0::/boxes\n", ""), std::nullopt);
  EXPECT_EQ(OwnGroupDirectory(mounts, "0::/../other\n", ""), std::nullopt);
}

TEST(CgroupHost, WithoutLimitsItSaysWhatWouldMendThat) {
  const std::string found = InLauncher([](const Host&) -> std::string {
    const auto host = FindCgroupHost(std::nullopt);
    if (!host.ok()) return "ERROR";
    return host->limits() ? "limits" + host->missing : host->missing;
  });
  // Either there are limits, and nothing is missing, or each thing that was tried is told.
  EXPECT_TRUE(found == "limits" || found.find("Delegate=yes") != std::string::npos) << found;
}

TEST(CgroupHost, AParentThatTheOperatorNamesAndThatIsNoneIsAnError) {
  for (const char* path : {"/usr", "/no/such/group"}) {
    const std::string found = InLauncher([&](const Host&) -> std::string {
      return std::string(FindCgroupHost(path).status().message());
    });
    EXPECT_EQ(found.find("config.json: cgroup_parent: " + std::string(path)), 0u) << found;
  }
}

}  // namespace
}  // namespace warder::sandbox
