#include "sandbox/cgroup.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>

#include "sandbox/cgroup_files.h"
#include "sandbox/spawn.h"
#include "tests/support/in_child.h"
#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::StartChild;

constexpr std::size_t kMemory = 32u << 20;
constexpr std::size_t kBomb = 64u << 20;

// Bounded, and unmapped by exit: the same for the control and for the group.
int TouchMemory() {
  void* memory = mmap(nullptr, kBomb, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memset(memory, 1, kBomb);
  return 0;
}

// Forks until it fails, at most 20 children, which the end of the group kills.
int ForkTwenty() {
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = fork();
    if (pid < 0) return 1;
    if (pid == 0) {
      pause();
      _exit(0);
    }
  }
  return 0;
}

// Where a cell's processes are born inside, ours here are moved.
absl::Status Enter(const CellCgroup& group, pid_t pid) {
  if (group.birth() >= 0) {
    absl::Status moved = WriteGroupFile(group.birth(), "cgroup.procs", std::to_string(pid));
    if (!moved.ok()) return moved;
  }
  return group.Adopt({pid});
}

// Runs `body` in a fresh group with `limits`; `after` sees the group and the body's end.
std::string InGroup(const Limits& limits, const std::function<int()>& body,
                    const std::function<std::string(const CellCgroup&, int)>& after) {
  return InLauncher([&](const Host&) -> std::string {
    const auto host = FindCgroupHost(std::nullopt);
    if (!host.ok() || !host->limits()) return "NONE";
    auto group = CellCgroup::Make(*host);
    if (!group.ok()) return std::string(group.status().message());
    int go[2];
    if (pipe(go) != 0) return "PIPE";
    const pid_t pid = StartChild([&] {
      char byte = 0;
      return read(go[0], &byte, 1) == 1 ? body() : 99;
    });
    absl::Status status = Enter(*group, pid);
    if (status.ok()) status = group->SetLimits(limits, 0);
    const auto proof = group->Prove(pid);
    if (write(go[1], "x", 1) != 1) return "GO";
    int end = 0;
    waitpid(pid, &end, 0);
    if (!status.ok() || !proof.ok()) {
      return std::string(status.message()) + std::string(proof.status().message());
    }
    return after(*group, end);
  });
}

#define SKIP_WITHOUT_LIMITS(text) \
  if ((text) == "NONE") GTEST_SKIP() << "no control group with memory and process limits"

TEST(CellCgroup, MemoryLimitKillsAndIsCounted) {
  ASSERT_EQ(::warder::testing::InChild(TouchMemory), 0) << "the control must work";
  Limits limits;
  limits.memory_bytes = kMemory;
  const std::string text = InGroup(limits, TouchMemory, [](const CellCgroup& group, int end) {
    const CgroupUse use = group.Use();
    pollfd event = {group.memory_event(), POLLIN, 0};
    const bool told = group.memory_event() < 0 || poll(&event, 1, 0) == 1;
    return std::string(WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL ? "killed" : "lived") +
           (use.out_of_memory ? " memory" : "") + (use.out_of_processes ? " processes" : "") +
           (told ? " told" : "");
  });
  SKIP_WITHOUT_LIMITS(text);
  EXPECT_EQ(text, "killed memory told");
}

TEST(CellCgroup, WithinItsLimitsNothingIsCounted) {
  Limits limits;
  limits.memory_bytes = 2 * kBomb;
  limits.processes = 25;
  const std::string text = InGroup(
      limits, [] { return TouchMemory() + ForkTwenty(); },
      [](const CellCgroup& group, int end) {
        const CgroupUse use = group.Use();
        return std::to_string(WEXITSTATUS(end)) + (use.out_of_memory ? " memory" : "") +
               (use.out_of_processes ? " processes" : "");
      });
  SKIP_WITHOUT_LIMITS(text);
  EXPECT_EQ(text, "0");
}

TEST(CellCgroup, ProcessLimitRefusesForksAndIsCounted) {
  Limits limits;
  limits.processes = 5;
  const std::string text = InGroup(limits, ForkTwenty, [](const CellCgroup& group, int end) {
    return std::to_string(WEXITSTATUS(end)) +
           (group.Use().out_of_processes ? " processes" : " nothing");
  });
  SKIP_WITHOUT_LIMITS(text);
  EXPECT_EQ(text, "1 processes");
}

TEST(CellCgroup, ProofNamesLimitsAndMissesWhoIsOutside) {
  Limits limits;
  limits.memory_bytes = kMemory + 1;
  limits.processes = 7;
  const std::string text = InGroup(
      limits, [] { return 0; },
      [](const CellCgroup& group, int) -> std::string {
        return std::string(group.Prove(getpid()).status().message());
      });
  SKIP_WITHOUT_LIMITS(text);
  EXPECT_NE(text.find("the tool is not in it"), std::string::npos) << text;
}

TEST(CellCgroup, EveryoneLeftInsideIsKilledWithTheGroup) {
  const std::string text = InLauncher([&](const Host&) -> std::string {
    const auto host = FindCgroupHost(std::nullopt);
    if (!host.ok() || !host->limits()) return "NONE";
    pid_t pid = 0;
    {
      auto group = CellCgroup::Make(*host);
      if (!group.ok()) return std::string(group.status().message());
      pid = StartChild([] { return pause(); });
      const absl::Status status = Enter(*group, pid);
      if (!status.ok()) return std::string(status.message());
    }
    return std::to_string(::warder::testing::ExitCodeOf(pid));
  });
  SKIP_WITHOUT_LIMITS(text);
  EXPECT_EQ(text, "137");
}

TEST(CellCgroup, ChildIsBornInTheUnifiedTreeAndItsTimeIsCounted) {
  const std::string text = InLauncher([&](const Host&) -> std::string {
    const auto host = FindCgroupHost(std::nullopt);
    if (!host.ok() || !host->unified.fd.ok()) return "NONE";
    auto group = CellCgroup::Make(*host);
    if (!group.ok()) return std::string(group.status().message());
    auto child = CloneChild(StepList(), 0, nullptr, nullptr, group->birth());
    if (!child.ok() || !child->Wait().ok()) return "CHILD";
    return group->Use().cpu_us.value_or(0) > 0 ? "counted" : "nothing";
  });
  SKIP_WITHOUT_LIMITS(text);
  EXPECT_EQ(text, "counted");
}

}  // namespace
}  // namespace warder::sandbox
