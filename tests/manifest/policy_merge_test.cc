#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "manifest/policy_fragment.h"

namespace warder::manifest {
namespace {

using sandbox::PathAccess;
using sandbox::SyscallRule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PolicyFragment Parsed(const std::string& members) {
  auto policy =
      ParsePolicy(R"({"schema": 1, "description": "d", )" + members + "}", "top.json", {});
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : PolicyFragment();
}

PolicyFragment Extended(const std::string& base, const std::string& extending) {
  auto policy = ExtendPolicy(Parsed(base), Parsed(extending));
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : PolicyFragment();
}

std::vector<std::string> Names(const std::vector<SyscallRule>& rules) {
  std::vector<std::string> names;
  for (const SyscallRule& rule : rules) names.push_back(rule.name + (rule.when.empty() ? "" : "?"));
  return names;
}

std::string Limit(const char* key, std::uint64_t value) {
  return std::string("\"limits\": {\"") + key + "\": {\"max\": " + std::to_string(value) +
         ", \"reason\": \"r\"}}";
}

TEST(PolicyMerge, ListsMergeAndTheExtendingFileWinsOnTheSamePath) {
  const PolicyFragment policy = Extended(
      R"("filesystem": {"read": [{"paths": ["/a", "/b"], "reason": "base"}],
                        "hide": [{"paths": ["/a/x"], "reason": "base"}],
                        "protect": [{"paths": [".git"], "reason": "base"}]})",
      R"("filesystem": {"write": [{"paths": ["/b", "/c"], "reason": "top"}],
                        "hide": [{"paths": ["/a/y"], "reason": "top"}],
                        "protect": [{"paths": [".git", ".basis"], "reason": "top"}]})");
  ASSERT_EQ(policy.grants.size(), 3u);
  EXPECT_EQ(policy.grants[0].access, PathAccess::kRead);
  EXPECT_EQ(policy.grants[1].path, "/b");
  EXPECT_EQ(policy.grants[1].access, PathAccess::kReadWrite);
  EXPECT_EQ(policy.grants[1].reason, "top");
  EXPECT_EQ(policy.grants[2].path, "/c");
  EXPECT_EQ(policy.hide.size(), 2u);
  ASSERT_EQ(policy.protect.size(), 2u);
  EXPECT_EQ(policy.protect[0].reason, "top");
}

TEST(PolicyMerge, ScalarsOfTheExtendingFileWinAndAbsentOnesAreInherited) {
  const std::string base = R"("network": {"mode": "host", "reason": "r"},
      "filesystem": {"workspace": {"mode": "read-write", "reason": "r"}},
      "minimum_tier": {"tier": "root", "reason": "r"},
      "approval": {"approver": "program", "program": ["/a"], "use_by_ms": 2000, "session_grants": true, "reason": "r"},
      "environment": {"inherit": {"mode": "all", "reason": "r"}, "readable": {"names": ["A"], "reason": "r"}})";
  const PolicyFragment same = Extended(base, R"("abstract": false)");
  EXPECT_EQ(same.network, sandbox::NetworkMode::kHost);
  EXPECT_EQ(same.workspace, sandbox::WorkspaceMode::kReadWrite);
  EXPECT_EQ(same.minimum_tier, sandbox::Tier::kRoot);
  EXPECT_EQ(same.approver, "program");
  EXPECT_THAT(same.approver_program, ElementsAre("/a"));

  const PolicyFragment other = Extended(base, R"("network": {"mode": "none", "reason": "r"},
      "filesystem": {"workspace": {"mode": "read-only", "reason": "r"}},
      "minimum_tier": {"tier": "userns", "reason": "r"},
      "approval": {"approver": "ask", "reason": "r"},
      "environment": {"inherit": {"mode": "baseline", "reason": "r"}, "readable": {"names": ["B"], "reason": "r"}})");
  EXPECT_EQ(other.network, sandbox::NetworkMode::kNone);
  EXPECT_EQ(other.workspace, sandbox::WorkspaceMode::kReadOnly);
  EXPECT_EQ(other.minimum_tier, sandbox::Tier::kUserns);
  EXPECT_EQ(other.approver, "ask");
  EXPECT_THAT(other.approver_program, IsEmpty());
  EXPECT_EQ(other.use_by_ms, 2000u);
  EXPECT_EQ(other.session_grants, true);
  EXPECT_EQ(other.inherit_all, false);
  EXPECT_THAT(*other.readable, ElementsAre("B"));
}

TEST(PolicyMerge, AbstractIsNotInherited) {
  EXPECT_FALSE(Extended(R"("abstract": true)", R"("extends": "x")").abstract);
}

