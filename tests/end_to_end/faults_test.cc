// The calls that set up a cell, refused by the kernel one at a time: the call ends with a typed
// failure, nothing has run and nothing is left; or Warder can do without, and the cell is the same.
//
// A part of them in every run. WARDER_FAULTS=COUNT: each of them once, and more at random up to
// COUNT (`./dev faults`).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/syscall_filter.h"
#include "tests/support/faulty_run.h"
#include "tests/support/in_launcher.h"
#include "tests/support/leftovers.h"
#include "tests/support/run_warder.h"

namespace warder::testing {
namespace {

using nlohmann::json;

constexpr std::size_t kQuickFaults = 90;  // of an ordinary run: seconds

// What a kernel may answer to a call. ENOENT, EACCES and EINTR are not among them: they are
// answers, not failures.
std::vector<int> PlausibleErrors(int number) {
  switch (number) {
    case SYS_clone3:
    case SYS_unshare:
      return {EPERM, ENOMEM, ENOSPC, EAGAIN};
    case SYS_openat:
    case SYS_openat2:
    case SYS_pipe2:
    case SYS_dup3:
    case SYS_socket:
      return {EIO, EMFILE, ENFILE, ENOMEM};
    case SYS_mount:
    case SYS_move_mount:
    case SYS_open_tree:
    case SYS_mount_setattr:
    case SYS_pivot_root:
      return {EPERM, ENOMEM, ENOSPC, EINVAL};
    case SYS_prctl:  // of a capability that it does not know the kernel says EINVAL
      return {EPERM, ENOMEM, EINVAL};
    case SYS_read:
    case SYS_write:
      return {EIO, ENOMEM, ENOSPC};
    case SYS_epoll_ctl:  // EPERM means a kind of file that needs no waiting (epoll_ctl(2))
      return {ENOMEM, ENOSPC};
    default:
      return {EPERM, ENOMEM, EIO, ENOSYS};
  }
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// What programs/facts.cc printed, without what differs between two cells that are alike.
std::string Normal(std::string facts) {
  std::string normal;
  std::istringstream lines(facts);
  std::string uid;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Uid:\t")) uid = line.substr(5, line.find('\t', 5) - 5);
    const std::string name = line.substr(0, line.find(":["));
    if (line.starts_with("namespace ")) {
      const std::string link = "/proc/self/ns/" + name.substr(10);
      const bool host = std::filesystem::read_symlink(link).string() == line.substr(10);
      line = name + (host ? " of the host" : " of its own");
    }
    normal += line + "\n";
  }
  return uid.empty() ? normal : Replaced(normal, uid, "UID");
}

class Faults : public ::testing::Test {
 protected:
  Faults() {
    std::filesystem::copy_file(WARDER_PROGRAMS_DIR "/facts", host_.Workspace() + "/facts");
    host_.Declare(WarderHost::Tool("t", R"(["./facts"])"));
    host_.tree().Directory("tmp");
    command_.argv = {WARDER_BINARY, "--config-dir", host_.Config(),    "--state-dir",
                     At("state"),   "--workspace",  host_.Workspace(), "call",
                     "t",           "--approve",    "allow-all",       "--json"};
    command_.environment = {"PATH=/usr/bin:/bin", "HOME=" + At("home"),
                            "XDG_RUNTIME_DIR=" + At("run"), "TMPDIR=" + At("tmp")};
    command_.directory = host_.Workspace();
  }

  std::string At(const std::string& name) const { return host_.tree().At(name); }
  std::string Marker() const { return host_.Workspace() + "/ran"; }

  FaultyRun Run(const Fault& fault) const {
    std::filesystem::remove(Marker());
    return RunWithFault(command_, fault);
  }

  // Once, without a fault: the calls, and what a sound cell looks like.
  std::vector<SetupCall> Learn() {
    mounts_ = ReadFileText("/proc/self/mountinfo");
    const FaultyRun run = Run({});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    const json outcome = json::parse(run.out, nullptr, false);
    if (!outcome.is_object()) return {};
    facts_ = Normal(outcome["stdout"]["text"]);
    layers_ = States(outcome);
    // The first is the one that starts Warder.
    std::vector<SetupCall> calls = run.calls;
    std::erase(calls, SetupCall{kSupervisorRole, SYS_execve, 0});
    return calls;
  }

  static std::map<std::string, std::string> States(const json& outcome) {
    std::map<std::string, std::string> states;
    for (const json& layer : outcome["attestation"]["layers"]) {
      states[layer["name"]] = layer["state"];
    }
    return states;
  }

  std::string JudgeSuccess(const FaultyRun& run, const json& outcome) const {
    if (run.exit_code != 0 || !outcome.is_object() || outcome["ending"] != "exited") {
      return "the tool ran, and the outcome is another";
    }
    std::map<std::string, std::string> states = States(outcome);
    const std::string facts = Normal(outcome["stdout"]["text"]);
    if (states == layers_) return facts == facts_ ? "" : "another cell than attested:\n" + facts;
    // The one layer that `default` can do without.
    if (states["control group"] != "degraded") return "another attestation";
    states["control group"] = layers_.at("control group");
    return states == layers_ ? "" : "another attestation";
  }

