// Attacks on time, streams and what is left of a cell; and what the outcome says of its layers.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sandbox/unique_fd.h"
#include "tests/support/attack_scene.h"

namespace warder::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> Exec(const std::string& probe) {
  return {"exec", "--policy", "default", "--approve", "allow-all",
          "--",   "./attack", "--here",  probe};
}

// A call that keeps the processors, the disk or the process table busy stops when told by another
// one, which therefore was prepared, audited, run and ended meanwhile.
TEST(Resources, OtherCallsGoOnAndTheDeadlineHoldsWhileOneIsBusy) {
  for (const std::string kind : {"spin", "sync", "forks"}) {
    const AttackScene scene;
    WarderSetting setting;
    setting.until = "busy\n";
    setting.then = [&](pid_t) {
      const WarderRun other = scene.host().Run(Exec("write go"));
      EXPECT_EQ(other.out, "done\n") << kind << other.err;
    };
    const WarderRun run = scene.host().Run(Exec("busy " + kind + " go"), setting);
    EXPECT_EQ(run.out, "busy\ntold to stop\n") << kind << run.err;
    const json outcome = scene.Outcome("busy " + kind + " never", 1000);
    EXPECT_EQ(outcome["ending"], "timed_out") << kind;
    EXPECT_LT(outcome.value("duration_ms", 0), 10'000) << kind;
  }
}

// A user namespace's use of what is limited for each user counts against its maker, too.
TEST(Resources, CellOfARootLauncherLeavesRootItsOwn) {
  const AttackScene scene;
  WarderSetting setting;
  setting.until = "full\n";
  setting.then = [&](pid_t) {
    const sandbox::UniqueFd own(inotify_init1(IN_CLOEXEC));
    // A rootless launcher has no other user to act as.
    EXPECT_EQ(own.ok(), geteuid() == 0);
    scene.host().tree().Write("workspace/go", "");
  };
  EXPECT_EQ(scene.host().Run(Exec("watchers go"), setting).out, "full\nEMFILE\n");
}

// Clock ticks that `pid` itself has used (proc(5), stat: utime and stime).
long Ticks(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

TEST(Resources, ThousandsOfShortProcessesCostTheSupervisorNothing) {
  constexpr int kSeconds = 3;
  const AttackScene scene;
  WarderSetting setting;
  long used = -1;
  setting.until = "still busy\n";
  setting.then = [&](pid_t warder) {
    used = Ticks("/proc/" + std::to_string(warder));
    scene.host().tree().Write("workspace/go", "");
  };
  const WarderRun run =
      scene.host().Run(Exec("busy forks go " + std::to_string(kSeconds)), setting);
  EXPECT_EQ(run.out, "busy\nstill busy\ntold to stop\n") << run.err;
  EXPECT_GE(used, 0);
  EXPECT_LT(used, kSeconds * sysconf(_SC_CLK_TCK) / 5) << "a fifth of one processor";
}

TEST(Resources, DripEndsAtTheDeadlineAndIsKept) {
  const AttackScene scene;
  const json outcome = scene.Outcome("drip", 1000);
  EXPECT_EQ(outcome["ending"], "timed_out");
  // One byte each 100 ms: at most ten, and fewer on a busy machine.
  const auto size = outcome["stdout"].value("total_bytes", 0);
  EXPECT_GE(size, 1);
  EXPECT_LE(size, 11);
  EXPECT_EQ(outcome["stdout"]["text"], std::string(static_cast<std::size_t>(size), '.'));
  EXPECT_GE(outcome.value("duration_ms", 0), 1000);
}

json CallShell(const std::string& script, const std::string& more) {
  const WarderHost host;
  host.Declare(WarderHost::Tool("sh", json({"/bin/sh", "-c", script}).dump(), more));
  const WarderRun run = host.Run({"call", "sh", "--approve", "allow-all", "--json"});
  json outcome = json::parse(run.out, nullptr, false);
  EXPECT_TRUE(outcome.is_object()) << run.out << run.err;
  return outcome;
}

TEST(Resources, OwnInputHeldOpenEndsAtTheDeadline) {
  const json outcome = CallShell("exec 5>/proc/self/fd/0; cat", R"(, "timeout_ms": 1500)");
  EXPECT_EQ(outcome["ending"], "timed_out");
  EXPECT_EQ(outcome["stdout"]["text"], "{}");
}

// A file for stdout would be emptied by the second command.
TEST(Resources, OutputCannotBeTakenBack) {
  const json outcome =
      CallShell("echo first; : > /proc/self/fd/1; echo second > /dev/stdout; true", "");
  EXPECT_EQ(outcome["stdout"]["text"], "first\nsecond\n");
}

// "mnt:[4026532182]" of every process that may be looked at.
std::set<std::string> NamespacesInUse() {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc")) {
    for (const char* kind : {"user", "pid", "mnt", "ipc", "uts", "cgroup", "net"}) {
      const auto link = fs::read_symlink(process.path() / "ns" / kind, error);
      if (!error) found.insert(link.string());
    }
  }
  return found;
}

TEST(Resources, NamespacesAreGoneAfterTheCall) {
  const AttackScene scene;
  const json outcome = scene.Outcome("fill /tmp 64");
  EXPECT_EQ(outcome["stdout"]["text"], "done\n");
  std::set<std::string> left;
  for (const json& layer : outcome["attestation"]["layers"]) {
    const std::string proof = layer["proof"];
    if (proof.find(":[") != std::string::npos) left.insert(proof);
  }
  EXPECT_EQ(left.size(), 7u);
  left.insert(fs::read_symlink("/proc/self/ns/mnt").string());  // the control: it stays in use
  // A number that is free is soon another cell's: what is seen unused once is gone.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (left.size() > 1 && std::chrono::steady_clock::now() < until) {
    const std::set<std::string> in_use = NamespacesInUse();
    std::erase_if(left, [&](const std::string& name) { return !in_use.contains(name); });
  }
  EXPECT_EQ(left, std::set{fs::read_symlink("/proc/self/ns/mnt").string()});
}

TEST(Outcome, ShowsEveryLayerOfTheAttestation) {
  const AttackScene scene;
  const json outcome = scene.Outcome("read file");
  std::string states;
  for (const json& layer : outcome["attestation"]["layers"]) {
    // What there is of control groups is the host's; the tests of limits look closer.
    if (layer["name"] == "control group") continue;
    states += layer["name"].get<std::string>() + ": " + layer["state"].get<std::string>() + "\n";
    EXPECT_NE(layer["proof"], "");
  }
  EXPECT_EQ(states,
            "user namespace: enforced\npid namespace: enforced\nmount namespace: enforced\nipc "
            "namespace: enforced\nuts namespace: enforced\ncgroup namespace: enforced\nnetwork "
            "namespace: enforced\nuser id: enforced\nfile view: enforced\ncapabilities: "
            "enforced\nno_new_privs: enforced\nseccomp: enforced\nlandlock: enforced\nresource "
            "limits: enforced\ndescriptors: enforced\nsession: "
            "enforced\n");
  EXPECT_EQ(outcome["attestation"]["tier"], geteuid() == 0 ? "root" : "userns");
}

}  // namespace
}  // namespace warder::testing
