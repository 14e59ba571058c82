#include "manifest/schema_numbers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace warder::manifest {
namespace {

IndexedJson Number(const char* text) { return IndexedJson::parse(text); }

bool Multiple(const char* value, const char* factor) {
  return IsMultipleOf(ToDecimal(Number(value)), ToDecimal(Number(factor)));
}

TEST(SchemaNumbers, MultiplesAreThoseOfDecimalNumbers) {
  EXPECT_TRUE(Multiple("19.99", "0.01"));
  EXPECT_TRUE(Multiple("0.3", "0.1"));
  EXPECT_TRUE(Multiple("-4.5", "1.5"));
  EXPECT_TRUE(Multiple("0", "7"));
  EXPECT_TRUE(Multiple("1e308", "0.5"));
  EXPECT_TRUE(Multiple("500", "250"));
  EXPECT_FALSE(Multiple("19.995", "0.01"));
  EXPECT_FALSE(Multiple("1e308", "0.123456789"));
  EXPECT_FALSE(Multiple("15", "10"));
  EXPECT_FALSE(Multiple("1e-300", "2"));
}

TEST(SchemaNumbers, MultiplesOfLargeIntegersAreExact) {
  EXPECT_TRUE(Multiple("18446744073709551615", "5"));
  EXPECT_FALSE(Multiple("18446744073709551615", "2"));
  EXPECT_FALSE(Multiple("9223372036854775807", "9223372036854775806"));
}

TEST(SchemaNumbers, WholeDoublesAreIntegers) {
  EXPECT_TRUE(IsInteger(Number("1.0")));
  EXPECT_TRUE(IsInteger(Number("-1e300")));
  EXPECT_TRUE(IsInteger(Number("18446744073709551615")));
  EXPECT_FALSE(IsInteger(Number("1.5")));
}

TEST(SchemaNumbers, ComparisonIsExactBeyondDoubles) {
  EXPECT_LT(ToExact(Number("9007199254740992")), ToExact(Number("9007199254740993")));
  EXPECT_LT(ToExact(Number("9223372036854775807")), ToExact(Number("9223372036854775808")));
  EXPECT_LT(ToExact(Number("-9223372036854775808")), ToExact(Number("0")));
}

TEST(SchemaNumbers, EqualValuesHaveOneCanonicalText) {
  const auto same = [](const char* left, const char* right) {
    const bool equal = SameValue(Number(left), Number(right));
    EXPECT_EQ(equal, CanonicalText(Number(left)) == CanonicalText(Number(right)))
        << left << " " << right;
    return equal;
  };
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("0", "-0.0"));
  EXPECT_TRUE(same("9223372036854775808", "9223372036854775808.0"));
  EXPECT_TRUE(same(R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1})"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992.0"));
  EXPECT_FALSE(same("1", "true"));
  EXPECT_FALSE(same("0", "null"));
  EXPECT_FALSE(same(R"("1")", "1"));
  EXPECT_FALSE(same(R"(["a","b"])", R"(["as1:b"])"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":1})"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"b":1})"));
}

}  // namespace
}  // namespace warder::manifest
