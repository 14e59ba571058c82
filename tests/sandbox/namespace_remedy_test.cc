#include "sandbox/namespace_remedy.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "sandbox/spawn.h"
#include "tests/support/in_child.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InChild;

// In a user namespace of the child's own, whose limits are nobody else's: 0 when `holds` says so.
int WithLimit(const std::string& sysctl, const std::function<bool()>& holds) {
  return InChild([&] {
    const std::string uid = std::to_string(geteuid());
    if (unshare(CLONE_NEWUSER) != 0) return 2;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " + uid + " 1\n";
    std::ofstream limit("/proc/sys/user/" + sysctl);
    limit << 0;
    limit.close();
    if (!limit) return 3;
    return holds() ? 0 : 1;
  });
}

TEST(NamespaceRemedy, NothingIsMissingWhereEachCanBeMade) {
  EXPECT_EQ(InChild([] { return NamespaceRemedy(CLONE_NEWUSER | CLONE_NEWPID).empty() ? 0 : 1; }),
            0);
  EXPECT_EQ(NamespaceRemedy(0), "");
}

TEST(NamespaceRemedy, TheOneThatReachedItsLimitIsNamedAndNoOther) {
  constexpr struct {
    std::uint64_t flag;
    const char* layer;
    const char* sysctl;
  } kLimits[] = {{CLONE_NEWPID, "pid", "max_pid_namespaces"},
                 {CLONE_NEWNS, "mount", "max_mnt_namespaces"},
                 {CLONE_NEWIPC, "ipc", "max_ipc_namespaces"},
                 {CLONE_NEWUTS, "uts", "max_uts_namespaces"},
                 {CLONE_NEWNET, "network", "max_net_namespaces"},
                 {CLONE_NEWCGROUP, "cgroup", "max_cgroup_namespaces"}};
  std::uint64_t all = 0;
  for (const auto& limit : kLimits) all |= limit.flag;
  for (const auto& limit : kLimits) {
    EXPECT_EQ(WithLimit(limit.sysctl,
                        [&] {
                          return NamespaceRemedy(all) ==
                                 std::string(limit.layer) +
                                     " namespace: the limit is reached: raise sysctl user." +
                                     limit.sysctl + " (to 15000)";
                        }),
              0)
        << limit.sysctl;
  }
}

TEST(NamespaceRemedy, AUserNamespaceComesFirst) {
  EXPECT_EQ(WithLimit("max_user_namespaces",
                      [] {
                        return NamespaceRemedy(CLONE_NEWUSER | CLONE_NEWPID) ==
                               "user namespace: the limit is reached: raise sysctl "
                               "user.max_user_namespaces (to 15000)";
                      }),
            0);
}

TEST(NamespaceRemedy, ARefusedCloneSaysIt) {
  EXPECT_EQ(WithLimit("max_uts_namespaces",
                      [] {
                        const StepList steps;
                        const auto child = CloneChild(steps, CLONE_NEWNET | CLONE_NEWUTS);
                        return child.status().code() == absl::StatusCode::kFailedPrecondition &&
                               child.status().message().find("user.max_uts_namespaces") !=
                                   absl::string_view::npos;
                      }),
            0);
}

}  // namespace
}  // namespace warder::sandbox
