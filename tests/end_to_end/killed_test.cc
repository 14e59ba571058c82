// Law 11: kill -9 at any instant leaves no orphan, no mount, no half-used ticket, no
// allowed-but-unrecorded run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/leftovers.h"
#include "tests/support/run_warder.h"

namespace warder {
namespace {

using nlohmann::json;
using ::warder::testing::WarderHost;

constexpr int kCalls = 200;
// Every other kill falls into the making of the cell, the rest anywhere in a call.
constexpr int kSetupMs = 30;
constexpr int kCallMs = 90;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t Start(const WarderHost& host) {
  std::vector<std::string> words = {
      WARDER_BINARY, "--config-dir",   host.Config(), "--state-dir", host.tree().At("state"),
      "--workspace", host.Workspace(), "call",        "t",           "--approve",
      "allow-all"};
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=" + host.tree().At("home"),
                                        "XDG_RUNTIME_DIR=" + host.tree().At("run")};
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd)
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data()), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// The launcher is the supervisor's only child; 0 when there is none yet. It cannot be reused while
// its parent is ours.
pid_t LauncherOf(pid_t supervisor) {
  const std::string pid = std::to_string(supervisor);
  std::istringstream children(ReadFile("/proc/" + pid + "/task/" + pid + "/children"));
  pid_t child = 0;
  children >> child;
  return child;
}

// Processes whose command line or environment holds `marker`, other than this one.
std::vector<std::string> ProcessesWith(const std::string& marker) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename() == std::to_string(getpid())) continue;
    const std::string line = ReadFile(entry.path() / "cmdline");
    if (line.find(marker) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(Killed, Law11TwoHundredCallsHalfOfThemKilledLeaveNothingBehind) {
  const WarderHost host;
  const std::string marker =
      "28" + std::to_string(getpid());  // seconds to sleep: also the name of what must not survive
  host.tree().Script("workspace/t.sh", "#!/bin/sh\necho run >> ran\n(setsid sleep " + marker +
                                           " >/dev/null 2>&1 &)\nsleep 0.05\n");
  host.Declare(WarderHost::Tool("t", R"(["./t.sh"])"));
  const std::string mounts = ReadFile("/proc/self/mountinfo");
  const std::set<std::string> before = ::warder::testing::DeadGroups();
  std::mt19937 random(20'26);
  int finished = 0;
  for (int call = 0; call < kCalls; ++call) {
    const pid_t supervisor = Start(host);
    pid_t launcher = 0;
    if (call % 2 == 0) {
      const unsigned span = call / 4 % 2 == 0 ? kSetupMs : kCallMs;
      std::this_thread::sleep_for(std::chrono::microseconds(random() % (span * 1000)));
      launcher = LauncherOf(supervisor);
      kill(call % 4 == 0 || launcher == 0 ? supervisor : launcher, SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(supervisor, &status, 0), supervisor);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++finished;
    EXPECT_TRUE(call % 2 == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        << "call " << call << " status " << status;
  }
  EXPECT_GE(finished, kCalls / 2);

  // The kernel kills a cell by itself once its launcher is gone; that takes an instant.
  for (int wait = 0; wait < 100 && !ProcessesWith(marker).empty(); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(ProcessesWith(marker).empty());
  EXPECT_TRUE(ProcessesWith(host.Workspace()).empty());
  EXPECT_EQ(ReadFile("/proc/self/mountinfo"), mounts);
  // What a killed launcher left of its control groups goes with the start of the next one.
  const pid_t last = Start(host);
  int status = 0;
  ASSERT_EQ(waitpid(last, &status, 0), last);
  EXPECT_EQ(status, 0);
  for (const std::string& group : ::warder::testing::DeadGroups()) {
    EXPECT_TRUE(before.contains(group)) << group;
  }
  std::vector<std::string> files;
  for (const char* place : {"state", "run"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(host.tree().At(place))) {
      if (entry.is_regular_file()) files.push_back(entry.path().filename());
    }
  }
  std::sort(files.begin(), files.end());
  const std::vector<std::string> expected = geteuid() == 0
                                                ? std::vector<std::string>{"audit.jsonl", "uids"}
                                                : std::vector<std::string>{"audit.jsonl"};
  EXPECT_EQ(files, expected);

  const auto verified = host.Run({"audit", "verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  std::set<std::string> decided, used;
  std::istringstream lines(ReadFile(host.tree().At("state/audit.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const json record = json::parse(line);
    const std::string event = record["event"];
    const std::string ticket = record.value("ticket", "");
    if (event == "decision") decided.insert(ticket);
    if (event != "use") continue;
    EXPECT_TRUE(decided.contains(ticket)) << line;
    EXPECT_TRUE(used.insert(ticket).second) << "used twice: " << line;
  }
  const std::string ran = ReadFile(host.tree().At("workspace/ran"));
  EXPECT_LE(std::count(ran.begin(), ran.end(), '\n'), static_cast<std::ptrdiff_t>(used.size()));
  EXPECT_GE(used.size(), static_cast<std::size_t>(kCalls / 2));
}

}  // namespace
}  // namespace warder
