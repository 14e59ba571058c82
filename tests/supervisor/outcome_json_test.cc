#include <signal.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manifest/json.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using ::testing::HasSubstr;
using ::testing::Not;

Outcome Sample(Ending ending = Exited{3}) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = std::move(ending);
  outcome.out = {"out\n", "", 4};
  outcome.err = {"err\n", "", 4};
  outcome.duration_ms = 12;
  outcome.usage = {1000, 2000, 3000};
  outcome.attestation = {sandbox::Tier::kUserns,
                         "default",
                         {{"seccomp", true, sandbox::LayerState::kEnforced, "Seccomp: 2"}}};
  outcome.ticket_digest = "abcd";
  outcome.audit_sequence = 7;
  return outcome;
}

Json StreamOf(Captured stream) {
  Outcome outcome = Sample();
  outcome.out = std::move(stream);
  return OutcomeJson(outcome)["stdout"];
}

std::string Decoded(const Json& stream) {
  std::string bytes;
  return absl::Base64Unescape(stream["base64"].get<std::string>(), &bytes) ? bytes : "not base64";
}

// The documented form, member by member. A change here is a change of the schema number.
TEST(OutcomeJson, IsTheDocumentedForm) {
  EXPECT_EQ(
      manifest::WriteJson(OutcomeJson(Sample())),
      R"({"schema":1,"tool":"lint","ending":"exited","code":3,"exit_code":3,)"
      R"("text":"`lint` exited with code 3.\nerr\n",)"
      R"("stdout":{"text":"out\n","total_bytes":4,"truncated":false,"dropped_bytes":0},)"
      R"("stderr":{"text":"err\n","total_bytes":4,"truncated":false,"dropped_bytes":0},)"
      R"("duration_ms":12,"usage":{"user_us":1000,"system_us":2000,"max_rss_kib":3000},)"
      R"("attestation":{"tier":"userns","policy":"default","layers":[{"name":"seccomp",)"
      R"("required":true,"state":"enforced","proof":"Seccomp: 2"}]},)"
      R"("denials":null,"sensitive_changes":null,"ticket_digest":"abcd","audit_sequence":7})");
}

TEST(OutcomeJson, DenialsAreAListOnlyWhereTheKernelWouldHaveToldOfThem) {
  Outcome outcome = Sample();
  outcome.denials.watched = true;
  EXPECT_EQ(OutcomeJson(outcome)["denials"], Json::array());
  sandbox::Denial denial;
  denial.operation = "mount";
  denial.error = 1;
  AddDenial(denial, outcome.denials);
  outcome.denials.unlisted = 2;
  outcome.denials.stopped = true;
  const Json json = OutcomeJson(outcome);
  ASSERT_EQ(json["denials"].size(), 1u);
  EXPECT_EQ(json["denials"][0]["operation"], "mount");
  EXPECT_EQ(json["denials"][0]["rule"]["policy"], "default");
  EXPECT_EQ(json["denials_unlisted"], 2);
  EXPECT_EQ(json["denials_stopped"], true);
  EXPECT_THAT(json["text"].get<std::string>(), HasSubstr("err\nThe cell denied:\n  mount"));
}

TEST(OutcomeJson, SensitiveChangesAreTheDocumentedForm) {
  Outcome outcome = Sample();
  outcome.sensitive = SensitiveChanges{{{"git hook", "a/\x1b", manifest::Sha256{}, "", ""},
                                        {"protected name", "b", {}, "/q/1", "x"}},
                                       2,
                                       {{"c", "Permission denied"}},
                                       3};
  EXPECT_EQ(manifest::WriteJson(OutcomeJson(outcome)["sensitive_changes"]),
            R"({"changes":[{"kind":"git hook","path":"a/\\x1b","path_base64":"YS8b","sha256":")" +
                std::string(64, '0') +
                R"(","action":"reported"},{"kind":"protected name","path":"b","sha256":null,)"
                R"("action":"quarantined","moved_to":"/q/1","fault":"x"}],"left_out":2,)"
                R"("not_looked_at":[{"reason":"Permission denied","path":"c"}],)"
                R"("not_looked_at_count":3})");
}

