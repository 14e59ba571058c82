#include "supervisor/policy_suggestion.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warder::supervisor {
namespace {

using manifest::Json;

manifest::NamedPolicy Policy() {
  manifest::NamedPolicy policy;
  policy.name = "default";
  const auto deny = [&](const char* name, const char* reason) -> sandbox::SyscallRule& {
    sandbox::SyscallRule rule;
    rule.name = name;
    rule.reason = reason;
    rule.place = "/p/base.json:7";
    return policy.confinement.syscalls.deny.emplace_back(rule);
  };
  deny("ptrace", "reading others");
  deny("kcmp", "reading others");
  deny("keyctl", "outlives");
  deny("mount", "the view").boundary = true;
  deny("ioctl", "terminal").when = {{1, 0xffffffff, 0x5412}};
  deny("reboot", "escape").action = sandbox::DenyAction::kKillProcess;
  return policy;
}

Json Denied(const std::string& operation, const std::string& reason,
            const std::string& place = "/p/base.json:7") {
  return {{"operation", operation},
          {"object", "x"},
          {"rule", {{"policy", "default"}, {"place", place}, {"reason", reason}}}};
}

Json Outcome(std::vector<Json> denials) {
  return {{"attestation", {{"policy", "default"}}}, {"denials", std::move(denials)}};
}

TEST(SuggestPolicy, SmallestFragmentHasEachCallOnceAndTheReasonOfItsDenial) {
  const auto suggestion =
      SuggestPolicy(Outcome({Denied("ptrace", "reading others"), Denied("kcmp", "reading others"),
                             Denied("ptrace", "reading others"), Denied("keyctl", "outlives")}),
                    Policy());
  ASSERT_TRUE(suggestion.ok()) << suggestion.status();
  EXPECT_TRUE(suggestion->complete);
  const Json& fragment = suggestion->fragment;
  EXPECT_EQ(fragment["extends"], "default");
  EXPECT_FALSE(fragment["syscalls"].contains("deny"));
  const Json& allow = fragment["syscalls"]["allow"];
  ASSERT_EQ(allow.size(), 2u) << fragment;
  EXPECT_EQ(allow[0]["calls"], (Json{"ptrace", "kcmp"}));
  EXPECT_NE(allow[0]["reason"].get<std::string>().find("reading others"), std::string::npos);
  EXPECT_EQ(allow[1]["calls"], Json::array({"keyctl"}));
}

TEST(SuggestPolicy, WallKillConditionsAndUnknownRulesAreExplainedAndNotSuggested) {
  const auto suggestion =
      SuggestPolicy(Outcome({Denied("mount", "the view"), Denied("reboot", "escape"),
                             Denied("ioctl", "terminal"), Denied("acct", "no such rule"),
                             Denied("ptrace", "reading others", "/elsewhere.json:1")}),
                    Policy());
  ASSERT_TRUE(suggestion.ok()) << suggestion.status();
  EXPECT_FALSE(suggestion->complete);
  EXPECT_TRUE(suggestion->fragment.is_null());
  std::string advice;
  for (const Advised& denial : suggestion->denials) {
    advice += std::string(AdviceName(denial.advice)) + " ";
  }
  EXPECT_EQ(advice, "boundary kill conditions unknown unknown ");
}

TEST(SuggestPolicy, NothingDeniedIsCompleteAndHasNoFragment) {
  const auto suggestion = SuggestPolicy(Outcome({}), Policy());
  ASSERT_TRUE(suggestion.ok());
  EXPECT_TRUE(suggestion->complete);
  EXPECT_TRUE(suggestion->fragment.is_null());
}

TEST(SuggestPolicy, WhatIsNoOutcomeIsRefused) {
  for (const Json& json : {Json(), Json::array(), Json{{"denials", Json::array()}},
                           Json{{"attestation", nullptr}}, Json{{"attestation", 3}}}) {
    EXPECT_FALSE(PolicyOfOutcome(json).ok()) << json;
  }
  EXPECT_EQ(*PolicyOfOutcome(Outcome({})), "default");
  EXPECT_EQ(*PolicyOfOutcome(Json{{"policy", "offline"}}), "offline");
  EXPECT_FALSE(SuggestPolicy(Json{{"denials", nullptr}}, Policy()).ok());
  const auto odd = SuggestPolicy(Outcome({Json(3), Json::object(), Json{{"rule", 4}}}), Policy());
  ASSERT_TRUE(odd.ok());
  EXPECT_FALSE(odd->complete);
}

}  // namespace
}  // namespace warder::supervisor
