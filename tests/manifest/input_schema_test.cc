#include "manifest/input_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/schemas.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using warder::testing::InputFault;
using warder::testing::LoadFault;
using warder::testing::Parsed;
using warder::testing::Repeated;

TEST(InputSchema, DefinitionsAroundTheOnlyArgumentAreFollowed) {
  const std::string schema = R"({"type":"object","$defs":{"Q":{"type":"object","properties":
      {"limit":{"type":"integer","default":20},"ids":{"type":"array","items":{"type":"string"}}}}},
      "properties":{"q":{"$ref":"#/$defs/Q"}},"required":["q"]})";
  EXPECT_EQ(InputFault(schema, R"({"q":{"limit":5}})"), "");
  EXPECT_EQ(InputFault(schema, R"({"q":{"limit":"5"}})"),
            "`/q/limit`: type must be integer, got string");
  EXPECT_EQ(InputFault(schema, "{}"), "`/`: property `q` is missing (required)");
}

TEST(InputSchema, ArrayItemsUnderDraft07AreATuple) {
  const std::string schema = R"({"$schema":"http://json-schema.org/draft-07/schema#",
      "type":"object","properties":{"w":{"type":"array","items":[{"type":"integer"},
      {"type":"integer"}],"additionalItems":false}}})";
  EXPECT_EQ(InputFault(schema, R"({"w":[1,2]})"), "");
  EXPECT_EQ(InputFault(schema, R"({"w":[1]})"), "");
  EXPECT_THAT(InputFault(schema, R"({"w":[1,"2"]})"), StartsWith("`/w/1`: "));
  EXPECT_THAT(InputFault(schema, R"({"w":[1,2,3]})"), StartsWith("`/w`: "));
}

TEST(InputSchema, MultipleOfZeroIsRefusedAtLoad) {
  EXPECT_THAT(
      LoadFault(R"({"type":"object","properties":{"n":{"type":"integer","multipleOf":0}}})"),
      StartsWith("at /properties/n/multipleOf: "));
}

TEST(InputSchema, UnicodePropertyInAPatternWorks) {
  const std::string schema =
      R"({"properties":{"name":{"type":"string","pattern":"^\\p{L}[\\p{L} '-]*$"}}})";
  EXPECT_EQ(InputFault(schema, R"({"name":"Zoë d'Arc"})"), "");
  EXPECT_THAT(InputFault(schema, R"({"name":"4"})"), HasSubstr("pattern"));
}

TEST(InputSchema, ObjectSentAsAJsonStringIsRefusedWithAHint) {
  EXPECT_EQ(InputFault(R"({"properties":{"fields":{"type":"object"}},"required":["fields"]})",
                       R"({"fields":"{\"description\":\"x\"}"})"),
            "`/fields`: type must be object, got string (it looks like JSON text; send the object "
            "itself)");
}

TEST(InputSchema, OneOfTellsHowManyMatch) {
  const std::string schema = R"({"type":"object","properties":{"item":{"oneOf":[
      {"type":"object","properties":{"node_id":{"type":"string"}},"required":["node_id"],
       "additionalProperties":false},
      {"type":"object","properties":{"item_id":{"type":"integer"}},"required":["item_id"],
       "additionalProperties":false}]}},"required":["item"]})";
  EXPECT_EQ(InputFault(schema, R"({"item":{"item_id":1}})"), "");
  EXPECT_THAT(InputFault(schema, R"({"item":{"item_id":1,"node_id":"a"}})"),
              StartsWith("`/item`: matches 0 of 2"));
}

TEST(InputSchema, NullableMeansNothingAndIsListed) {
  const auto schema = InputSchema::Compile(
      Parsed(R"({"properties":{"p":{"type":"string","nullable":true,"format":"int32"}}})"));
  ASSERT_TRUE(schema.ok());
  EXPECT_THAT((*schema)->Unenforced(),
              ElementsAre("`/properties/p`: nullable", "`/properties/p`: format: int32"));
  EXPECT_THAT(std::string((*schema)->Check(Parsed(R"({"p":null})")).message()),
              StartsWith("`/p`: "));
}

TEST(InputSchema, EmptyInputIsAnObject) {
  const std::string schema = R"({"type":"object","properties":{"limit":{"type":"integer"}}})";
  EXPECT_EQ(InputFault(schema, "{}"), "");
}

// Each of these is answered wrongly by valijson alone.
TEST(InputSchema, NumbersAreExact) {
  EXPECT_EQ(InputFault(R"({"type":"integer"})", "1.0"), "");
  EXPECT_EQ(InputFault(R"({"type":"integer","minimum":0})", "9223372036854775808"), "");
  EXPECT_EQ(InputFault(R"({"minimum":0})", "18446744073709551615"), "");
  EXPECT_EQ(InputFault(R"({"multipleOf":0.01})", "19.99"), "");
  EXPECT_EQ(InputFault(R"({"enum":[1,2.0]})", "2"), "");
  EXPECT_NE(InputFault(R"({"maximum":9007199254740992})", "9007199254740993"), "");
  EXPECT_NE(InputFault(R"({"const":9007199254740992})", "9007199254740993"), "");
}

