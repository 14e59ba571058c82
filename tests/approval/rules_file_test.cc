#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "approval/rules.h"

namespace warder::approval {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string File(const std::string& rules) { return R"({"schema": 1, "rules": [)" + rules + "]}"; }

std::string Fault(const std::string& bytes) {
  const absl::StatusOr<RuleSet> rules = RuleSet::Parse(bytes, "rules.json");
  EXPECT_EQ(rules.status().code(), absl::StatusCode::kInvalidArgument) << bytes;
  return std::string(rules.status().message());
}

TEST(RulesFile, EveryPredicateIsRead) {
  const absl::StatusOr<RuleSet> rules = RuleSet::Parse(File(R"({
      "name": "log", "effect": "allow", "reason": "harmless", "tool": "git_log",
      "manifest_entry": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
      "workspace": "/src/**", "policy": "default", "side_effect": "process", "via": "cli call",
      "argv": [{"index": 0, "equals": "git"}, {"index": 1, "one_of": ["log", "show"]}],
      "argv_length": 2, "input": [{"pointer": "/ref", "glob": "v*"}]})"),
                                                       "rules.json");
  ASSERT_TRUE(rules.ok()) << rules.status();
  ASSERT_EQ(rules->rules().size(), 1u);
  const Rule& rule = rules->rules().front();
  EXPECT_TRUE(rule.allow);
  EXPECT_EQ(rule.name, "log");
  EXPECT_EQ(rule.reason, "harmless");
  EXPECT_EQ(rule.tool, "git_log");
  EXPECT_EQ(rule.workspace, "/src/**");
  EXPECT_EQ(rule.policy, "default");
  EXPECT_EQ(rule.side_effect, "process");
  EXPECT_EQ(rule.via, "cli call");
  EXPECT_EQ(rule.manifest_entry->size(), 64u);
  ASSERT_EQ(rule.argv.size(), 2u);
  EXPECT_EQ(*rule.argv[0].match.any_of, manifest::Json::array({"git"}));
  EXPECT_EQ(rule.argv[1].index, 1u);
  EXPECT_EQ(rule.argv_length, 2u);
  ASSERT_EQ(rule.input.size(), 1u);
  EXPECT_EQ(rule.input[0].match.glob, "v*");
}

TEST(RulesFile, AnUnknownKeyIsRefusedWithItsPlaceAndRule) {
  const std::string fault =
      Fault(File("{\"name\": \"x\", \"effect\": \"deny\", \"reason\": \"r\",\n \"tol\": \"t\"}"));
  EXPECT_THAT(fault, StartsWith("rules.json:2:"));
  EXPECT_THAT(fault, HasSubstr("rule `x`"));
  EXPECT_THAT(fault, HasSubstr("tol"));
}

TEST(RulesFile, FaultsAreToldWithTheirField) {
  const std::string head = R"({"name": "x", "reason": "r", "effect": )";
  EXPECT_THAT(Fault(File(head + "\"maybe\"}")), HasSubstr("effect"));
  EXPECT_THAT(Fault(File(head + "\"allow\"}")), HasSubstr("would allow every call"));
  EXPECT_THAT(Fault(File(R"({"name": "", "reason": "r", "effect": "deny"})")), HasSubstr("name"));
  EXPECT_THAT(Fault(File(R"({"name": "x y", "reason": "r", "effect": "deny"})")),
              HasSubstr("name"));
  EXPECT_THAT(Fault(File(R"({"name": "x", "reason": " ", "effect": "deny"})")),
              HasSubstr("reason"));
  EXPECT_THAT(Fault(File(head + R"("deny", "side_effect": "none"})")), HasSubstr("side_effect"));
  EXPECT_THAT(Fault(File(head + R"("deny", "workspace": "src"})")), HasSubstr("absolute"));
  EXPECT_THAT(Fault(File(head + R"("deny", "manifest_entry": "AB"})")), HasSubstr("hexadecimal"));
  EXPECT_THAT(Fault(File(head + R"("deny", "argv": [{"index": 0}]})")), HasSubstr("exactly one"));
  EXPECT_THAT(Fault(File(head + R"("deny", "argv": [{"index": -1, "equals": "a"}]})")),
              HasSubstr("index"));
  EXPECT_THAT(Fault(File(head + R"("deny", "argv": [{"index": 0, "equals": 1}]})")),
              HasSubstr("is a string"));
  EXPECT_THAT(Fault(File(head + R"("deny", "argv": [{"index": 0, "one_of": []}]})")),
              HasSubstr("at least one"));
  EXPECT_THAT(Fault(File(head + R"("deny", "input": [{"pointer": "ref", "equals": 1}]})")),
              HasSubstr("pointer"));
  EXPECT_THAT(
      Fault(File(head + R"("deny", "input": [{"pointer": "/a", "equals": 1, "glob": "x"}]})")),
      HasSubstr("exactly one"));
  EXPECT_THAT(Fault(File("7")), HasSubstr("object"));
}

TEST(RulesFile, AnotherSchemaOrNoRulesIsRefused) {
  EXPECT_THAT(Fault(R"({"schema": 2, "rules": []})"), HasSubstr("schema"));
  EXPECT_THAT(Fault(R"({"schema": 1})"), HasSubstr("rules"));
  EXPECT_THAT(Fault(R"({"schema": 1, "rules": {}})"), HasSubstr("array"));
  EXPECT_THAT(Fault(R"({"schema": 1, "rules": [], "extra": 1})"), HasSubstr("extra"));
  EXPECT_THAT(Fault("{"), StartsWith("rules.json:"));
}

TEST(RulesFile, ANameThatAppearsTwiceIsRefused) {
  const std::string rule = R"({"name": "x", "reason": "r", "effect": "deny"})";
  EXPECT_THAT(Fault(File(rule + "," + rule)), HasSubstr("rule `x`"));
}

TEST(RulesFile, ADenyRuleMayDenyEverything) {
  EXPECT_TRUE(RuleSet::Parse(File(R"({"name": "x", "reason": "r", "effect": "deny"})"), "r").ok());
}

TEST(RulesFile, MessagesNeverHoldAValue) {
  EXPECT_THAT(Fault(File(R"({"name": "x", "reason": "r", "effect": "deny",
      "argv": [{"index": 0, "equals": {"s3cr3t": 1}}]})")),
              ::testing::Not(HasSubstr("s3cr3t")));
}

}  // namespace
}  // namespace warder::approval
