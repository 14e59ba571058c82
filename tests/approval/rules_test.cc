#include "approval/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using ::testing::HasSubstr;
using testing::SampleTicket;

RuleSet Rules(const std::vector<std::string>& rules) {
  absl::StatusOr<RuleSet> set = RuleSet::Parse(
      R"({"schema": 1, "rules": [)" + absl::StrJoin(rules, ",") + "]}", "rules.json");
  EXPECT_TRUE(set.ok()) << set.status();
  return *std::move(set);
}

std::string Rule_(const std::string& name, const std::string& effect,
                  const std::string& predicates) {
  return R"({"name": ")" + name + R"(", "reason": "because )" + name + R"(", "effect": ")" +
         effect + "\"" + (predicates.empty() ? "" : ", " + predicates) + "}";
}

// "allow", "deny", "failed" or "none".
std::string Result(const RuleSet& rules, const Ticket& ticket) {
  const std::optional<Decision> decision = rules.Decide(ticket);
  if (!decision) return "none";
  if (decision->failed) return "failed";
  return VerdictName(decision->verdict);
}

std::string ResultOf(const std::string& predicates, const Ticket& ticket = SampleTicket()) {
  return Result(Rules({Rule_("r", "allow", predicates)}), ticket);
}

TEST(Rules, EachPredicateDecides) {
  EXPECT_EQ(ResultOf(R"("tool": "report")"), "allow");
  EXPECT_EQ(ResultOf(R"("tool": "report2")"), "none");
  EXPECT_EQ(ResultOf(R"("tool": "repor")"), "none");
  EXPECT_EQ(ResultOf(R"("workspace": "/ws")"), "allow");
  EXPECT_EQ(ResultOf(R"("workspace": "/w")"), "none");
  EXPECT_EQ(ResultOf(R"("workspace": "/**")"), "allow");
  EXPECT_EQ(ResultOf(R"("policy": "default")"), "allow");
  EXPECT_EQ(ResultOf(R"("policy": "offline")"), "none");
  EXPECT_EQ(ResultOf(R"("side_effect": "process")"), "allow");
  EXPECT_EQ(ResultOf(R"("side_effect": "external")"), "none");
  EXPECT_EQ(ResultOf(R"("via": "cli call")"), "allow");
  EXPECT_EQ(ResultOf(R"("via": "cli exec")"), "none");
  EXPECT_EQ(ResultOf(R"("argv_length": 3)"), "allow");
  EXPECT_EQ(ResultOf(R"("argv_length": 4)"), "none");
  EXPECT_EQ(ResultOf(R"("argv": [{"index": 1, "equals": "--format"}])"), "allow");
  EXPECT_EQ(ResultOf(R"("argv": [{"index": 1, "equals": "--f"}])"), "none");
  EXPECT_EQ(ResultOf(R"("argv": [{"index": 9, "glob": "*"}])"), "none");
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/ref", "equals": "main"}])"), "allow");
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/n", "one_of": [2, 3]}])"), "allow");
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/n", "equals": "3"}])"), "none");
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/absent", "equals": 1}])"), "none");
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "", "equals": {"n": 3, "ref": "main"}}])"), "allow");
  EXPECT_EQ(ResultOf("\"manifest_entry\": \"" +
                     absl::StrJoin(std::vector<std::string>(32, "e0"), "") + "\""),
            "allow");
  EXPECT_EQ(ResultOf("\"manifest_entry\": \"" + std::string(64, '0') + "\""), "none");
}

TEST(Rules, AllPredicatesOfARuleMustHold) {
  EXPECT_EQ(ResultOf(R"("tool": "report", "via": "cli exec")"), "none");
  EXPECT_EQ(
      ResultOf(R"("argv": [{"index": 1, "equals": "--format"}, {"index": 2, "equals": "x"}])"),
      "none");
}

TEST(Rules, RememberedValuesDoNotCoverLongerOnesNorOtherTools) {
  const RuleSet rules = Rules({Rule_(
      "log", "allow", R"("tool": "git_log", "input": [{"pointer": "/ref", "equals": "main"}])")});
  Ticket ticket = SampleTicket();
  ticket.tool = "git_log";
  EXPECT_EQ(Result(rules, ticket), "allow");
  ticket.input = R"({"ref":"main && curl x|sh"})";
  EXPECT_EQ(Result(rules, ticket), "none");
  ticket = SampleTicket();
  ticket.tool = "git_log2";
  EXPECT_EQ(Result(rules, ticket), "none");
}

TEST(Rules, TextInsideAValueSatisfiesNoPredicateOfAnother) {
  Ticket ticket = SampleTicket();
  ticket.input = R"({"note":"\"job\":\"safe\"","job":"other"})";
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/job", "equals": "safe"}])", ticket), "none");
}

TEST(Rules, DenyOverridesAllowInEveryOrder) {
  std::vector<std::string> rules = {
      Rule_("a", "allow", R"("tool": "report")"), Rule_("b", "allow", R"("workspace": "/ws")"),
      Rule_("c", "deny", R"("side_effect": "process")"), Rule_("d", "deny", R"("tool": "report")")};
  std::sort(rules.begin(), rules.end());
  do {
    const std::optional<Decision> decision = Rules(rules).Decide(SampleTicket());
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->verdict, Verdict::kDeny);
    EXPECT_FALSE(decision->failed);
    EXPECT_EQ(decision->approver, "rule c");
    EXPECT_EQ(decision->reason, "because c");
  } while (std::next_permutation(rules.begin(), rules.end()));
}

TEST(Rules, ARuleThatCannotBeEvaluatedDeniesWhateverItsEffect) {
  for (const char* effect : {"allow", "deny"}) {
    const RuleSet rules =
        Rules({Rule_("typed", effect, R"("input": [{"pointer": "/n", "glob": "3*"}])"),
               Rule_("other", "allow", R"("tool": "report")")});
    EXPECT_EQ(Result(rules, SampleTicket()), "failed");
  }
}

TEST(Rules, ARuleForAnotherToolIsNotEvaluated) {
  EXPECT_EQ(ResultOf(R"("tool": "other", "input": [{"pointer": "/n", "glob": "3*"}])"), "none");
  EXPECT_EQ(
      ResultOf(R"("input": [{"pointer": "/n", "glob": "3*"}, {"pointer": "/x", "equals": 1}])"),
      "none");
}

TEST(Rules, InputThatCannotBeReadDenies) {
  Ticket ticket = SampleTicket();
  ticket.input = "{";
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/n", "equals": 3}])", ticket), "failed");
  ticket.input = "";
  EXPECT_EQ(ResultOf(R"("input": [{"pointer": "/n", "equals": 3}])", ticket), "none");
}

TEST(Rules, NoRuleMeansNoDecision) { EXPECT_EQ(Result(Rules({}), SampleTicket()), "none"); }

TEST(Rules, TheAnswerNamesTheRuleAndRepeatsTheDigest) {
  const std::optional<Decision> decision =
      Rules({Rule_("r", "allow", R"("tool": "report")")}).Decide(SampleTicket());
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->approver, "rule r");
  EXPECT_EQ(decision->ticket_digest, TicketDigestHex(SampleTicket()));
}

TEST(Rules, TheTraceTellsForEachRuleWhyAndNoValue) {
  Ticket ticket = SampleTicket();
  ticket.input = R"({"n":[],"ref":"s3cr3t"})";
  std::vector<RuleTrace> trace;
  Rules({Rule_("a", "allow", R"("tool": "report")"), Rule_("b", "deny", R"("tool": "x")"),
         Rule_("c", "deny", R"("input": [{"pointer": "/ref", "equals": "x"}])"),
         Rule_("d", "deny", R"("input": [{"pointer": "/n", "glob": "x"}])")})
      .Decide(ticket, &trace);
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_TRUE(trace[0].matched);
  EXPECT_EQ(trace[0].why, "all predicates hold");
  EXPECT_FALSE(trace[1].matched);
  EXPECT_EQ(trace[1].why, "tool differs");
  EXPECT_EQ(trace[2].why, "input at \"/ref\" differs");
  EXPECT_TRUE(trace[3].failed);
  EXPECT_EQ(trace[3].why, "input at \"/n\" cannot be evaluated");
}

TEST(Rules, MergedSetsRefuseANameOfBoth) {
  RuleSet rules = Rules({Rule_("a", "allow", R"("tool": "report")")});
  EXPECT_TRUE(rules.Merge(Rules({Rule_("b", "deny", "")})).ok());
  EXPECT_EQ(Result(rules, SampleTicket()), "deny");
  const absl::Status twice = rules.Merge(Rules({Rule_("a", "deny", "")}));
  EXPECT_EQ(twice.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(twice.message()), HasSubstr("rule `a`"));
}

}  // namespace
}  // namespace warder::approval
