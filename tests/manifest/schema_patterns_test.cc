#include "manifest/schema_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace warder::manifest {
namespace {

using ::testing::HasSubstr;

// "yes", "no" or the fault.
std::string Match(std::string_view pattern, std::string_view text) {
  const auto compiled = Pattern::Compile(pattern);
  if (!compiled.ok()) return std::string(compiled.status().message());
  return (*compiled)->Matches(text) ? "yes" : "no";
}

TEST(SchemaPatterns, SearchIsNotAnchored) {
  EXPECT_EQ(Match("b", "abc"), "yes");
  EXPECT_EQ(Match("^b", "abc"), "no");
  EXPECT_EQ(Match("", ""), "yes");
}

TEST(SchemaPatterns, DollarIsTheEndOfTheTextOnly) {
  EXPECT_EQ(Match("a$", "a"), "yes");
  EXPECT_EQ(Match("a$", "a\n"), "no");
  EXPECT_EQ(Match("^b", "a\nb"), "no");
}

TEST(SchemaPatterns, DotStopsAtEveryLineEndOfEcma) {
  EXPECT_EQ(Match("^a.c$", "a😀c"), "yes");
  for (const char* text : {"a\nc", "a\rc", "a\u2028c", "a\u2029c"}) {
    EXPECT_EQ(Match("^a.c$", text), "no");
  }
}

TEST(SchemaPatterns, WhiteSpaceIsThatOfUnicode) {
  for (const char* text : {" ", "\t", "\v", "\u00a0", "\ufeff", "\u3000"}) {
    EXPECT_EQ(Match("^\\s$", text), "yes");
    EXPECT_EQ(Match("^[x\\s]$", text), "yes");
    EXPECT_EQ(Match("^\\S$", text), "no");
    EXPECT_EQ(Match("^[\\S]$", text), "no");
  }
  EXPECT_EQ(Match("^[x\\S]$", "\u200b"), "yes");
}

TEST(SchemaPatterns, UnicodePropertyWorks) {
  EXPECT_EQ(Match("^\\p{L}[\\p{L} '-]*$", "Zoë d'Arc"), "yes");
  EXPECT_EQ(Match("^\\p{Lu}$", "é"), "no");
  EXPECT_EQ(Match("^\\p{Script=Greek}$", "α"), "yes");
  EXPECT_EQ(Match("^\\p{Letter}\\P{gc=Nd}$", "éx"), "yes");
  EXPECT_THAT(Match("\\p{Nonsense}", "a"), HasSubstr("property"));
  EXPECT_THAT(Match("\\pL", "a"), HasSubstr("braces"));
}

TEST(SchemaPatterns, EscapesOfEcmaAreRewritten) {
  EXPECT_EQ(Match("^\\u0041\\x41\\u{41}$", "AAA"), "yes");
  EXPECT_EQ(Match("^\\uD83D\\uDE00$", "😀"), "yes");
  EXPECT_EQ(Match("^\\/\\-\\.$", "/-."), "yes");
  EXPECT_EQ(Match("^[\\b]$", "\b"), "yes");
  EXPECT_EQ(Match("^(?<year>\\d{4})$", "2024"), "yes");
  EXPECT_EQ(Match("^\\cJ$", "\n"), "yes");
}

TEST(SchemaPatterns, BracketsMeanWhatEcmaMeansByThem) {
  EXPECT_EQ(Match("^[[:alpha:]]$", "a"), "no") << "a POSIX class is none of ECMA-262";
  EXPECT_EQ(Match("^[[]$", "["), "yes");
  EXPECT_EQ(Match("[]", "]"), "no");
  EXPECT_EQ(Match("^[^]$", "\n"), "yes");
  EXPECT_EQ(Match("^[\\w-.]$", "-"), "yes");
  EXPECT_EQ(Match("^[a-c]$", "b"), "yes");
  EXPECT_EQ(Match("^{{}}$", "{{}}"), "yes");
}

TEST(SchemaPatterns, LookaroundAndBackreferencesAreRefused) {
  for (const char* pattern : {"(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b"}) {
    EXPECT_THAT(Match(pattern, "a"), HasSubstr("lookaround")) << pattern;
  }
  EXPECT_THAT(Match("(a)\\1", "aa"), HasSubstr("backreference"));
  EXPECT_THAT(Match("(?<n>a)\\k<n>", "aa"), HasSubstr("backreference"));
}

TEST(SchemaPatterns, WordsOfOtherEnginesAreRefused) {
  for (const char* pattern :
       {"(?i)a", "(?P<n>a)", "\\A", "\\z", "\\Qa\\E", "\\q", "a**", "a++", "*a", "^*", "(a", "a)",
        "[a", "\\", "\\u12", "\\uD800", "(?<n", "\\u{110000}"}) {
    const auto compiled = Pattern::Compile(pattern);
    EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument) << pattern;
  }
}

TEST(SchemaPatterns, LargePatternsAreRefused) {
  for (const std::string& pattern : {std::string(5000, 'a'), std::string("(\\p{L}{1,900}){1,900}"),
                                     std::string("[^a]{1000}{1,9}")}) {
    EXPECT_FALSE(Pattern::Compile(pattern).ok()) << pattern.substr(0, 20);
  }
  EXPECT_EQ(Pattern::Compile(std::string(5000, 'a')).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Pattern::Compile("\\p{L}{1,900}").status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SchemaPatterns, PatternsThatStallABacktrackingEngineAreFast) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Match("^(a+)+$", std::string(26, 'a') + "!"), "no");
  EXPECT_EQ(Match("^(.|\\n)*$", std::string(200'000, 'x')), "yes");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(SchemaPatterns, WorkGrowsWithTextAndProgram) {
  const auto small = Pattern::Compile("a");
  const auto large = Pattern::Compile("^[a-z]{1,100}\\p{L}$");
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_LT((*small)->Work("aaaa"), (*small)->Work("aaaaaaaa"));
  EXPECT_LT((*small)->Work("aaaa"), (*large)->Work("aaaa"));
  EXPECT_EQ((*small)->text(), "a");
}

}  // namespace
}  // namespace warder::manifest