TEST(PolicyMerge, VariablesMergeByName) {
  const PolicyFragment policy = Extended(
      R"("environment": {"baseline": [{"names": ["A", "B"], "reason": "r"}],
                         "fixed": [{"name": "X", "value": "1", "reason": "r"}]})",
      R"("environment": {"baseline": [{"names": ["B", "C"], "reason": "r"}],
                         "fixed": [{"name": "X", "value": "2", "reason": "r"}, {"name": "Y", "value": "3", "reason": "r"}]})");
  EXPECT_THAT(policy.baseline, ElementsAre("A", "B", "C"));
  EXPECT_THAT(policy.fixed, ElementsAre(std::pair<std::string, std::string>("X", "2"),
                                        std::pair<std::string, std::string>("Y", "3")));
}

TEST(PolicyMerge, LimitsOnlyTighten) {
  for (const LimitField& field : LimitFields()) {
    const auto most = static_cast<std::uint64_t>(field.most);
    const PolicyFragment tighter = Extended(Limit(field.key, most), Limit(field.key, most - 1));
    EXPECT_EQ(tighter.limits.*field.member, most - 1);
    EXPECT_EQ(Extended(Limit(field.key, most), R"("abstract": false)").limits.*field.member, most);
    EXPECT_EQ(Extended(R"("abstract": false)", Limit(field.key, most)).limits.*field.member, most);
    const auto wider =
        ExtendPolicy(Parsed(Limit(field.key, most - 1)), Parsed(Limit(field.key, most)));
    EXPECT_EQ(wider.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(wider.status().message()),
                HasSubstr(std::string("top.json: limits.") + field.key + ": " +
                          std::to_string(most) + " is above"));
  }
}

TEST(PolicyMerge, AllowLiftsAnInheritedDenyWithoutConditionsAndNoOther) {
  const PolicyFragment policy = Extended(
      R"("syscalls": {"deny": [
          {"calls": ["ptrace", "mount"], "reason": "r"},
          {"calls": ["ioctl"], "when": [{"arg": 1, "mask": "0xffffffff", "values": ["0x5412"]}], "reason": "r"}]})",
      R"("syscalls": {"allow": [{"calls": ["ptrace", "ioctl"], "reason": "r"}]})");
  EXPECT_THAT(Names(policy.syscalls.allow), ElementsAre("ptrace", "ioctl"));
  EXPECT_THAT(Names(policy.syscalls.deny), ElementsAre("mount", "ioctl?"));
}

TEST(PolicyMerge, DenyWithoutConditionsReplacesWhatWasInheritedForTheCall) {
  const PolicyFragment policy = Extended(
      R"("syscalls": {"allow": [{"calls": ["socket", "read"], "reason": "r"}],
                      "deny": [{"calls": ["socket"], "when": [{"arg": 0, "any_bit": 1}], "reason": "r"}]})",
      R"("syscalls": {"deny": [{"calls": ["socket"], "error": "EACCES", "reason": "r"}]})");
  EXPECT_THAT(Names(policy.syscalls.allow), ElementsAre("read"));
  ASSERT_THAT(Names(policy.syscalls.deny), ElementsAre("socket"));
  EXPECT_EQ(policy.syscalls.deny[0].error, EACCES);
}

TEST(PolicyMerge, DefaultsOfAFinishedPolicyGrantNothing) {
  const auto policy = FinishPolicy(Parsed(R"("abstract": false)"));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_TRUE(policy->confinement.filesystem.grants.empty());
  EXPECT_EQ(policy->confinement.filesystem.workspace, sandbox::WorkspaceMode::kReadOnly);
  EXPECT_EQ(policy->confinement.network, sandbox::NetworkMode::kNone);
  EXPECT_EQ(policy->confinement.without_cgroup, sandbox::OnMissing::kRefuse);
  EXPECT_EQ(policy->confinement.without_landlock, sandbox::OnMissing::kRefuse);
  EXPECT_FALSE(policy->environment.inherit_all);
  EXPECT_EQ(policy->approval.approver, "ask");
  EXPECT_FALSE(policy->approval.session_grants);
}

TEST(PolicyMerge, CallsThatContradictEachOtherAreRefusedWithTheFile) {
  const auto policy =
      FinishPolicy(Parsed(R"("syscalls": {"allow": [{"calls": ["read"], "reason": "a"}],
                                                          "deny": [{"calls": ["read"], "reason": "b"}]})"));
  EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(policy.status().message()),
              HasSubstr("top.json: syscalls: system call `read`: it is both allowed and denied"));
}

}  // namespace
}  // namespace warder::manifest
