// A host that refuses one system call, as a container's filter does: the call is refused with the
// layer and the remedy named, and nothing runs. Only a policy can say otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/run_warder.h"

namespace warder::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Mask {
  const char* name;
  long call;
  int argument;  // -1: whatever the arguments are
  unsigned value;
  int error;
  const char* layer;   // what the message says of it
  const char* remedy;  // and a word of what to do
};

constexpr unsigned kNamespaces = CLONE_NEWCGROUP | CLONE_NEWIPC;
const Mask kMasks[] = {
    {"clone3", SYS_clone3, -1, 0, ENOSYS, "user namespace", "allow clone3(2)"},
    {"clone3_refused", SYS_clone3, -1, 0, EPERM, "user namespace", "allow clone3(2)"},
    {"setns", SYS_setns, -1, 0, EPERM, "user namespace", "setns(2)"},
    {"pidfd_open", SYS_pidfd_open, -1, 0, ENOSYS, "pid namespace", "pidfd_open(2)"},
    {"unshare", SYS_unshare, 0, kNamespaces, EPERM, "cgroup namespace", "unshare(2)"},
    {"mount", SYS_mount, -1, 0, EPERM, "mount namespace", "allow mount(2)"},
    {"pivot_root", SYS_pivot_root, -1, 0, EPERM, "file view", "pivot_root(2)"},
    {"umount2", SYS_umount2, -1, 0, EPERM, "file view", "umount2(2)"},
    {"open_tree", SYS_open_tree, -1, 0, ENOSYS, "file view", "open_tree(2)"},
    {"move_mount", SYS_move_mount, -1, 0, ENOSYS, "file view", "move_mount(2)"},
    {"mount_setattr", SYS_mount_setattr, -1, 0, ENOSYS, "file view", "mount_setattr(2)"},
    {"setresuid", SYS_setresuid, -1, 0, EPERM, "user id", "setresuid(2)"},
    {"setresgid", SYS_setresgid, -1, 0, EPERM, "user id", "setresgid(2)"},
    {"capset", SYS_capset, -1, 0, EPERM, "capabilities", "allow capset(2)"},
    {"capbset", SYS_prctl, 0, PR_CAPBSET_DROP, EPERM, "capabilities", "prctl(2)"},
    {"no_new_privs", SYS_prctl, 0, PR_SET_NO_NEW_PRIVS, EPERM, "no_new_privs", "allow prctl(2)"},
    {"seccomp", SYS_seccomp, -1, 0, ENOSYS, "seccomp", "seccomp(2)"},
    {"pidfd_getfd", SYS_pidfd_getfd, -1, 0, ENOSYS, "seccomp", "pidfd_getfd(2)"},
    {"landlock_create", SYS_landlock_create_ruleset, -1, 0, ENOSYS, "landlock", "lsm="},
    {"landlock_refused", SYS_landlock_create_ruleset, -1, 0, EPERM, "landlock", "lsm="},
    {"landlock_rule", SYS_landlock_add_rule, -1, 0, ENOSYS, "landlock", "lsm="},
    {"landlock_restrict", SYS_landlock_restrict_self, -1, 0, ENOSYS, "landlock", "lsm="},
    {"prlimit64", SYS_prlimit64, 1, RLIMIT_MEMLOCK, EPERM, "resource limits", "prlimit64(2)"},
    {"close_range", SYS_close_range, -1, 0, ENOSYS, "descriptors", "close_range(2)"},
    {"dup3", SYS_dup3, -1, 0, EPERM, "descriptors", "dup3(2)"},
    {"setsid", SYS_setsid, -1, 0, EPERM, "session", "setsid(2)"},
    {"sethostname", SYS_sethostname, -1, 0, EPERM, "uts namespace", "sethostname(2)"},
    {"openat2", SYS_openat2, -1, 0, ENOSYS, "openat2", "Linux 5.6"},
};

// Test names must be the same in every build: no addresses.
void PrintTo(const Mask& mask, std::ostream* out) { *out << mask.name; }

class MaskedHost : public ::testing::Test {
 protected:
  MaskedHost() { host_.Declare(WarderHost::Tool("t", R"(["/usr/bin/touch", "ran"])")); }

  WarderRun Call(const Mask& mask, std::vector<std::string> more) {
    std::string call = std::to_string(mask.call);
    if (mask.argument >= 0) {
      call += "," + std::to_string(mask.argument) + "," + std::to_string(mask.value);
    }
    WarderSetting setting;
    setting.prefix = {WARDER_PROGRAMS_DIR "/mask", call, std::to_string(mask.error)};
    std::vector<std::string> arguments = {"call", "t", "--approve", "allow-all"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return host_.Run(std::move(arguments), setting);
  }
  bool Ran() const { return std::filesystem::exists(host_.Workspace() + "/ran"); }

  WarderHost host_;
};

class Masked : public MaskedHost, public ::testing::WithParamInterface<Mask> {};

TEST_P(Masked, Law3CallIsRefusedWithTheLayerAndTheRemedy) {
  const WarderRun run = Call(GetParam(), {});
  EXPECT_THAT(run.exit_code, AnyOf(125, 126, 127)) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr(GetParam().layer));
  EXPECT_THAT(run.err, HasSubstr(GetParam().remedy));
  EXPECT_FALSE(Ran());
}

INSTANTIATE_TEST_SUITE_P(Calls, Masked, ::testing::ValuesIn(kMasks),
                         [](const auto& tested) { return std::string(tested.param.name); });

constexpr Mask kNoLandlock = {"", SYS_landlock_create_ruleset, -1, 0, EOPNOTSUPP, "landlock", ""};

TEST_F(MaskedHost, OnlyThePolicyLetsALayerGoAndTheOutcomeSaysSo) {
  host_.tree().Write("config/policies/mine.json", R"({"schema": 1, "extends": "default",
      "description": "A host without Landlock.",
      "on_missing_landlock": {"action": "degrade", "reason": "A test."}})");
  const WarderRun run = Call(kNoLandlock, {"--policy", "mine", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(Ran());
  const json outcome = json::parse(run.out);
  for (const json& layer : outcome["attestation"]["layers"]) {
    if (layer["name"] == "landlock") {
      EXPECT_EQ(layer["state"], "degraded");
      EXPECT_EQ(layer["required"], true);
      EXPECT_THAT(layer["proof"].get<std::string>(), HasSubstr("mounts alone"));
    } else if (layer["name"] != "control group") {
      EXPECT_NE(layer["state"], "degraded") << layer.dump();
    }
  }
  const WarderRun preview = host_.Run({"preview", "t", "--policy", "mine"});
  EXPECT_THAT(preview.out, HasSubstr("has no Landlock")) << preview.err;
}

// With an inherited filter, whose count must not pass for one of ours.
TEST_F(MaskedHost, LayersAreTheSameBehindAFilterThatIsOfNoConcern) {
  const WarderRun run = Call({"", SYS_acct, -1, 0, EPERM, "", ""}, {"--json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::ifstream status("/proc/self/status");
  int own = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Seccomp_filters:")) own = std::stoi(line.substr(line.find('\t')));
  }
  EXPECT_THAT(run.out, HasSubstr("mode 2, " + std::to_string(own + 3) + " filters, " +
                                 std::to_string(own + 1) + " of them inherited"));
}

}  // namespace
}  // namespace warder::testing
