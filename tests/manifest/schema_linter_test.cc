#include "manifest/schema_linter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "manifest/input_schema.h"
#include "tests/support/schemas.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using warder::testing::LoadFault;
using warder::testing::Parsed;
using warder::testing::Repeated;

std::string WithDialect(const std::string& uri) {
  return R"({"$schema":")" + uri + R"(","type":"object"})";
}

TEST(SchemaLinter, KnownDialectsSelectTheirRules) {
  for (const char* uri :
       {"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema#"}) {
    const Json schema = Parsed(WithDialect(uri));
    const auto linted = LintSchema(schema, RootRule::kObject);
    ASSERT_TRUE(linted.ok()) << uri;
    EXPECT_EQ(linted->dialect, Dialect::kDraft07);
  }
  const Json modern = Parsed(WithDialect("https://json-schema.org/draft/2020-12/schema"));
  EXPECT_EQ(LintSchema(modern, RootRule::kObject)->dialect, Dialect::k2020);
  const Json untagged = Parsed(R"({"type":"object"})");
  EXPECT_EQ(LintSchema(untagged, RootRule::kObject)->dialect, Dialect::k2020);
}

TEST(SchemaLinter, UnknownDialectsAreRefusedByName) {
  for (const char* uri :
       {"http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2019-09/schema",
        "https://example.org/mine", "", "ftp://json-schema.org/draft-07/schema"}) {
    EXPECT_THAT(LoadFault(WithDialect(uri)),
                AllOf(StartsWith("at /$schema: "), HasSubstr("`" + std::string(uri) + "`")));
  }
  EXPECT_THAT(LoadFault(R"({"$schema":7})"), HasSubstr("not known"));
  EXPECT_THAT(
      LoadFault(R"({"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}})"),
      HasSubstr("cannot change the dialect"));
}

TEST(SchemaLinter, RootOfAToolMustBeAnObjectSchema) {
  EXPECT_THAT(LoadFault(R"({"type":"string"})"), HasSubstr("must be \"object\""));
  EXPECT_THAT(LoadFault(R"({"type":["object","null"]})"), HasSubstr("must be \"object\""));
  EXPECT_THAT(LoadFault("true"), HasSubstr("must be an object"));
  EXPECT_THAT(LoadFault("[]"), HasSubstr("must be an object"));
  EXPECT_EQ(LoadFault(R"({"anyOf":[{"type":"object"},{"type":"object"}]})"), "");
  EXPECT_EQ(LoadFault(R"({"$schema":"http://json-schema.org/draft-07/schema#"})"), "");
  EXPECT_EQ(LoadFault("{}"), "");
}

TEST(SchemaLinter, MisspeltKeywordIsNeverIgnored) {
  EXPECT_EQ(LoadFault(R"({"type":"object","requird":["a"]})"),
            "at /requird: unknown keyword `requird` would go unenforced: did you mean `required`?");
  EXPECT_THAT(LoadFault(R"({"properties":{"a":{"minimun":1}}})"),
              AllOf(StartsWith("at /properties/a/minimun: "), HasSubstr("`minimum`")));
  EXPECT_THAT(LoadFault(R"({"my-word":1})"), HasSubstr("x-..."));
}

TEST(SchemaLinter, NamesOfPropertiesAreNoKeywords) {
  EXPECT_EQ(LoadFault(R"({"properties":{"requird":{},"$ref":{},"$id":{"type":"string"}},
                          "default":{"requird":1},"examples":[{"minimun":2}],
                          "enum":[{"nonsense":1}]})"),
            "");
}

TEST(SchemaLinter, WordsThatPromiseNothingAreListed) {
  const Json schema = Parsed(R"({"x-vendor":1,"title":"t","properties":
      {"p":{"type":"string","nullable":true,"format":"int32","description":"d"},
       "q":{"format":"date","readOnly":true}}})");
  const auto linted = LintSchema(schema, RootRule::kObject);
  ASSERT_TRUE(linted.ok()) << linted.status();
  EXPECT_THAT(linted->unenforced,
              ElementsAre("`/`: x-vendor", "`/properties/p`: nullable",
                          "`/properties/p`: format: int32", "`/properties/q`: readOnly"));
}