  std::string JudgeFailure(const FaultyRun& run, const Fault& fault, const json& outcome) const {
    if (run.exit_code < 125 || run.exit_code > 127) return "not an exit code of a failed setup";
    std::string words = run.err;
    if (outcome.is_object()) {
      words = outcome["text"];
      if (outcome["ending"] != "could_not_start" && outcome["ending"] != "refused") {
        return "not an ending of a failed setup";
      }
    } else if (fault.call.role >= kFirstCellRole) {
      return "no outcome";
    }
    if (words.find("warder: ") != 0 && words.find("`t` ") != 0) return "no message of ours";
    // A child that cannot report has ended all the same, and is named. Where a step took the error
    // for a kernel that lacks the thing, only the proof sees it, and names the layer.
    const bool named = words.find(strerror(fault.error)) != std::string::npos ||
                       words.find("ended") != std::string::npos ||
                       words.find("could not be proven") != std::string::npos;
    return named || fault.call.role < kFirstCellRole ? "" : "the error is not named";
  }

  std::string Judge(const FaultyRun& run, const Fault& fault) {
    launchers_.push_back(run.launcher);
    if (run.hung) return "hung";
    if (run.signal != 0) return "died of a signal";
    if (run.left != 0) return "processes are left";
    if (ReadFileText("/proc/self/mountinfo") != mounts_) return "a mount is left";
    if (!std::filesystem::is_empty(At("tmp"))) return "a temporary file is left";
    const json outcome = json::parse(run.out, nullptr, false);
    const bool ran = std::filesystem::exists(Marker());
    ++(ran ? tolerated_ : failed_);
    return ran ? JudgeSuccess(run, outcome) : JudgeFailure(run, fault, outcome);
  }

  void Try(const Fault& fault) {
    const FaultyRun run = Run(fault);
    const std::string problem = Judge(run, fault);
    if (problem.empty()) return;
    ADD_FAILURE() << "process " << fault.call.role << ", "
                  << sandbox::SyscallName(fault.call.number) << " number " << fault.call.index
                  << ", " << strerrorname_np(fault.error) << ": " << problem << "\nexit code "
                  << run.exit_code << "\n"
                  << run.err << run.out.substr(0, 400);
  }

  WarderHost host_;
  FaultyCommand command_;
  std::string mounts_, facts_;
  std::map<std::string, std::string> layers_;
  std::vector<pid_t> launchers_;
  int tolerated_ = 0, failed_ = 0;
};

// Each kind of call of each process first, those of the cell's own before the others; then whatever
// chance picks.
std::vector<SetupCall> Ordered(std::vector<SetupCall> calls, std::mt19937& random) {
  std::shuffle(calls.begin(), calls.end(), random);
  std::set<std::pair<int, int>> kinds;
  const auto rest = std::stable_partition(calls.begin(), calls.end(), [&](const SetupCall& call) {
    return kinds.emplace(call.role, call.number).second;
  });
  std::stable_partition(calls.begin(), rest,
                        [](const SetupCall& call) { return call.role >= kFirstCellRole; });
  return calls;
}

TEST_F(Faults, EveryOneEndsAsATypedFailureOrChangesNothing) {
  const std::vector<SetupCall> all = Learn();
  ASSERT_FALSE(all.empty());
  std::mt19937 random(20'26);
  std::vector<SetupCall> calls = Ordered(all, random);
  const char* const wanted = getenv("WARDER_FAULTS");
  const std::size_t count = wanted == nullptr ? std::min(kQuickFaults, calls.size())
                                              : static_cast<std::size_t>(atol(wanted));
  for (std::size_t i = 0; i < count; ++i) {
    const SetupCall& call = calls[i % calls.size()];
    const std::vector<int> errors = PlausibleErrors(call.number);
    Try({call, errors[random() % errors.size()]});
    if (wanted != nullptr && i % 100 == 99) std::cout << i + 1 << " faults" << std::endl;
  }
  std::cout << count << " faults in " << calls.size() << " calls: " << failed_ << " failures, "
            << tolerated_ << " cells that are the same\n";
  EXPECT_GE(failed_, static_cast<int>(count / 2));
  EXPECT_EQ(Run({}).exit_code, 0);
  // What a launcher could not remove goes with the start of the next one.
  for (const std::string& group : DeadGroups()) {
    for (const pid_t launcher : launchers_) {
      const std::string name = "/warder-" + std::to_string(launcher) + "-";
      EXPECT_EQ(group.find(name), std::string::npos) << group;
    }
  }
}

}  // namespace
}  // namespace warder::testing
