#include "supervisor/choose_approver.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/support/run_async.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using approval::Verdict;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string RulesFile(const std::string& name, const std::string& effect, const std::string& tool) {
  return R"({"schema": 1, "rules": [{"name": ")" + name + R"(", "effect": ")" + effect +
         R"(", "reason": "because", "tool": ")" + tool + R"("}]})";
}

class ChooseApproverTest : public ::testing::Test {
 protected:
  ChooseApproverTest() {
    // Without a terminal, whoever runs the test: "rules" would ask there.
    const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal >= 0) ::ioctl(terminal, TIOCNOTTY);
    ::close(terminal);
    config_.config_dir = tree_.Directory("config");
    config_.share_dir = tree_.Directory("share");
    config_.workspaces = {tree_.Directory("workspace")};
    policy_.name = "p";
    policy_.source = "p.json";
  }

  // Who decides `tool`, and how.
  approval::Decision Ask(const std::optional<std::string>& flag, const std::string& tool) {
    std::optional<ApproveFlag> parsed;
    if (flag) {
      const auto parse = ParseApproveFlag(*flag);
      EXPECT_TRUE(parse.ok()) << parse.status();
      parsed = *parse;
    }
    const auto approver = ChooseApprover(config_, policy_, parsed);
    EXPECT_TRUE(approver.ok()) << approver.status();
    if (!approver.ok() || *approver == nullptr) return {};
    approval::Ticket ticket;
    ticket.tool = tool;
    return warder::testing::RunAsync((*approver)->Ask(ticket));
  }

  absl::Status Fault(const std::string& flag) {
    return ChooseApprover(config_, policy_, *ParseApproveFlag(flag)).status();
  }

  warder::testing::TempTree tree_;
  manifest::Config config_;
  manifest::NamedPolicy policy_;
};

TEST(ParseApproveFlag, TakesOnlyTheDocumentedForms) {
  const auto file = ParseApproveFlag("rules:/a:b.json");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->who, "rules");
  EXPECT_EQ(file->argument, "/a:b.json");
  for (const char* text :
       {"", "allow", "allow-all ", "rules:", "program:relative", "program", "ask:"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseApproveFlag(text).status())) << text;
  }
}

TEST_F(ChooseApproverTest, TheFlagWinsOverThePolicy) {
  policy_.approval.approver = "allow-all";
  EXPECT_EQ(Ask("deny-all", "t").verdict, Verdict::kDeny);
  policy_.approval.approver = "deny-all";
  EXPECT_EQ(Ask("allow-all", "t").verdict, Verdict::kAllow);
}

TEST_F(ChooseApproverTest, WithoutAFlagThePolicySaysWho) {
  policy_.approval.approver = "allow-all";
  EXPECT_EQ(Ask(std::nullopt, "t").approver, "allow-all");
}

TEST_F(ChooseApproverTest, ADenyRuleOfTheOperatorHoldsWhoeverDecidesTheRest) {
  tree_.Write("config/rules/r.json", RulesFile("no-t", "deny", "t"));
  EXPECT_EQ(Ask("allow-all", "t").verdict, Verdict::kDeny);
  EXPECT_EQ(Ask("allow-all", "other").verdict, Verdict::kAllow);
}

TEST_F(ChooseApproverTest, RulesAddsTheShippedRulesOfThePolicyAndOnlyOfThat) {
  tree_.Write("share/policies/rules/p.json", RulesFile("shipped", "allow", "t"));
  tree_.Write("share/policies/rules/q.json", RulesFile("other", "allow", "u"));
  EXPECT_EQ(Ask("rules", "t").verdict, Verdict::kAllow);
  EXPECT_NE(Ask("rules", "u").verdict, Verdict::kAllow);
  EXPECT_NE(Ask("deny-all", "t").verdict, Verdict::kAllow);
}

TEST_F(ChooseApproverTest, RulesOfAFileStandBesideTheOperatorsOwnButNotTheShippedOnes) {
  tree_.Write("share/policies/rules/p.json", RulesFile("shipped", "allow", "s"));
  tree_.Write("config/rules/r.json", RulesFile("no-t", "deny", "t"));
  const std::string flag =
      "rules:" + tree_.Write("config/mine.json", RulesFile("mine", "allow", "u"));
  EXPECT_EQ(Ask(flag, "u").verdict, Verdict::kAllow);
  EXPECT_EQ(Ask(flag, "t").verdict, Verdict::kDeny);
  EXPECT_NE(Ask(flag, "s").verdict, Verdict::kAllow);
}

TEST_F(ChooseApproverTest, ARulesFileInsideAWorkspaceIsRefusedByName) {
  const std::string path = tree_.Write("workspace/r.json", RulesFile("r", "allow", "t"));
  EXPECT_THAT(std::string(Fault("rules:" + path).message()), HasSubstr(path));
}

TEST_F(ChooseApproverTest, ARulesFileThatOthersMayWriteIsRefusedByName) {
  const std::string path = tree_.Write("config/rules/r.json", RulesFile("r", "allow", "t"), 0666);
  const absl::Status fault = Fault("allow-all");
  EXPECT_TRUE(absl::IsPermissionDenied(fault)) << fault;
  EXPECT_THAT(std::string(fault.message()), HasSubstr(path));
}

TEST_F(ChooseApproverTest, ABadRulesFileIsAFaultWithItsPlace) {
  const std::string path = tree_.Write("config/rules/r.json", "{\"schema\": 1,\n\"rules\": [{}]}");
  EXPECT_THAT(std::string(Fault("ask").message()), StartsWith(path + ":2:"));
}

TEST_F(ChooseApproverTest, ARulesFileThatIsNotThereIsAFault) {
  EXPECT_TRUE(absl::IsNotFound(Fault("rules:" + tree_.At("config/none.json"))));
}

TEST_F(ChooseApproverTest, TwoRulesOfOneNameAreAFault) {
  tree_.Write("config/rules/a.json", RulesFile("same", "allow", "t"));
  tree_.Write("config/rules/b.json", RulesFile("same", "deny", "t"));
  EXPECT_THAT(std::string(Fault("ask").message()), HasSubstr("same"));
}

TEST_F(ChooseApproverTest, OnlyJsonFilesAreRules) {
  tree_.Write("config/rules/r.json~", "not json");
  EXPECT_TRUE(Fault("allow-all").ok());
}

TEST_F(ChooseApproverTest, AProgramInsideAWorkspaceIsNoApprover) {
  const std::string path = tree_.Script("workspace/yes", "#!/bin/sh\n");
  EXPECT_TRUE(absl::IsPermissionDenied(Fault("program:" + path)));
}

TEST_F(ChooseApproverTest, AProgramOfTheOperatorIsNamed) {
  const std::string path = tree_.Script("config/decide", "#!/bin/sh\n");
  const auto approver = ChooseApprover(config_, policy_, *ParseApproveFlag("program:" + path));
  ASSERT_TRUE(approver.ok()) << approver.status();
  EXPECT_THAT((*approver)->Name(), HasSubstr(path));
}

TEST_F(ChooseApproverTest, APolicyWhoseApproverIsAProgramMustNameOne) {
  policy_.approval.approver = "program";
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseApprover(config_, policy_, std::nullopt).status()));
}

TEST_F(ChooseApproverTest, AnApproverThatIsNoneIsAFault) {
  policy_.approval.approver = "everyone";
  EXPECT_FALSE(ChooseApprover(config_, policy_, std::nullopt).ok());
}

}  // namespace
}  // namespace warder::supervisor
