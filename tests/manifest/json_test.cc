#include "manifest/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace warder::manifest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Fault(std::string_view bytes, const JsonLimits& limits = {}) {
  const absl::StatusOr<Json> parsed = ParseStrictJson(bytes, "f.json", limits);
  return parsed.ok() ? "accepted" : std::string(parsed.status().message());
}

std::string RoundTrip(std::string_view bytes) {
  const absl::StatusOr<Json> parsed = ParseStrictJson(bytes, "f.json");
  return parsed.ok() ? WriteJson(*parsed) : std::string(parsed.status().message());
}

std::string Nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(StrictJson, EveryKindOfValueIsReadInWrittenOrder) {
  const std::string text = R"({"z":[1,-2,true,false,null],"a":{"s":"x\ny","e":{}},"f":0.5})";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(StrictJson, ScalarIsADocument) {
  EXPECT_EQ(RoundTrip(" 1 "), "1");
  EXPECT_EQ(RoundTrip("\"\""), "\"\"");
}

TEST(StrictJson, EmptyDocumentIsRefused) {
  EXPECT_EQ(Fault(""), "f.json:1:1: the document is empty");
  EXPECT_EQ(Fault(" \n "), "f.json:2:2: the document is empty");
}

TEST(StrictJson, DuplicateKeyIsRefusedWithBothPlaces) {
  EXPECT_EQ(Fault("{\"a\": 1,\n  \"b\": 2,\n  \"a\": 3}"),
            "f.json:3:3: duplicate key `a`, at 1:2 and again at 3:3");
}

TEST(StrictJson, DuplicateKeyThatIsWrittenInTwoWaysIsRefused) {
  EXPECT_THAT(Fault(R"({"deploy":1,"\u0064eploy":2})"), HasSubstr("duplicate key `deploy`"));
}

TEST(StrictJson, DuplicateKeyInANestedObjectIsRefused) {
  EXPECT_THAT(Fault(R"([{"x":{"k":[],"k":0}}])"), StartsWith("f.json:1:15: duplicate key `k`"));
}

TEST(StrictJson, FirstDuplicateIsTheOneReported) {
  EXPECT_THAT(Fault(R"({"b":1,"a":1,"a":2,"b":2})"), HasSubstr("duplicate key `a`"));
}

TEST(StrictJson, SameKeyInDifferentObjectsIsFine) {
  EXPECT_EQ(RoundTrip(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})"),
            R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})");
}

TEST(StrictJson, CommentIsRefusedAtItsPlace) {
  EXPECT_THAT(Fault("{\n  // note\n  \"a\": 1}"), StartsWith("f.json:2:3: comment"));
  EXPECT_THAT(Fault("[1 /* two */]"), StartsWith("f.json:1:4: comment"));
  EXPECT_THAT(Fault("# note\n{}"), StartsWith("f.json:1:1: comment"));
}

