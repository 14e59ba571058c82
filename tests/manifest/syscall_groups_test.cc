#include "manifest/syscall_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "manifest/policy_fragment.h"

namespace warder::manifest {
namespace {

using sandbox::DenyAction;
using sandbox::SyscallPolicy;
using sandbox::SyscallRule;
using ::testing::HasSubstr;

constexpr const char* kGroups = R"({"schema": 1, "groups": [
  {"name": "files", "reason": "to read", "calls": ["read", "close"]},
  {"name": "mounts", "boundary": true, "reason": "not yours", "calls": ["mount", "umount2"]}]})";

absl::StatusOr<SyscallPolicy> Read(const std::string& syscalls) {
  const auto groups = ParseSyscallGroups(kGroups, "groups.json");
  if (!groups.ok()) return groups.status();
  const auto policy = ParsePolicy(
      R"({"schema": 1, "description": "d", "syscalls": )" + syscalls + "}", "p.json", *groups);
  if (!policy.ok()) return policy.status();
  return policy->syscalls;
}

std::string FaultOf(const std::string& syscalls) {
  const auto policy = Read(syscalls);
  EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument) << syscalls;
  return std::string(policy.status().message());
}

std::string GroupsFault(const std::string& text) {
  const auto groups = ParseSyscallGroups(text, "groups.json");
  EXPECT_FALSE(groups.ok());
  return std::string(groups.status().message());
}

TEST(SyscallGroups, GroupBecomesOneRuleForEachCallWithTheReasonOfTheGroup) {
  const auto policy = Read(R"({"groups": [
    {"effect": "allow", "groups": ["files"], "reason": "r"},
    {"effect": "deny", "groups": ["mounts"], "error": "EACCES", "reason": "r"}]})");
  ASSERT_TRUE(policy.ok()) << policy.status();
  ASSERT_EQ(policy->allow.size(), 2u);
  EXPECT_EQ(policy->allow[1].name, "close");
  EXPECT_EQ(policy->allow[1].reason, "to read");
  ASSERT_EQ(policy->deny.size(), 2u);
  EXPECT_EQ(policy->deny[0].name, "mount");
  EXPECT_EQ(policy->deny[0].error, EACCES);
  EXPECT_EQ(policy->deny[0].place, "p.json:3");
  EXPECT_EQ(policy->deny[0].group, "mounts");
  EXPECT_TRUE(policy->deny[0].boundary);
  EXPECT_FALSE(policy->allow[0].boundary);
}

TEST(SyscallGroups, DenyIsEpermUnlessTheRuleSaysOtherwise) {
  const auto policy = Read(R"({"deny": [
    {"calls": ["acct"], "reason": "r"},
    {"calls": ["bpf"], "error": "ENOSYS", "reason": "r"},
    {"calls": ["ptrace"], "action": "kill", "reason": "r"}]})");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->deny[0].error, EPERM);
  EXPECT_EQ(policy->deny[1].error, ENOSYS);
  EXPECT_EQ(policy->deny[2].action, DenyAction::kKillProcess);
}

TEST(SyscallGroups, ValuesAndBitsOfAConditionAreAlternatives) {
  const auto policy = Read(R"({"allow": [{"calls": ["socket"], "when": [
      {"arg": 0, "mask": "0xffffffff", "values": [1, "0x2"]},
      {"arg": 1, "any_bit": "0x8000000000000001"}], "reason": "r"}]})");
  ASSERT_TRUE(policy.ok()) << policy.status();
  ASSERT_EQ(policy->allow.size(), 4u);
  const SyscallRule& last = policy->allow[3];
  ASSERT_EQ(last.when.size(), 2u);
  EXPECT_EQ(last.when[0].index, 0u);
  EXPECT_EQ(last.when[0].mask, 0xffffffffu);
  EXPECT_EQ(last.when[0].value, 2u);
  EXPECT_EQ(last.when[1].index, 1u);
  EXPECT_EQ(last.when[1].mask, 0x8000000000000000u);
  EXPECT_EQ(last.when[1].value, 0x8000000000000000u);
}

