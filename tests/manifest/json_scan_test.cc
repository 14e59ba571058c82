#include "manifest/json_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warder::manifest {
namespace {

std::vector<std::string> Tokens(std::string_view bytes) {
  std::vector<std::string> tokens;
  for (const JsonToken& token : ScanJson(bytes, {}).tokens) {
    tokens.emplace_back(bytes.substr(token.begin, token.end - token.begin));
  }
  return tokens;
}

TEST(JsonScan, TokensAreFoundInOrder) {
  EXPECT_EQ(Tokens(R"( {"a\"b": [-1.5e+3,true ,null]} )"),
            (std::vector<std::string>{"{", R"("a\"b")", "[", "-1.5e+3", "true", "null", "]", "}"}));
}

TEST(JsonScan, ItStopsWithoutAFaultWhereNoTokenBegins) {
  const std::string_view text = "[1, 'x', // never seen";
  EXPECT_EQ(Tokens(text), (std::vector<std::string>{"[", "1"}));
  EXPECT_FALSE(ScanJson(text, {}).fault.has_value());
}

TEST(JsonScan, StringThatIsNotClosedEndsTheScan) {
  EXPECT_EQ(Tokens("[\"abc"), std::vector<std::string>{"["});
  EXPECT_EQ(Tokens("[\"abc\\"), std::vector<std::string>{"["});
}

TEST(JsonScan, ClosingBracketWithoutAnOpenOneEndsTheScan) { EXPECT_TRUE(Tokens("]]").empty()); }

TEST(LineColumn, OffsetBehindTheEndIsTheEnd) {
  EXPECT_EQ(LineColumn("ab\nc", 0), "1:1");
  EXPECT_EQ(LineColumn("ab\nc", 3), "2:1");
  EXPECT_EQ(LineColumn("ab\nc", 99), "2:2");
}

}  // namespace
}  // namespace warder::manifest