TEST(StrictJson, CommentMarksInsideAStringAreText) {
  EXPECT_EQ(RoundTrip(R"(["// x /* y */ # z"])"), R"(["// x /* y */ # z"])");
}

TEST(StrictJson, TrailingCommaIsRefusedAtTheComma) {
  EXPECT_THAT(Fault("[1,\n]"), StartsWith("f.json:1:3: trailing comma"));
  EXPECT_THAT(Fault(R"({"a":1 , })"), StartsWith("f.json:1:8: trailing comma"));
}

TEST(StrictJson, ByteOrderMarkIsRefused) {
  EXPECT_THAT(Fault("\xef\xbb\xbf{}"), StartsWith("f.json:1:1: byte order mark"));
}

TEST(StrictJson, NulIsRefusedRawOrEscaped) {
  EXPECT_THAT(Fault(std::string_view("{}\0", 3)), StartsWith("f.json:1:3: NUL byte"));
  EXPECT_THAT(Fault(std::string_view("{}\0garbage", 10)), HasSubstr("NUL"));
  EXPECT_THAT(Fault(std::string_view("[\"a\0b\"]", 7)), HasSubstr("NUL"));
  EXPECT_THAT(Fault(R"(["ab\u0000"])"), StartsWith("f.json:1:5: escaped NUL"));
  EXPECT_THAT(Fault(R"({"\u0000":1})"), HasSubstr("escaped NUL"));
}

TEST(StrictJson, BackslashBeforeTheLettersOfAnEscapedNulIsText) {
  EXPECT_EQ(RoundTrip(R"(["\\u0000"])"), R"(["\\u0000"])");
}

TEST(StrictJson, LoneSurrogateIsRefused) {
  EXPECT_THAT(Fault(R"(["\ud800"])"), HasSubstr("surrogate"));
  EXPECT_THAT(Fault(R"(["\udc00"])"), HasSubstr("surrogate"));
  EXPECT_THAT(Fault(R"(["\ud800\u0041"])"), HasSubstr("surrogate"));
  EXPECT_THAT(Fault(R"(["\ud800\ud800"])"), HasSubstr("surrogate"));
  EXPECT_EQ(RoundTrip(R"(["\ud83d\ude00"])"), "[\"\xf0\x9f\x98\x80\"]");
}

TEST(StrictJson, InvalidUtf8IsRefused) {
  EXPECT_THAT(Fault("[\"\xff\"]"), HasSubstr("UTF-8"));
  EXPECT_THAT(Fault("[\"\xc0\xaf\"]"), HasSubstr("UTF-8"));          // overlong
  EXPECT_THAT(Fault("[\"\xed\xa0\x80\"]"), HasSubstr("UTF-8"));      // a surrogate
  EXPECT_THAT(Fault("[\"\xf4\x90\x80\x80\"]"), HasSubstr("UTF-8"));  // above U+10FFFF
  EXPECT_THAT(Fault("[\"\xe2\x82\"]"), HasSubstr("UTF-8"));          // cut
  EXPECT_NE(Fault("{\xa0}"), "accepted");
}

TEST(StrictJson, RawControlCharacterInAStringIsRefused) {
  EXPECT_THAT(Fault("[\"a\nb\"]"), HasSubstr("control character"));
}

TEST(StrictJson, LaxFormsOfOtherReadersAreRefused) {
  for (const char* text :
       {"NaN",  "Infinity", "-Infinity", "nan", "'a'",       "{a:1}",   "[1 2]", "{\"a\" 1}",
        "01",   "+1",       ".5",        "1.",  "1e",        "0x10",    "-",     "True",
        "[,]",  "[",        "]",         "{]",  "{\"a\":}",  "{\"a\"}", "\"a",   "\"\\x\"",
        "[1]]", "{} {}",    "1 2",       "\f1", "undefined", "[1,,2]"}) {
    EXPECT_NE(Fault(text), "accepted") << text;
  }
}

TEST(StrictJson, TrailingBytesAreRefused) {
  EXPECT_THAT(Fault("{}\n x"), StartsWith("f.json:2:2: "));
  EXPECT_THAT(Fault("{}{}"), StartsWith("f.json:1:3: "));
}

TEST(StrictJson, SyntaxErrorPointsAtTheTokenThatDoesNotBelong) {
  EXPECT_THAT(Fault("{\"a\": 1\n \"secret\": 2}"),
              StartsWith("f.json:2:2: syntax error in object"));
  EXPECT_THAT(Fault("{\"a\":\n  : 1}"), StartsWith("f.json:2:3: "));
  EXPECT_THAT(Fault("[1, 2"), StartsWith("f.json:1:6: "));
}

TEST(StrictJson, MessagesNeverEchoValues) {
  for (const char* text :
       {"{\"a\": \"hunter2\" \"b\"}", "[\"hunter2\" 1]", "[\"hunter2\\q\"]", "hunter2",
        "[\"hunter2", "{\"a\": 1} \"hunter2\"", "[\"hunter2'; last read: 'x\" 1]",
        "[\"hunter2\", 1e999]", "[\"hunter2\xff\"]", "{\"k\": hunter2}", "[\"hunter2\" : 1]"}) {
    EXPECT_THAT(Fault(text), Not(HasSubstr("hunter2"))) << text;
    EXPECT_NE(Fault(text), "accepted") << text;
  }
  EXPECT_THAT(Fault("[1, 777777777777777777777777]"), Not(HasSubstr("777")));
  EXPECT_THAT(Fault("[777e777]"), Not(HasSubstr("777")));
}

TEST(StrictJson, ColumnsCountCharactersNotBytes) {
  EXPECT_THAT(Fault("[\"\xc3\xa4\xf0\x9f\x98\x80\", x]"), StartsWith("f.json:1:8: "));
}

TEST(StrictJson, WholeNumbersOf64BitsAreKeptExactly) {
  EXPECT_EQ(RoundTrip("[9007199254740993,-9223372036854775808,18446744073709551615]"),
            "[9007199254740993,-9223372036854775808,18446744073709551615]");
}

TEST(StrictJson, NumberThatAReaderWouldRoundIsRefused) {
  for (const char* text :
       {"18446744073709551616", "-9223372036854775809", "100000000000000000000", "1e400", "-1e400",
        "1e-400", "0.1234567890123456789", "9007199254740993.0", "1.00000000000000000001", "2e-324",
        "123456789012345678901.5", "1e99999999999999999999", "0.30000000000000003"}) {
    EXPECT_THAT(Fault(text), HasSubstr("number would be rounded")) << text;
  }
}

TEST(StrictJson, NumberThatSurvivesADoubleIsAccepted) {
  for (const char* text : {"0.1", "19.99", "1e3", "1.50", "-0", "-0.0", "0e999", "1E+2", "1e23",
                           "5e-324", "100.000", "1.7976931348623157e308", "0.30000000000000004",
                           "0.10000000000000001", "1e22", "123456.789e-3"}) {
    EXPECT_EQ(Fault(text), "accepted") << text;
  }
}

TEST(StrictJson, RoundedNumberIsToldWithItsPlace) {
  EXPECT_THAT(Fault("{\"a\":\n [1, 1e999]}"), StartsWith("f.json:2:6: number would be rounded"));
}

TEST(StrictJson, DepthIsBounded) {
  EXPECT_EQ(Fault(Nested(64)), "accepted");
  const absl::StatusOr<Json> deep = ParseStrictJson(Nested(65), "f.json");
  EXPECT_EQ(deep.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(deep.status().message(), "f.json:1:65: nested deeper than 64 levels");
  EXPECT_THAT(Fault(std::string(1u << 20, '[')), HasSubstr("nested deeper"));
}

TEST(StrictJson, SizeIsBounded) {
  const absl::StatusOr<Json> large = ParseStrictJson("[1,2]", "f.json", {.bytes = 4});
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(large.status().message(), "f.json:1:1: 5 bytes, the limit is 4");
  EXPECT_EQ(Fault("[1,2]", {.bytes = 5}), "accepted");
}

TEST(StrictJson, NumberOfValuesIsBounded) {
  EXPECT_EQ(Fault("{\"a\":[1]}", {.values = 4}), "accepted");
  const absl::StatusOr<Json> many = ParseStrictJson("{\"a\":[1,2]}", "f.json", {.values = 4});
  EXPECT_EQ(many.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.status().message()), HasSubstr("more than 4 values"));
}

TEST(StrictJson, ObjectWithManyKeysIsReadWithoutQuadraticWork) {
  std::string text = "{";
  constexpr int kKeys = 30'000;  // a quadratic reader takes many seconds
  for (int i = 0; i < kKeys; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  text += "\"last\":2}";
  const absl::StatusOr<Json> parsed = ParseStrictJson(text, "f.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->size(), kKeys + 1u);
}

TEST(StrictJson, HostileTextArrivesUnchanged) {
  Json value = {{"text", "quotes \" ' ` $() \n\r\t \\ \xf0\x9f\x92\xa3 \xe2\x80\xae \x7f"}};
  const absl::StatusOr<Json> parsed = ParseStrictJson(WriteJson(value), "f.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, value);
}

TEST(WriteJson, AsciiFormEscapesEverythingAboveTilde) {
  const Json value = {{"k", "\xc3\xa4\x7f~\xf0\x9f\x98\x80"}};
  EXPECT_EQ(WriteJson(value, /*ascii=*/true), R"({"k":"\u00e4\u007f~\ud83d\ude00"})");
}

TEST(WriteJson, NumbersReadBackAsTheyWere) {
  for (const double number : {0.0, -0.0, 1.0, -1.5, 0.1, 19.99, 1e22, 1e300, 5e-324,
                              1.3164367751946823e15, 3.8343192976162206e241, 1316436775194682.25}) {
    const absl::StatusOr<Json> again = ParseStrictJson(WriteJson(Json(number)), "f.json");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->is_number_float());
    EXPECT_EQ(again->get<double>(), number);
  }
  EXPECT_EQ(WriteJson(Json(100.0)), "100.0");
  EXPECT_EQ(WriteJson(Json(std::numeric_limits<double>::infinity())), "null");
}

TEST(WriteJson, EmptyContainersAndNestingAreWritten) {
  EXPECT_EQ(RoundTrip(R"({"a":{},"b":[],"c":[{"d":[1,2.5]},[]]})"),
            R"({"a":{},"b":[],"c":[{"d":[1,2.5]},[]]})");
}

TEST(WriteJson, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(WriteJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace warder::manifest
