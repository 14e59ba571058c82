#include "sandbox/plan.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::SmallPolicy;

// The kinds of the tool's steps under `policy`, without running them.
absl::StatusOr<std::vector<StepKind>> ToolKinds(const Policy& policy, int landlock_abi = 6) {
  auto filter = CompileSyscallFilter(policy.syscalls);
  if (!filter.ok()) return filter.status();
  Host host;
  host.landlock_abi = landlock_abi;
  CellRequest request;
  request.policy = &policy;
  request.filter = &*filter;
  request.host = &host;
  CellNamespaces namespaces;
  namespaces.entries.push_back({CLONE_NEWPID, "pid", UniqueFd()});
  namespaces.entries.push_back({CLONE_NEWUSER, "user", UniqueFd()});
  ProgramRequest program;
  program.cwd = "/";
  program.files.push_back({"/usr/bin/true", -1, {}, false});
  StepList steps;
  absl::Status status = PlanTool(request, program, namespaces, {}, steps);
  if (!status.ok()) return status;
  std::vector<StepKind> kinds;
  for (const Step& step : steps.steps()) kinds.push_back(step.kind);
  return kinds;
}

std::size_t Position(const std::vector<StepKind>& kinds, StepKind kind) {
  return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

TEST(PlanTool, StepsComeInTheOrderThatConfinementNeeds) {
  const auto kinds = ToolKinds(SmallPolicy());
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  const StepKind order[] = {StepKind::kJoinNamespace,    StepKind::kCloneSibling,
                            StepKind::kSetGroup,         StepKind::kSetUser,
                            StepKind::kNewNamespace,     StepKind::kOpenExpected,
                            StepKind::kLandlockCreate,   StepKind::kDropBounding,
                            StepKind::kSetCapabilities,  StepKind::kNoNewPrivileges,
                            StepKind::kLandlockRestrict, StepKind::kCloseRange,
                            StepKind::kUnblockSignals,   StepKind::kSeccomp,
                            StepKind::kReport,           StepKind::kExec};
  for (std::size_t i = 1; i < std::size(order); ++i) {
    EXPECT_LT(Position(*kinds, order[i - 1]), Position(*kinds, order[i])) << StepName(order[i]);
  }
}

TEST(PlanTool, NothingButTheBarrierFollowsTheFilterAndNothingFollowsExec) {
  const auto kinds = ToolKinds(SmallPolicy());
  ASSERT_TRUE(kinds.ok());
  const std::vector<StepKind> end(kinds->end() - 5, kinds->end());
  EXPECT_EQ(end, (std::vector<StepKind>{StepKind::kSeccomp, StepKind::kSeccomp, StepKind::kReport,
                                        StepKind::kReadGo, StepKind::kExec}));
}

TEST(PlanTool, PolicyThatCannotStartAProgramIsRefusedByTheCallItLacks) {
  for (const char* call : {"read", "write", "execveat", "exit_group"}) {
    Policy policy = SmallPolicy();
    std::erase_if(policy.syscalls.allow,
                  [&](const SyscallRule& rule) { return rule.name == call; });
    const auto kinds = ToolKinds(policy);
    EXPECT_EQ(kinds.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(kinds.status().message()).find(call), std::string::npos);
  }
}

TEST(PlanTool, OnlyThePolicyLeavesLandlockOut) {
  Policy policy = SmallPolicy();
  auto kinds = ToolKinds(policy, 0);
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  EXPECT_LT(Position(*kinds, StepKind::kLandlockRestrict), kinds->size());
  policy.without_landlock = OnMissing::kDegrade;
  kinds = ToolKinds(policy, 0);
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  for (const StepKind kind :
       {StepKind::kLandlockCreate, StepKind::kLandlockRule, StepKind::kLandlockRestrict}) {
    EXPECT_EQ(Position(*kinds, kind), kinds->size()) << StepName(kind);
  }
  kinds = ToolKinds(policy, 1);
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  EXPECT_LT(Position(*kinds, StepKind::kLandlockRestrict), kinds->size());
}

TEST(PlanTool, UnknownCapabilityIsRefused) {
  Policy policy = SmallPolicy();
  policy.capabilities = {"cap_everything"};
  EXPECT_EQ(ToolKinds(policy).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CellCloneFlags, NetworkNamespaceOnlyWhenThePolicyIsolatesIt) {
  Policy policy = SmallPolicy();
  EXPECT_NE(CellCloneFlags(policy) & CLONE_NEWNET, 0u);
  policy.network = NetworkMode::kHost;
  EXPECT_EQ(CellCloneFlags(policy) & CLONE_NEWNET, 0u);
  EXPECT_NE(CellCloneFlags(policy) & CLONE_NEWPID, 0u);
}

}  // namespace
}  // namespace warder::sandbox
