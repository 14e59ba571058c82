#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "manifest/json.h"

namespace warder::manifest {
namespace {

constexpr std::string_view kDocument =
    "{\n"
    "  \"tools\": {\"a\": [10, {\"x/y\": true, \"m~n\" : 1.50}]},\n"
    "  \"\": null,\n"
    "  \"b\":   {}\n"
    "}";

JsonPositions Positions() {
  JsonPositions positions;
  EXPECT_TRUE(ParseStrictJson(kDocument, "f.json", {}, &positions).ok());
  return positions;
}

TEST(JsonPositions, ValuesAndKeysAreFoundByPointer) {
  const JsonPositions positions = Positions();
  EXPECT_EQ(positions.At(""), "1:1");
  EXPECT_EQ(positions.At("/tools"), "2:12");
  EXPECT_EQ(positions.KeyAt("/tools"), "2:3");
  EXPECT_EQ(positions.At("/tools/a/0"), "2:19");
  EXPECT_EQ(positions.At("/tools/a/1"), "2:23");
  EXPECT_EQ(positions.At("/b"), "4:10");
}

TEST(JsonPositions, EscapedSegmentsAreUnderstood) {
  const JsonPositions positions = Positions();
  EXPECT_EQ(positions.KeyAt("/tools/a/1/x~1y"), "2:24");
  EXPECT_EQ(positions.Written("/tools/a/1/m~0n"), "1.50");
  EXPECT_EQ(positions.Written("/"), "null");
}

TEST(JsonPositions, MissingValueHasThePlaceOfWhatWouldHoldIt) {
  const JsonPositions positions = Positions();
  EXPECT_EQ(positions.At("/b/missing/deeper"), "4:10");
  EXPECT_EQ(positions.At("/tools/a/2"), "2:18");
  EXPECT_EQ(positions.Written("/tools/a/2"), "");
}

TEST(JsonPositions, WrittenBytesAreExact) {
  const JsonPositions positions = Positions();
  EXPECT_EQ(positions.Written("/tools/a"), "[10, {\"x/y\": true, \"m~n\" : 1.50}]");
  EXPECT_EQ(positions.Written("/tools/a/1/x~1y"), "true");
  EXPECT_EQ(positions.Written("/b"), "{}");
  EXPECT_EQ(positions.Written(""), kDocument);
}

TEST(JsonPositions, NothingIsKnownBeforeAParse) {
  const JsonPositions positions;
  EXPECT_EQ(positions.At("/a"), "1:1");
  EXPECT_EQ(positions.Written(""), "");
}

TEST(QuoteKey, OnlyPrintableAsciiIsShown) {
  EXPECT_EQ(QuoteKey("timeout_ms"), "`timeout_ms`");
  EXPECT_EQ(QuoteKey("a\x1b[2J\n"), "`a\\x1b[2J\\n`");
  EXPECT_EQ(QuoteKey("\xe2\x80\xae"), "`\\xe2\\x80\\xae`");
}

TEST(QuoteKey, LongKeyIsCut) {
  EXPECT_EQ(QuoteKey(std::string(1000, 'k')), "`" + std::string(64, 'k') + "...`");
}

}  // namespace
}  // namespace warder::manifest
