#include "approval/approvers.h"

#include <gtest/gtest.h>

#include "tests/support/run_async.h"
#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using testing::RunAsync;
using testing::SampleTicket;

RuleSet OneRule(const std::string& effect, const std::string& tool) {
  return *RuleSet::Parse(R"({"schema": 1, "rules": [{"name": "r", "reason": "x", "effect": ")" +
                             effect + R"(", "tool": ")" + tool + "\"}]}",
                         "rules.json");
}

TEST(AllowAll, AllowsThisTicketOnly) {
  const Decision decision = RunAsync(MakeAllowAll()->Ask(SampleTicket()));
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_FALSE(decision.failed);
  EXPECT_EQ(decision.approver, "allow-all");
  EXPECT_EQ(decision.ticket_digest, TicketDigestHex(SampleTicket()));
}

TEST(DenyAll, Denies) {
  const Decision decision = RunAsync(MakeDenyAll()->Ask(SampleTicket()));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_EQ(decision.approver, "deny-all");
  EXPECT_EQ(decision.ticket_digest, TicketDigestHex(SampleTicket()));
}

TEST(RuleApprover, ARuleThatMatchesDecidesBeforeAnybodyIsAsked) {
  const auto approver = MakeRuleApprover(OneRule("deny", "report"), MakeAllowAll());
  const Decision decision = RunAsync(approver->Ask(SampleTicket()));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_EQ(decision.approver, "rule r");
  EXPECT_EQ(approver->Name(), "rules, then allow-all");
}

TEST(RuleApprover, WhereNoRuleMatchesTheOtherIsAsked) {
  const auto approver = MakeRuleApprover(OneRule("deny", "other"), MakeAllowAll());
  const Decision decision = RunAsync(approver->Ask(SampleTicket()));
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_EQ(decision.approver, "allow-all");
}

TEST(RuleApprover, WithoutAnOtherNobodyCanBeAsked) {
  const auto approver = MakeRuleApprover(OneRule("allow", "other"), nullptr);
  const Decision decision = RunAsync(approver->Ask(SampleTicket()));
  EXPECT_TRUE(decision.failed);
  EXPECT_EQ(decision.failure, RefusalCode::kNoApprover);
  EXPECT_EQ(approver->Name(), "rules");
}

}  // namespace
}  // namespace warder::approval
