#include "sandbox/acting_user.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/support/in_child.h"
#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

constexpr uid_t kOther = 64999;

std::string Capabilities() {
  const std::string status = ::warder::testing::ReadFileText("/proc/self/status");
  return status.substr(status.find("CapInh"), status.find("NoNewPrivs") - status.find("CapInh"));
}

TEST(ActingUser, RootActsAsAnotherAndIsItselfAgain) {
  EXPECT_EQ(testing::InChild([] {
              const uid_t before = geteuid();
              const std::string capabilities = Capabilities();
              prctl(PR_SET_PDEATHSIG, SIGKILL);
              {
                const ActingUser acting(kOther);
                if (acting.error() != 0) return 1;
                if (geteuid() != (before == 0 ? kOther : before) || getuid() != before) return 2;
                if (Capabilities() != capabilities) return 3;
              }
              int signal = 0;
              prctl(PR_GET_PDEATHSIG, &signal);
              if (geteuid() != before || signal != SIGKILL) return 4;
              return Capabilities() == capabilities && prctl(PR_GET_DUMPABLE) == 1 &&
                             prctl(PR_GET_SECUREBITS) == 0
                         ? 0
                         : 5;
            }),
            0);
}

TEST(ActingUser, RefusalIsToldAndChangesNothing) {
  EXPECT_EQ(testing::InChild([] {
              const uid_t before = geteuid();
              // Locks the bit, for good: the kernel then refuses to set it.
              if (before == 0 && prctl(PR_SET_SECUREBITS, 1ul << 3) != 0) return 1;
              {
                const ActingUser acting(kOther);
                if ((acting.error() == EPERM) != (before == 0)) return 2;
                if (geteuid() != before) return 3;
              }
              return geteuid() == before ? 0 : 4;
            }),
            0);
}

}  // namespace
}  // namespace warder::sandbox
