#include "manifest/schema_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "manifest/input_schema.h"
#include "manifest/schema_translation.h"
#include "tests/support/schemas.h"

namespace warder::manifest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using warder::testing::Parsed;

constexpr EvaluationBudget kPlenty = {1'000'000, 1'000'000'000};

absl::Status Evaluated(const std::string& schema_text, const std::string& input,
                       const EvaluationBudget& budget = kPlenty) {
  const Json schema = Parsed(schema_text);
  const auto linted = LintSchema(schema, RootRule::kAny);
  EXPECT_TRUE(linted.ok()) << linted.status();
  const auto graph = TranslateSchema(schema, *linted);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return EvaluateSchema(*graph, IndexedJson(Parsed(input)), budget);
}

std::string Fault(const std::string& schema, const std::string& input) {
  return std::string(Evaluated(schema, input).message());
}

TEST(SchemaEvaluator, FaultsNamePlaceAndKeyword) {
  struct {
    const char* schema;
    const char* input;
    const char* fault;
  } const kCases[] = {
      {R"({"type":"string"})", "1", "`/`: type must be string, got integer"},
      {R"({"type":["string","null"]})", "1.5", "`/`: type must be string or null, got number"},
      {R"({"type":"integer"})", "1.5", "`/`: type must be integer, got number"},
      {R"({"enum":["a","b"]})", R"("c")", R"(`/`: must be one of "a", "b" (enum))"},
      {R"({"const":1})", "2", "`/`: must be 1 (const)"},
      {R"({"minimum":0})", "-1", "`/`: must be at least 0 (minimum)"},
      {R"({"maximum":0.5})", "1", "`/`: must be at most 0.5 (maximum)"},
      {R"({"exclusiveMinimum":0})", "0", "`/`: must be above 0 (exclusiveMinimum)"},
      {R"({"exclusiveMaximum":0})", "0", "`/`: must be below 0 (exclusiveMaximum)"},
      {R"({"multipleOf":0.5})", "0.75", "`/`: must be a multiple of 0.5 (multipleOf)"},
      {R"({"minLength":2})", R"("é")", "`/`: must have at least 2 characters (minLength)"},
      {R"({"maxLength":1})", R"("éé")", "`/`: must have at most 1 characters (maxLength)"},
      {R"({"pattern":"^a"})", R"("b")", "`/`: does not match `^a` (pattern)"},
      {R"({"format":"date"})", R"("2023-02-29")", "`/`: is not a valid date (format)"},
      {R"({"minItems":1})", "[]", "`/`: must have at least 1 items (minItems)"},
      {R"({"maxItems":1})", "[1,2]", "`/`: must have at most 1 items (maxItems)"},
      {R"({"uniqueItems":true})", "[1,2,1.0]", "`/`: items 0 and 2 are equal (uniqueItems)"},
      {R"({"contains":{"type":"null"}})", "[1]", "`/`: no item is as `contains` asks"},
      {R"({"prefixItems":[{"type":"null"}]})", "[1]", "`/0`: type must be null, got integer"},
      {R"({"prefixItems":[{}],"items":false})", "[1,2]", "`/`: must have at most 1 items (items)"},
      {R"({"items":{"type":"null"}})", "[null,true]", "`/1`: type must be null, got boolean"},
      {R"({"required":["a"]})", "{}", "`/`: property `a` is missing (required)"},
      {R"({"minProperties":1})", "{}", "`/`: must have at least 1 properties (minProperties)"},
      {R"({"maxProperties":0})", R"({"a":1})",
       "`/`: must have at most 0 properties (maxProperties)"},
      {R"({"properties":{"a":{"type":"null"}}})", R"({"a":1})",
       "`/a`: type must be null, got integer"},
      {R"({"properties":{"a":false}})", R"({"a":1})",
       "`/a`: is not allowed here (the schema is `false`)"},
      {R"({"additionalProperties":false})", R"({"a":1})",
       "`/`: unknown property `a` (additionalProperties)"},
      {R"({"additionalProperties":{"type":"null"}})", R"({"a":1})",
       "`/a`: type must be null, got integer"},
      {R"({"patternProperties":{"^a":{"type":"null"}}})", R"({"ab":1})",
       "`/ab`: type must be null, got integer"},
      {R"({"propertyNames":{"maxLength":1}})", R"({"ab":1})",
       "`/`: property name `ab` is not as `propertyNames` asks"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})",
       "`/`: property `b` is missing, and needed beside `a` (dependentRequired)"},
      {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1",
       "`/`: type must be string or null, got integer (anyOf)"},
      {R"({"anyOf":[{"minimum":5},{"type":"null"}]})", "1",
       "`/`: matches 0 of 2 alternatives (anyOf)"},
      {R"({"oneOf":[{},{}]})", "1",
       "`/`: matches 2 of 2 alternatives, must match exactly one (oneOf)"},
      {R"({"not":{}})", "1", "`/`: is what `not` rules out"},
      {R"({"if":{"type":"integer"},"then":{"minimum":5}})", "1",
       "`/`: must be at least 5 (minimum)"},
      {R"({"if":{"type":"string"},"else":{"minimum":5}})", "1",
       "`/`: must be at least 5 (minimum)"},
      {"false", "1", "`/`: is not allowed here (the schema is `false`)"}};
  for (const auto& one : kCases) EXPECT_EQ(Fault(one.schema, one.input), one.fault) << one.schema;
}

