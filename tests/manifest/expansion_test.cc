#include "manifest/expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace warder::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::optional<std::string> Lookup(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> kVariables = {
      {"TOKEN", "abc"},
      {"EMPTY", ""},
      {"NESTED", "${TOKEN}"},
      {"_x9", "under"},
      {"LONG", std::string(100'000, 'x')}};
  const auto found = kVariables.find(name);
  return found == kVariables.end() ? std::nullopt : std::optional<std::string>(found->second);
}

std::string Expanded(std::string_view text) {
  const absl::StatusOr<std::string> expanded = Expand(text, Lookup);
  return expanded.ok() ? *expanded : "FAULT " + std::string(expanded.status().message());
}

TEST(Expansion, VariableIsReplacedByItsValue) {
  EXPECT_EQ(Expanded("${TOKEN}"), "abc");
  EXPECT_EQ(Expanded("Bearer ${TOKEN}/${_x9}."), "Bearer abc/under.");
  EXPECT_EQ(Expanded("${TOKEN}${TOKEN}"), "abcabc");
}

TEST(Expansion, DefaultCoversUnsetAndEmpty) {
  EXPECT_EQ(Expanded("${MISSING:-x}"), "x");
  EXPECT_EQ(Expanded("${EMPTY:-x}"), "x");
  EXPECT_EQ(Expanded("${TOKEN:-x}"), "abc");
  EXPECT_EQ(Expanded("[${MISSING:-}]"), "[]");
  EXPECT_EQ(Expanded("${MISSING:-a:-b $HOME {}"), "a:-b $HOME {");
}

TEST(Expansion, SetButEmptyIsNotUnset) { EXPECT_EQ(Expanded("[${EMPTY}]"), "[]"); }

TEST(Expansion, BareDollarIsLiteral) {
  EXPECT_EQ(Expanded("$HOME $ $$ $(id) `id` ~ *"), "$HOME $ $$ $(id) `id` ~ *");
  EXPECT_EQ(Expanded("$${TOKEN}"), "$abc");
  EXPECT_EQ(Expanded("100$"), "100$");
}

TEST(Expansion, TemplateWordsOfOtherFormatsAreLiteral) {
  EXPECT_EQ(Expanded("{{ .name }} UTCP_ARG_name_UTCP_END a;b"),
            "{{ .name }} UTCP_ARG_name_UTCP_END a;b");
}

TEST(Expansion, ValueIsNotExpandedAgain) { EXPECT_EQ(Expanded("${NESTED}"), "${TOKEN}"); }

TEST(Expansion, UnsetWithoutDefaultNamesTheVariable) {
  const absl::Status status = Expand("secret-${MISSING}", Lookup).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("`MISSING`"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
}

TEST(Expansion, FaultsNameTheFaultAndNeverTheText) {
  const std::map<std::string, std::string> faults = {
      {"secret${}", "empty `${}`"},
      {"secret${:-secret}", "empty `${}`"},
      {"secret${TOKEN", "unclosed `${`"},
      {"${TOKEN}${secret", "unclosed `${`"},
      {"${secret.x}", "not a variable name"},
      {"${secret-x}", "not a variable name"},
      {"${secret:+x}", "not a variable name"},
      {"${9secret}", "not a variable name"},
      {"${ secret }", "not a variable name"},
      {"${sec\xc3\xa9t}", "not a variable name"},
      {"${A:-${secret}}", "variable `A` holds another `${`"}};
  for (const auto& [text, fault] : faults) {
    const absl::Status expanded = Expand(text, Lookup).status();
    EXPECT_EQ(expanded.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(expanded.message()), HasSubstr(fault)) << text;
    EXPECT_THAT(std::string(expanded.message()), Not(HasSubstr("sec"))) << text;
    EXPECT_EQ(CheckExpansion(text), expanded) << text;
  }
}

TEST(Expansion, CheckNeedsNoEnvironment) {
  EXPECT_TRUE(CheckExpansion("${MISSING} ${OTHER:-x} $ plain").ok());
  EXPECT_TRUE(CheckExpansion("").ok());
}

TEST(Expansion, NamesThatWereReadAreListedOnceInOrder) {
  std::vector<std::string> names = {"EARLIER"};
  ASSERT_TRUE(Expand("${TOKEN}${MISSING:-}${TOKEN}${EARLIER:-}", Lookup, &names).ok());
  EXPECT_THAT(names, ElementsAre("EARLIER", "TOKEN", "MISSING"));
}

TEST(Expansion, ResultIsBounded) {
  EXPECT_EQ(Expanded("${LONG}").size(), 100'000u);
  const absl::Status status = Expand("${LONG}${LONG}", Lookup).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "expands to more than 131071 bytes");
}

}  // namespace
}  // namespace warder::manifest
