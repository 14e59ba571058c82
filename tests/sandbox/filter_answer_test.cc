#include "sandbox/filter_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/bpf_evaluator.h"

namespace warder::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kIntBits = 0xffffffff;

SyscallRule Rule(std::string name, std::string reason, std::vector<ArgMatch> when = {}) {
  SyscallRule rule;
  rule.name = std::move(name);
  rule.reason = std::move(reason);
  rule.when = std::move(when);
  return rule;
}

SyscallPolicy Sample() {
  SyscallPolicy policy;
  policy.allow = {Rule("getpid", "own id"), Rule("ioctl", "terminals"),
                  Rule("kill", "signal 0", {{1, kIntBits, 0}})};
  policy.deny = {Rule("ioctl", "TIOCSTI", {{1, kIntBits, 0x5412}}), Rule("mount", "the wall"),
                 Rule("clone3", "probe"), Rule("ptrace", "escape")};
  policy.deny[2].error = ENOSYS;
  policy.deny[3].action = DenyAction::kKillProcess;
  return policy;
}

class FilterAnswerTest : public ::testing::TestWithParam<DenialAnswer> {
 protected:
  FilterAnswer To(const seccomp_data& call) {
    const auto answer = answers_.To(call);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.value_or(FilterAnswer());
  }
  FilterAnswer To(const std::string& name, const std::vector<std::uint64_t>& arguments = {}) {
    return To(NativeCall(SyscallNumber(name), arguments));
  }
  // How this filter refuses what a listener would answer.
  std::string Refused() const { return GetParam() == DenialAnswer::kNotify ? "notify" : "errno"; }

  SyscallPolicy policy_ = Sample();
  SyscallFilter filter_ = *CompileSyscallFilter(policy_, GetParam());
  FilterAnswers answers_{policy_, filter_};
};

TEST_P(FilterAnswerTest, NamesTheRuleThatMadeTheVerdict) {
  EXPECT_EQ(AnswerText(To("getpid")), "allow");
  EXPECT_EQ(To("getpid").cause, Cause::kAllowRule);
  EXPECT_EQ(To("getpid").rule->reason, "own id");
  EXPECT_EQ(AnswerText(To("ioctl", {0, 0x5401})), "allow");
  EXPECT_EQ(To("ioctl", {0, 0x5401}).rule->reason, "terminals");
  EXPECT_EQ(AnswerText(To("ioctl", {0, 0x100005412})), Refused() + " EPERM");
  EXPECT_EQ(To("ioctl", {0, 0x5412}).cause, Cause::kDenyRule);
  EXPECT_EQ(To("ioctl", {0, 0x5412}).rule->reason, "TIOCSTI");
  EXPECT_EQ(AnswerText(To("mount")), Refused() + " EPERM");
  EXPECT_EQ(AnswerText(To("clone3")), "errno ENOSYS");
  EXPECT_EQ(To("clone3").rule->reason, "probe");
  EXPECT_EQ(AnswerText(To("ptrace")), "kill");
  EXPECT_EQ(To("ptrace").rule->reason, "escape");
}

TEST_P(FilterAnswerTest, SaysWhenNoRuleMadeIt) {
  for (const FilterAnswer& answer : {To("read"), To("kill", {1, 9}), To(NativeCall(999))}) {
    EXPECT_EQ(AnswerText(answer), "errno ENOSYS");
    EXPECT_EQ(answer.cause, Cause::kNoRule);
    EXPECT_EQ(answer.rule, nullptr);
  }
  const FilterAnswer foreign = To(CallBy(Abi::kI386, SyscallNumber("getpid", Abi::kI386)));
  EXPECT_EQ(AnswerText(foreign), "kill");
  EXPECT_EQ(foreign.cause, Cause::kForeignAbi);
  EXPECT_EQ(foreign.rule, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Answers, FilterAnswerTest,
                         ::testing::Values(DenialAnswer::kNotify, DenialAnswer::kErrno),
                         [](const auto& parameter) {
                           return parameter.param == DenialAnswer::kNotify ? "Notify" : "Errno";
                         });

TEST(FilterAnswer, RulesThatTheBytesDoNotFollowAreAFault) {
  const SyscallPolicy policy = Sample();
  const SyscallFilter filter = *CompileSyscallFilter(policy);
  const auto fault = [&](const SyscallPolicy& rules, const std::string& name) {
    const auto answer = FilterAnswers(rules, filter).To(NativeCall(SyscallNumber(name)));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInternal) << name;
    return std::string(answer.status().message());
  };
  SyscallPolicy other = policy;
  other.allow.erase(other.allow.begin());
  EXPECT_THAT(
      fault(other, "getpid"),
      HasSubstr("the compiled filter answers `allow`, the policy's rules say `errno ENOSYS`"));
  other = policy;
  other.deny[1].error = EACCES;
  EXPECT_THAT(fault(other, "mount"),
              HasSubstr("`notify EPERM`, the policy's rules say `notify EACCES`"));
  other.deny[1].action = DenyAction::kKillProcess;
  EXPECT_THAT(fault(other, "mount"), HasSubstr("say `kill`"));
}

TEST(FilterAnswer, BytesThatAreNoProgramAreAFault) {
  const SyscallPolicy policy = Sample();
  SyscallFilter filter = *CompileSyscallFilter(policy);
  filter.deny.clear();
  EXPECT_FALSE(FilterAnswers(policy, filter).To(NativeCall(SyscallNumber("getpid"))).ok());
  filter = *CompileSyscallFilter(policy);
  filter.notifying.clear();
  const auto answer = FilterAnswers(policy, filter).To(NativeCall(SyscallNumber("mount")));
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("asks the listener"));
}

TEST(FilterAnswer, DecidingArgumentsAreThoseThatRulesLookAt) {
  const SyscallPolicy policy = Sample();
  const SyscallFilter filter = *CompileSyscallFilter(policy);
  const FilterAnswers answers(policy, filter);
  EXPECT_THAT(answers.DecidingArguments(SyscallNumber("ioctl")), ElementsAre(1));
  EXPECT_THAT(answers.DecidingArguments(SyscallNumber("getpid")), IsEmpty());
  EXPECT_THAT(answers.DecidingArguments(SyscallNumber("read")), IsEmpty());
}

}  // namespace
}  // namespace warder::sandbox