TEST(OutcomeJson, EachEndingHasItsOwnMembers) {
  EXPECT_EQ(OutcomeJson(Sample(Signaled{SIGSEGV}))["signal"],
            Json::parse(R"({"number":11,"name":"SIGSEGV"})"));
  EXPECT_EQ(OutcomeJson(Sample(TimedOut{500}))["limit_ms"], 500);
  const Json failed = OutcomeJson(Sample(CouldNotStart{"exec", ENOENT, "no interpreter"}));
  EXPECT_EQ(failed["step"], "exec");
  EXPECT_EQ(failed["errno"], Json::parse(R"({"number":2,"name":"ENOENT"})"));
  EXPECT_EQ(failed["detail"], "no interpreter");
  const Json refused = OutcomeJson(Sample(Refused{approval::RefusalCode::kDenied, "no"}));
  EXPECT_EQ(refused["refusal"], Json::parse(R"({"code":"denied","reason":"no"})"));
  EXPECT_EQ(refused["exit_code"], 126);
  for (const char* name : {"code", "signal", "limit_ms", "step", "errno", "detail", "refusal"}) {
    EXPECT_FALSE(OutcomeJson(Sample(Cancelled{})).contains(name)) << name;
  }
}

TEST(OutcomeJson, WhatWasNeverStartedClaimsNoLayer) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = Refused{};
  const Json json = OutcomeJson(outcome);
  EXPECT_TRUE(json["attestation"].is_null());
  EXPECT_TRUE(json["ticket_digest"].is_null());
  EXPECT_TRUE(json["audit_sequence"].is_null());
}

TEST(OutcomeJson, TheBytesOfAStreamComeBackExactly) {
  for (const std::string& text :
       std::vector<std::string>{"", "\n", "  \n", "a\n\n", "a", "caf\xc3\xa9 \xf0\x9f\x98\x80"}) {
    EXPECT_EQ(StreamOf({text, "", text.size()})["text"], text);
    EXPECT_FALSE(StreamOf({text, "", text.size()}).contains("base64"));
  }
}

TEST(OutcomeJson, BytesThatAreNotTextAreBase64) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& bytes :
       {std::string("\xff\xfe\x80ok"), std::string("a\0b", 3), all, std::string("\xed\xa0\x80")}) {
    const Json stream = StreamOf({bytes, "", bytes.size()});
    EXPECT_FALSE(stream.contains("text"));
    EXPECT_EQ(Decoded(stream), bytes);
  }
}

TEST(OutcomeJson, AStreamThatIsKeptInTwoPartsButWholeIsOneText) {
  const Json stream = StreamOf({"\xe2\x82", "\xac", 3});
  EXPECT_EQ(stream["text"], "\xe2\x82\xac");
  EXPECT_FALSE(stream.contains("cut_at"));
}

TEST(OutcomeJson, ACutStreamSaysWhereTheCutIsAndHowMuchIsMissing) {
  const Json stream = StreamOf({"first", "last", 1009});
  EXPECT_EQ(stream["text"], "firstlast");
  EXPECT_EQ(stream["cut_at"], 5);
  EXPECT_EQ(stream["total_bytes"], 1009);
  EXPECT_EQ(stream["truncated"], true);
  EXPECT_EQ(stream["dropped_bytes"], 1000);
}

TEST(OutcomeJson, ACutThroughACharacterStaysTextAndCountsThePieces) {
  const Json stream = StreamOf({"a\xe2\x82", "\x82\xac z", 1000});
  EXPECT_EQ(stream["text"], "a z");
  EXPECT_EQ(stream["cut_at"], 1);
  EXPECT_EQ(stream["dropped_bytes"], 997);
}

TEST(OutcomeJson, ACutStreamThatIsNotTextIsExact) {
  const Json stream = StreamOf({"\xff\xe2\x82", "\x82\xac z", 1000});
  EXPECT_EQ(Decoded(stream), "\xff\xe2\x82\x82\xac z");
  EXPECT_EQ(stream["cut_at"], 3);
  EXPECT_EQ(stream["dropped_bytes"], 993);
}

TEST(OutcomeJson, NothingThatAStrangerWroteBreaksTheForm) {
  Outcome outcome = Sample(CouldNotStart{"st\xff", 99999, "\x1b[2J\xff"});
  outcome.tool = "\xff\n\x1b";
  outcome.attestation.policy = "\xff";
  outcome.attestation.layers[0].proof = "\xff\0";
  const std::string text = manifest::WriteJson(OutcomeJson(outcome));
  EXPECT_TRUE(manifest::ParseStrictJson(text, "outcome").ok())
      << manifest::ParseStrictJson(text, "outcome").status();
  EXPECT_THAT(text, Not(HasSubstr("\\u001b")));
  EXPECT_EQ(OutcomeJson(outcome)["errno"]["name"], "unknown");
}

}  // namespace
}  // namespace warder::supervisor
