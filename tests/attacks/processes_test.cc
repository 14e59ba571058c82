// Attacks on processes that need more than one probe: deadlines, what is left after the call, what
// the outcome says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/attack_scene.h"

namespace warder::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What can be read of a file; of a process that ends meanwhile that may be nothing.
std::string Bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class Processes : public ::testing::Test {
 protected:
  Processes() : mark_("mark-" + std::to_string(scene_.victim())) {}

  // Processes of the host whose command line has this test's mark, which every probe is given.
  std::vector<pid_t> Marked() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (Bytes(entry.path() / "cmdline").find(mark_) != std::string::npos)
        found.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return found;
  }
  std::string PidNamespace() const { return fs::read_symlink("/proc/self/ns/pid").string(); }
  static std::string Printed(const json& outcome) { return outcome["stdout"].value("text", "?"); }

  AttackScene scene_;
  std::string mark_;
};

TEST_F(Processes, SupervisorsEnvironmentCannotBeRead) {
  WarderSetting setting;
  setting.environment = {{"WARDER_CANARY", mark_}};
  EXPECT_EQ(Printed(scene_.Outcome("find-environment WARDER_CANARY=", 0, setting)), "none\n");
  setting.prefix = {"/bin/sh", "-c", "exec ./attack 'find-environment WARDER_CANARY='"};
  EXPECT_EQ(scene_.host().Run({}, setting).out, "find-environment WARDER_CANARY= -> found\n");
}

TEST_F(Processes, KillingEveryProcessEndsTheCallAlone) {
  const json outcome = scene_.Outcome("kill-every-process " + PidNamespace());
  EXPECT_EQ(outcome["ending"], "exited");
  EXPECT_EQ(Printed(outcome), "ESRCH\n");
  EXPECT_TRUE(scene_.VictimLives());
}

TEST_F(Processes, InitIsNotReachedBySignals) {
  const json outcome = scene_.Outcome("signal-init " + PidNamespace());
  EXPECT_EQ(outcome["ending"], "exited");
  EXPECT_EQ(Printed(outcome), "alive\n");
}

TEST_F(Processes, DaemonThatIgnoresSignalsIsGoneAtTheDeadline) {
  const json outcome = scene_.Outcome("daemon " + mark_ + " stay", 1500);
  EXPECT_EQ(outcome["ending"], "timed_out");
  EXPECT_TRUE(fs::exists(scene_.host().tree().At("workspace/" + mark_))) << "it did start";
  EXPECT_TRUE(Marked().empty());
}

TEST_F(Processes, Law6ChildThatLeftItsSessionDiesWithTheCall) {
  EXPECT_EQ(scene_.Unconfined({"daemon " + mark_}), std::vector<std::string>{"left"});
  EXPECT_EQ(Marked().size(), 1u) << "the control must work";
  for (const pid_t pid : Marked()) kill(pid, SIGKILL);
  while (!Marked().empty()) usleep(1000);
  fs::remove(scene_.host().tree().At("workspace/" + mark_));
  EXPECT_EQ(Printed(scene_.Outcome("daemon " + mark_)), "left\n");
  EXPECT_TRUE(Marked().empty());
}

TEST_F(Processes, SubreaperDoesNotKeepItsDescendants) {
  EXPECT_EQ(Printed(scene_.Outcome("subreaper-with-daemon " + mark_)), "left\n");
  EXPECT_TRUE(Marked().empty());
}

TEST_F(Processes, ParentThatWaitsInVforkIsGoneAtTheDeadline) {
  EXPECT_EQ(scene_.Outcome("wait-in-vfork " + mark_, 500)["ending"], "timed_out");
  EXPECT_TRUE(Marked().empty());
}

// Pid 1 of a namespace would ignore the first and the last.
TEST_F(Processes, FatalSignalToItselfEndsTheTool) {
  for (const int number : {SIGTERM, SIGABRT, SIGKILL}) {
    const json outcome = scene_.Outcome("signal-self " + std::to_string(number));
    EXPECT_EQ(outcome["ending"], "signaled");
    EXPECT_EQ(outcome["signal"]["number"], number);
  }
}

TEST_F(Processes, SignalsToItsGroupStayInTheCall) {
  const json outcome = scene_.Outcome("signal-group " + std::to_string(SIGTERM));
  EXPECT_EQ(outcome["ending"], "signaled");
  EXPECT_EQ(outcome["signal"]["number"], SIGTERM);
}

TEST_F(Processes, NameOfAProcessChangesNothing) {
  const json outcome = scene_.Outcome("rename-process");
  EXPECT_EQ(outcome["ending"], "exited");
  EXPECT_EQ(Printed(outcome), "renamed\n");
}

TEST_F(Processes, ExecFromAnotherThreadKeepsTheExitCode) {
  const json outcome = scene_.Outcome("exec-from-thread");
  EXPECT_EQ(outcome["ending"], "exited");
  EXPECT_EQ(outcome["code"], 9);
}

TEST_F(Processes, NoCoreFileIsLeft) {
  WarderSetting setting;
  setting.prefix = {"/bin/sh", "-c", "ulimit -c unlimited; exec \"$@\"", "sh"};
  const json outcome = scene_.Outcome("signal-self " + std::to_string(SIGSEGV), 0, setting);
  EXPECT_EQ(outcome["signal"]["number"], SIGSEGV);
  const auto cores = [&] {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(scene_.host().Workspace())) {
      const std::string name = entry.path().filename();
      if (name.starts_with("core")) found.push_back(name);
    }
    return found;
  };
  EXPECT_EQ(cores(), std::vector<std::string>{});
  // Where the machine writes core files into the working directory, the same program leaves one.
  if (!Bytes("/proc/sys/kernel/core_pattern").starts_with("core")) return;
  setting.prefix = {"/bin/sh", "-c",
                    "ulimit -c unlimited; exec ./attack --here \"signal-self 11\""};
  scene_.host().Run({}, setting);
  EXPECT_EQ(cores().size(), 1u);
}

}  // namespace
}  // namespace warder::testing