TEST(SchemaEvaluator, FaultsHoldNoValueOfTheInput) {
  const std::string secret = R"("hunter2-secret")";
  for (const char* schema :
       {R"({"type":"integer"})", R"({"enum":["a"]})", R"({"const":1})", R"({"maxLength":3})",
        R"({"pattern":"^a"})", R"({"format":"uuid"})", R"({"not":{}})", R"({"anyOf":[false]})"}) {
    const std::string fault = Fault(schema, secret);
    EXPECT_THAT(fault, Not(HasSubstr("hunter2"))) << fault;
    EXPECT_NE(fault, "");
  }
}

TEST(SchemaEvaluator, KeywordsOfOtherTypesSayNothing) {
  EXPECT_EQ(Fault(R"({"minimum":5,"minLength":9,"minItems":9,"minProperties":9,"pattern":"x",
                      "format":"date","required":["a"],"contains":false,"multipleOf":7})",
                  "null"),
            "");
}

TEST(SchemaEvaluator, PropertiesAndPatternsBothApply) {
  const std::string schema =
      R"({"properties":{"ab":{"minimum":1}},"patternProperties":{"^a":{"maximum":5}},
          "additionalProperties":false})";
  EXPECT_EQ(Fault(schema, R"({"ab":3,"ac":-1})"), "");
  EXPECT_NE(Fault(schema, R"({"ab":0})"), "");
  EXPECT_NE(Fault(schema, R"({"ab":6})"), "");
  EXPECT_NE(Fault(schema, R"({"b":1})"), "");
}

TEST(SchemaEvaluator, SpentBudgetRefusesWhateverTheVerdict) {
  const std::string many = "[1,2,3,4,5,6,7,8]";
  for (const char* schema :
       {R"({"items":{"type":"integer"}})", R"({"not":{"items":{"type":"string"}}})",
        R"({"not":{"items":{"type":"integer"}}})",
        R"({"if":{"items":{"type":"integer"}},"then":false})"}) {
    EXPECT_EQ(Evaluated(schema, many, {2, 1000}).code(), absl::StatusCode::kResourceExhausted)
        << schema;
  }
  EXPECT_TRUE(Evaluated(R"({"items":{"type":"integer"}})", many, {9, 0}).ok());
}

TEST(SchemaEvaluator, PatternsHaveABudgetOfTheirOwn) {
  const std::string schema = R"({"pattern":"a"})";
  const std::string input = "\"" + std::string(1000, 'b') + "\"";
  EXPECT_EQ(Evaluated(schema, input, {1000, 500}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Evaluated(schema, input, {1000, 100'000}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(SchemaEvaluator, HintsAtJsonSentAsText) {
  EXPECT_THAT(Fault(R"({"type":"array"})", R"(" [1] ")"),
              HasSubstr("(it looks like JSON text; send the array itself)"));
  EXPECT_THAT(Fault(R"({"type":"object"})", R"("{}")"), HasSubstr("send the object itself"));
  EXPECT_THAT(Fault(R"({"type":"object"})", R"("text")"), Not(HasSubstr("JSON text")));
  EXPECT_THAT(Fault(R"({"type":"integer"})", R"("{}")"), Not(HasSubstr("JSON text")));
  EXPECT_THAT(Fault(R"({"anyOf":[{"type":"object"},{"type":"null"}]})", R"("{}")"),
              HasSubstr("send the object itself"));
}

}  // namespace
}  // namespace warder::manifest
