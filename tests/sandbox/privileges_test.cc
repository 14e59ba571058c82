#include "sandbox/privileges.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

TEST(Privileges, CapabilityNamesBecomeBits) {
  EXPECT_EQ(CapabilityMask({"cap_chown", "cap_net_bind_service"}).value(), (1u << 0) | (1u << 10));
  EXPECT_EQ(CapabilityMask({}).value(), 0u);
}

TEST(Privileges, UnknownCapabilityIsRefusedByName) {
  const auto mask = CapabilityMask({"cap_everything"});
  EXPECT_EQ(mask.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(mask.status().message()).find("cap_everything"), std::string::npos);
}

TEST(Privileges, SupervisorKeepsAtMostTheRightToRead) {
  const pid_t child = fork();
  if (child == 0) {
    if (!DropSupervisorPrivileges().ok()) _exit(1);
    const std::string status = ::warder::testing::ReadFileText("/proc/self/status");
    const std::string kept = geteuid() == 0 ? "0000000000000004" : "0000000000000000";
    const bool right = status.find("CapEff:\t" + kept) != std::string::npos &&
                       status.find("CapPrm:\t" + kept) != std::string::npos &&
                       status.find("NoNewPrivs:\t1") != std::string::npos &&
                       prctl(PR_GET_DUMPABLE) == 0;
    _exit(right ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Privileges, LastCapabilityIsThatOfTheKernel) {
  EXPECT_EQ(std::to_string(LastCapability()) + "\n",
            ::warder::testing::ReadFileText("/proc/sys/kernel/cap_last_cap"));
}

}  // namespace
}  // namespace warder::sandbox