TEST(SyscallGroups, FaultsAreToldWithPlaceFieldAndRemedy) {
  EXPECT_THAT(FaultOf(R"({"allow": [{"calls": ["raed"], "reason": "r"}]})"),
              HasSubstr("syscalls.allow[0].calls: `raed` is no system call"));
  EXPECT_THAT(FaultOf(R"({"groups": [{"effect": "allow", "groups": ["fils"], "reason": "r"}]})"),
              HasSubstr("`fils` is not in syscall_groups.json"));
  EXPECT_THAT(FaultOf(R"({"groups": [{"groups": ["files"], "reason": "r"}]})"),
              HasSubstr("effect: is missing"));
  EXPECT_THAT(FaultOf(R"({"deny": [{"calls": ["acct"], "error": "EFOO", "reason": "r"}]})"),
              HasSubstr("must be the name of an errno"));
  EXPECT_THAT(
      FaultOf(
          R"({"deny": [{"calls": ["acct"], "action": "kill", "error": "EPERM", "reason": "r"}]})"),
      HasSubstr("has no meaning with action"));
  EXPECT_THAT(FaultOf(R"({"deny": [{"calls": [], "reason": "r"}]})"), HasSubstr("calls: is empty"));
  EXPECT_THAT(FaultOf(R"({"allow": [{"calls": ["read"], "error": "EPERM", "reason": "r"}]})"),
              HasSubstr("unknown key"));
}

TEST(SyscallGroups, ConditionsThatCannotMeanAnythingAreRefused) {
  const auto when = [](const std::string& condition) {
    return FaultOf(R"({"allow": [{"calls": ["kill"], "when": [)" + condition +
                   R"(], "reason": "r"}]})");
  };
  EXPECT_THAT(when(""), HasSubstr("when: is empty"));
  EXPECT_THAT(when(R"({"arg": 6, "any_bit": 1})"),
              HasSubstr("arg: must be a whole number from 0 to 5"));
  EXPECT_THAT(when(R"({"arg": 0, "any_bit": 0})"), HasSubstr("any_bit: is 0"));
  EXPECT_THAT(when(R"({"arg": 0, "mask": 0, "values": [0]})"), HasSubstr("mask: is 0"));
  EXPECT_THAT(when(R"({"arg": 0, "values": [0]})"), HasSubstr("mask: is missing"));
  EXPECT_THAT(when(R"({"arg": 0, "mask": 1, "values": []})"), HasSubstr("at least one number"));
  EXPECT_THAT(when(R"({"arg": 0, "mask": 1, "values": [2]})"), HasSubstr("outside `mask`"));
  for (const char* number :
       {"-1", "1.5", "\"12\"", "\"0x\"", "\"0x1g\"", "\"0x10000000000000000\"", "null"}) {
    EXPECT_THAT(when(std::string(R"({"arg": 0, "any_bit": )") + number + "}"),
                HasSubstr("must be a whole number or a hexadecimal string"))
        << number;
  }
}

TEST(SyscallGroups, OneEntryMakesABoundedNumberOfRules) {
  const std::string all_bits = R"("any_bit": "0xffffffffffffffff"})";
  EXPECT_THAT(FaultOf(R"({"allow": [{"calls": ["kill"], "when": [{"arg": 0, )" + all_bits +
                      R"(, {"arg": 1, )" + all_bits + R"(], "reason": "r"}]})"),
              HasSubstr("more than 256 combinations"));
}

TEST(SyscallGroups, EachCallStandsInOneGroupAndEachGroupHasOneName) {
  EXPECT_THAT(GroupsFault(R"({"schema": 1, "groups": [
      {"name": "a", "reason": "r", "calls": ["read"]}, {"name": "b", "reason": "r", "calls": ["read"]}]})"),
              HasSubstr("`read` stands in another group"));
  EXPECT_THAT(GroupsFault(R"({"schema": 1, "groups": [
      {"name": "a", "reason": "r", "calls": ["read"]}, {"name": "a", "reason": "r", "calls": ["write"]}]})"),
              HasSubstr("the name of another group"));
  EXPECT_THAT(
      GroupsFault(R"({"schema": 1, "groups": [{"name": "a", "reason": " ", "calls": ["read"]}]})"),
      HasSubstr("must say why"));
}

}  // namespace
}  // namespace warder::manifest