// What valijson judges wrongly must stay right where a wrong "accept" turns into a wrong "refuse".
TEST(InputSchema, VerdictsHoldUnderNegationAndChoice) {
  EXPECT_EQ(InputFault(R"({"not":{"pattern":"^a"}})", R"("b")"), "");
  EXPECT_NE(InputFault(R"({"not":{"pattern":"^a"}})", R"("a")"), "");
  EXPECT_EQ(InputFault(R"({"oneOf":[{"format":"date"},{"const":"x"}]})", R"("x")"), "");
  EXPECT_EQ(InputFault(R"({"oneOf":[{"multipleOf":2},{"multipleOf":3}]})", "9"), "");
  EXPECT_NE(InputFault(R"({"oneOf":[{"multipleOf":2},{"multipleOf":3}]})", "6"), "");
  EXPECT_EQ(
      InputFault(R"({"if":{"minimum":5},"then":{"multipleOf":5},"else":{"multipleOf":2}})", "4"),
      "");
  EXPECT_EQ(
      InputFault(R"({"not":{"properties":{"a":{"not":{"type":"integer"}}},"required":["a"]}})",
                 R"({"a":1.0})"),
      "");
  EXPECT_EQ(InputFault(R"({"not":{"additionalProperties":false,"patternProperties":{"^a":{}}}})",
                       R"({"b":1})"),
            "");
}

TEST(InputSchema, NewerKeywordsAreEnforced) {
  EXPECT_NE(InputFault(R"({"prefixItems":[{"type":"string"}]})", "[1]"), "");
  EXPECT_EQ(InputFault(R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a"])"), "");
  EXPECT_NE(InputFault(R"({"$ref":"#/$defs/s","maxLength":2,"$defs":{"s":{"type":"string"}}})",
                       R"("abc")"),
            "");
  EXPECT_NE(InputFault(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"), "");
  EXPECT_EQ(InputFault(R"({"$ref":"#here","$defs":{"s":{"$anchor":"here","type":"string"}}})",
                       R"("abc")"),
            "");
}

TEST(InputSchema, RecursiveTreesAreChecked) {
  const std::string schema = R"({"type":"object","properties":{"value":{"type":"integer"},
      "children":{"type":"array","items":{"$ref":"#"}}},"required":["value"]})";
  EXPECT_EQ(InputFault(schema, R"({"value":1,"children":[{"value":2,"children":[]},{"value":3}]})"),
            "");
  EXPECT_EQ(InputFault(schema, R"({"value":1,"children":[{"value":2},{"children":[]}]})"),
            "`/children/1`: property `value` is missing (required)");
}

TEST(InputSchema, BlowUpOfReferencesEndsInARefusal) {
  // Each level asks the next one twice: a million evaluations of an empty object.
  std::string schema = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 20; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    schema += "\"d" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "]},";
  }
  const auto compiled = InputSchema::Compile(Json::parse(schema + R"("d20":{"type":"object"}}})"));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ((*compiled)->Check(Json::object()).code(), absl::StatusCode::kResourceExhausted);
}

TEST(InputSchema, BlowUpThatOnlyValijsonSeesIsRefused) {
  // Ours fails each `allOf` at its pattern, which valijson is not told of.
  std::string schema = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 20; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    schema += "\"d" + std::to_string(i) +
              R"(":{"anyOf":[{"properties":{"k":{"pattern":"^a"}},"allOf":[)" + next + "," + next +
              "]},{}]},";
  }
  schema += R"("d20":{"not":{"required":["k"]}}}})";
  const auto compiled = InputSchema::Compile(Json::parse(schema));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ((*compiled)->Check(Parsed(R"({"k":"b"})")).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(InputSchema, DeepInputForALongChainIsRefused) {
  const std::string schema = R"({"items":{"allOf":[{"allOf":[{"allOf":[{"allOf":[{"allOf":[{"allOf":
      [{"allOf":[{"allOf":[{"$ref":"#"}]}]}]}]}]}]}]}]}})";
  EXPECT_EQ(InputFault(schema, Repeated("[", 40) + Repeated("]", 40)), "");
  EXPECT_THAT(InputFault(schema, Repeated("[", 63) + Repeated("]", 63)),
              HasSubstr("nests too deeply"));
  const auto anything = InputSchema::Compile(Parsed("true"), RootRule::kAny);
  ASSERT_TRUE(anything.ok());
  Json nested;
  for (int i = 0; i < 5000; ++i) nested = Json::array({std::move(nested)});
  EXPECT_EQ((*anything)->Check(nested).code(), absl::StatusCode::kResourceExhausted);
}

TEST(InputSchema, LargeInputsAreJudgedInTime) {
  std::string list = "[0";
  for (int i = 1; i < 100'000; ++i) list += "," + std::to_string(i);
  const std::string input =
      R"({"list":)" + list + R"(],"text":")" + std::string(1 << 20, 'x') + "\"}";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(InputFault(R"({"properties":{"list":{"items":{"type":"integer"},"uniqueItems":true},
                                         "text":{"pattern":"^[^a]*$","maxLength":1048576}}})",
                       input),
            "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(InputSchema, FaultsAreOneShortLine) {
  const std::string fault = InputFault(R"({"additionalProperties":false})",
                                       R"({"a\nb\u001b[31m)" + std::string(5000, 'x') + R"(":1})");
  EXPECT_LT(fault.size(), 200u);
  EXPECT_EQ(fault.find('\n'), std::string::npos);
  EXPECT_EQ(fault.find('\x1b'), std::string::npos);
}

TEST(InputSchema, LoadFaultsNameTheKeywordAndItsPlace) {
  EXPECT_THAT(LoadFault(R"({"properties":{"a":{"unevaluatedProperties":false}}})"),
              AllOf(StartsWith("at /properties/a/unevaluatedProperties: "),
                    HasSubstr("`unevaluatedProperties`")));
  EXPECT_THAT(LoadFault(R"({"properties":{"a":{"$ref":"file:///etc/passwd"}}})"),
              HasSubstr("nothing is fetched"));
}

}  // namespace
}  // namespace warder::manifest