TEST(SchemaLinter, KeywordsWithoutAnExactFormAreRefusedByName) {
  for (const char* member :
       {R"("unevaluatedProperties":false)", R"("unevaluatedItems":false)", R"("maxContains":2)",
        R"("minContains":2,"contains":{})", R"("$dynamicRef":"#a")", R"("$dynamicAnchor":"a")",
        R"("$recursiveRef":"#")", R"("$vocabulary":{})", R"("additionalItems":false)",
        R"("dependencies":{})"}) {
    const std::string text(member);
    const std::string name = text.substr(1, text.find('"', 1) - 1);
    EXPECT_THAT(LoadFault("{" + text + "}"),
                AllOf(StartsWith("at /" + name + ": "), HasSubstr("`" + name + "`")));
  }
}

TEST(SchemaLinter, KeywordsOfTheOtherDialectAreRefused) {
  for (const char* member :
       {R"("prefixItems":[{}])", R"("dependentRequired":{})", R"("dependentSchemas":{})",
        R"("$anchor":"a")", R"("minContains":1)"}) {
    EXPECT_THAT(LoadFault(R"({"$schema":"http://json-schema.org/draft-07/schema#",)" +
                          std::string(member) + "}"),
                HasSubstr("draft-07"));
  }
}

TEST(SchemaLinter, ArrayItemsNeedDraft07) {
  const std::string body = R"("type":"object","properties":{"w":{"type":"array",
      "items":[{"type":"integer"},{"type":"integer"}]}}})";
  const std::string fault = "at /properties/w/items: array `items` needs draft-07 or `prefixItems`";
  EXPECT_EQ(LoadFault("{" + body), fault);
  EXPECT_EQ(LoadFault(R"({"$schema":"https://json-schema.org/draft/2020-12/schema",)" + body),
            fault);
  EXPECT_EQ(LoadFault(R"({"$schema":"http://json-schema.org/draft-07/schema#",)" + body), "");
}

TEST(SchemaLinter, ValuesOfTheWrongShapeAreRefused) {
  for (const auto& [schema, pointer] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"properties":[]})", "/properties"},
           {R"({"properties":{"a":1}})", "/properties"},
           {R"({"required":true})", "/required"},
           {R"({"required":["a","a"]})", "/required"},
           {R"({"required":[1]})", "/required"},
           {R"({"minLength":-1})", "/minLength"},
           {R"({"minLength":1.5})", "/minLength"},
           {R"({"minLength":"1"})", "/minLength"},
           {R"({"multipleOf":0})", "/multipleOf"},
           {R"({"multipleOf":-1})", "/multipleOf"},
           {R"({"exclusiveMinimum":true})", "/exclusiveMinimum"},
           {R"({"uniqueItems":1})", "/uniqueItems"},
           {R"({"properties":{"a":{"type":"text"}}})", "/properties/a/type"},
           {R"({"properties":{"a":{"type":[]}}})", "/properties/a/type"},
           {R"({"properties":{"a":{"type":["null","null"]}}})", "/properties/a/type"},
           {R"({"enum":[]})", "/enum"},
           {R"({"enum":"a"})", "/enum"},
           {R"({"allOf":[]})", "/allOf"},
           {R"({"allOf":{}})", "/allOf"},
           {R"({"not":1})", "/not"},
           {R"({"$ref":1})", "/$ref"},
           {R"({"pattern":1})", "/pattern"},
           {R"({"dependentRequired":{"a":["b","b"]}})", "/dependentRequired"},
           {R"({"title":1})", "/title"}}) {
    EXPECT_THAT(LoadFault(schema), StartsWith("at " + std::string(pointer) + ": `")) << schema;
  }
}

