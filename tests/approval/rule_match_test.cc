#include "approval/rule_match.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace warder::approval {
namespace {

using manifest::Json;

TEST(SameValue, TypesAreToldApart) {
  EXPECT_FALSE(SameValue(1, "1"));
  EXPECT_FALSE(SameValue(1, true));
  EXPECT_FALSE(SameValue(nullptr, false));
  EXPECT_FALSE(SameValue(Json::array(), Json::object()));
  EXPECT_TRUE(SameValue("a", "a"));
  EXPECT_FALSE(SameValue("a", "A"));
}

TEST(SameValue, NumbersAreComparedWithoutRounding) {
  EXPECT_TRUE(SameValue(1, 1.0));
  EXPECT_TRUE(SameValue(-1, -1.0));
  EXPECT_FALSE(SameValue(1, 1.5));
  EXPECT_FALSE(SameValue(9007199254740993, 9007199254740992.0));
  EXPECT_FALSE(SameValue(std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::uint64_t>::max()));
  EXPECT_TRUE(SameValue(std::numeric_limits<std::int64_t>::min(), -9223372036854775808.0));
  EXPECT_FALSE(SameValue(std::numeric_limits<std::uint64_t>::max(), 18446744073709551616.0));
  EXPECT_TRUE(SameValue(Json(7), Json(std::uint64_t{7})));
  EXPECT_FALSE(SameValue(-7, 7));
}

TEST(SameValue, OrderMattersInArraysAndNotInObjects) {
  EXPECT_TRUE(SameValue(Json::parse(R"({"a":1,"b":[2]})"), Json::parse(R"({"b":[2.0],"a":1})")));
  EXPECT_FALSE(SameValue(Json::parse("[1,2]"), Json::parse("[2,1]")));
  EXPECT_FALSE(SameValue(Json::parse("[1]"), Json::parse("[1,2]")));
  EXPECT_FALSE(SameValue(Json::parse(R"({"a":1})"), Json::parse(R"({"a":1,"b":2})")));
  EXPECT_FALSE(SameValue(Json::parse(R"({"a":1})"), Json::parse(R"({"b":1})")));
}

TEST(Glob, StarAndQuestionMarkStayInsideAPiece) {
  EXPECT_TRUE(GlobMatches("main", "main"));
  EXPECT_TRUE(GlobMatches("v*", "v1.2"));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(GlobMatches("/var/log/*", "/var/log/messages"));
  EXPECT_FALSE(GlobMatches("/var/log/*", "/var/log/a/b"));
  EXPECT_FALSE(GlobMatches("a?b", "a/b"));
  EXPECT_FALSE(GlobMatches("*", "a/b"));
  EXPECT_TRUE(GlobMatches("*/*", "a/b"));
  EXPECT_FALSE(GlobMatches("main", "main2"));
  EXPECT_FALSE(GlobMatches("main", "main && curl x"));
  EXPECT_FALSE(GlobMatches("a*bc", "a/bc"));
  EXPECT_FALSE(GlobMatches("", "a"));
}

TEST(Glob, QuestionMarkIsOneCharacter) {
  EXPECT_TRUE(GlobMatches("a?b",
                          "a\xc3\xa9"
                          "b"));
  EXPECT_TRUE(GlobMatches("a?b",
                          "a\xff"
                          "b"));
  EXPECT_FALSE(GlobMatches("a?b",
                           "a\xc3\xa9\xc3\xa9"
                           "b"));
}

TEST(Glob, ManyStarsDoNotTakeForever) {
  const std::string text(20'000, 'a');
  std::string glob;
  for (int i = 0; i < 50; ++i) glob += "*a";
  EXPECT_FALSE(GlobMatches(glob + "b", text));
}

TEST(PathMatches, OnlyWholePiecesAreBelow) {
  EXPECT_TRUE(PathMatches("/src", "/src"));
  EXPECT_FALSE(PathMatches("/src", "/src/a"));
  EXPECT_TRUE(PathMatches("/src/**", "/src/a"));
  EXPECT_TRUE(PathMatches("/src/**", "/src/a/b"));
  EXPECT_FALSE(PathMatches("/src/**", "/src"));
  EXPECT_FALSE(PathMatches("/src/**", "/srcx/a"));
  EXPECT_TRUE(PathMatches("/**", "/a"));
}

TEST(Compare, AGlobOnAValueThatIsNoStringCannotBeEvaluated) {
  Match match;
  match.glob = "prod*";
  EXPECT_EQ(Compare(match, "production"), Verification::kHolds);
  EXPECT_EQ(Compare(match, "test"), Verification::kDiffers);
  EXPECT_EQ(Compare(match, Json::array({"production"})), Verification::kFails);
}

TEST(Compare, OneOfSeveralValues) {
  Match match;
  match.any_of = std::make_shared<const Json>(Json::array({1, "a"}));
  EXPECT_EQ(Compare(match, "a"), Verification::kHolds);
  EXPECT_EQ(Compare(match, 1), Verification::kHolds);
  EXPECT_EQ(Compare(match, "1"), Verification::kDiffers);
}

TEST(Compare, AMatchWithNothingInItCannotBeEvaluated) {
  EXPECT_EQ(Compare(Match{}, 1), Verification::kFails);
}

}  // namespace
}  // namespace warder::approval