TEST(SchemaLinter, WholeDoublesCountAsCounts) {
  EXPECT_EQ(LoadFault(R"({"properties":{"a":{"minLength":2.0}}})"), "");
}

TEST(SchemaLinter, BadPatternsNameTheirPlace) {
  EXPECT_THAT(LoadFault(R"({"properties":{"a":{"pattern":"(?=a)b"}}})"),
              AllOf(StartsWith("at /properties/a/pattern: "), HasSubstr("lookaround")));
  EXPECT_THAT(LoadFault(R"({"patternProperties":{"[":{}}})"),
              StartsWith("at /patternProperties/[: "));
}

TEST(SchemaLinter, SiblingsOfReferencesAreNotIgnoredUnderDraft07) {
  const std::string head = R"({"$schema":"http://json-schema.org/draft-07/schema#",)";
  EXPECT_THAT(LoadFault(head + R"("properties":{"a":{"$ref":"#","maxLength":2}}})"),
              AllOf(StartsWith("at /properties/a/$ref: "), HasSubstr("`maxLength`")));
  EXPECT_EQ(LoadFault(head + R"("$ref":"#/definitions/a","title":"t","x-a":1,
                                 "definitions":{"a":{"type":"object"}},"$defs":{}})"),
            "");
}

TEST(SchemaLinter, IdentifiersBelowTheRootAreRefused) {
  EXPECT_THAT(LoadFault(R"({"properties":{"a":{"$id":"other"}}})"),
              StartsWith("at /properties/a/$id: "));
  EXPECT_EQ(LoadFault(R"({"$id":"https://example.org/x#"})"), "");
  EXPECT_THAT(LoadFault(R"({"$defs":{"a":{"$anchor":"n"},"b":{"$anchor":"n"}}})"),
              HasSubstr("twice"));
  EXPECT_THAT(LoadFault(R"({"$defs":{"a":{"$anchor":"1 n"}}})"), HasSubstr("anchor"));
}

TEST(SchemaLinter, SizeDepthAndPatternsAreBounded) {
  const auto code = [](const std::string& text) {
    return InputSchema::Compile(Json::parse(text)).status().code();
  };
  const auto kExhausted = absl::StatusCode::kResourceExhausted;
  EXPECT_EQ(code(Repeated(R"({"not":)", 33) + "{}" + Repeated("}", 33)), kExhausted);
  EXPECT_EQ(code(Repeated(R"({"not":)", 32) + "{}" + Repeated("}", 32)), absl::StatusCode::kOk);
  EXPECT_EQ(code(R"({"default":)" + Repeated("[", 1000) + Repeated("]", 1000) + "}"), kExhausted);
  EXPECT_EQ(code(R"({"enum":[0)" + Repeated(",1", 10'000) + "]}"), kExhausted);
  EXPECT_EQ(code(R"({"properties":{")" + std::string(2000, 'a') + R"(":{}}})"), kExhausted);
  std::string patterns = R"({"patternProperties":{"a":{})";
  for (int i = 0; i < 100; ++i) patterns += ",\"a" + std::to_string(i) + "\":{}";
  EXPECT_EQ(code(patterns + "}}"), kExhausted);
}

TEST(SchemaLinter, FaultsShowNoControlCharacters) {
  const Json schema = {{"bad\x1b[31m\nword", 1}};
  EXPECT_THAT(std::string(InputSchema::Compile(schema).status().message()),
              HasSubstr("bad\\u001b[31m\\nword"));
}

TEST(SchemaLinter, FaultFindsThePlaceOfAValue) {
  const Json root = Parsed(R"({"a":[{"b":1},{"b":2}]})");
  EXPECT_EQ(SchemaFault(root, root["a"][1]["b"], "what").message(), "at /a/1/b: what");
  EXPECT_EQ(SchemaFault(root, root, "what").message(), "at /: what");
}

}  // namespace
}  // namespace warder::manifest
