#include "manifest/schema_translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "manifest/input_schema.h"
#include "tests/support/schemas.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using warder::testing::Parsed;

absl::StatusOr<SchemaGraph> Translated(const std::string& text) {
  const Json schema = Parsed(text);
  const auto linted = LintSchema(schema, RootRule::kAny);
  EXPECT_TRUE(linted.ok()) << linted.status();
  return TranslateSchema(schema, *linted);
}

std::string Fault(const std::string& text) {
  return std::string(Translated(text).status().message());
}

TEST(SchemaTranslation, PrefixItemsAndItemsAreATuple) {
  const auto modern = Translated(R"({"prefixItems":[{},true],"items":false})");
  const auto draft07 = Translated(R"({"$schema":"http://json-schema.org/draft-07/schema#",
                                      "items":[{},true],"additionalItems":false})");
  for (const auto* graph : {&modern, &draft07}) {
    ASSERT_TRUE(graph->ok());
    const SchemaNode& root = (*graph)->nodes[0];
    EXPECT_THAT(root.prefix, SizeIs(2));
    ASSERT_TRUE(root.rest.has_value());
    EXPECT_TRUE((*graph)->nodes[*root.rest].never);
  }
}

TEST(SchemaTranslation, AdditionalItemsWithoutArrayItemsSaysNothing) {
  const auto graph = Translated(R"({"$schema":"http://json-schema.org/draft-07/schema#",
                                    "additionalItems":false})");
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE(graph->nodes[0].rest.has_value());
}

TEST(SchemaTranslation, DependentKeywordsAreDependencies) {
  const auto graph = Translated(
      R"({"dependentRequired":{"a":["b","c"]},"dependentSchemas":{"d":{"type":"object"}}})");
  ASSERT_TRUE(graph.ok());
  const auto& dependencies = graph->nodes[0].dependencies;
  ASSERT_THAT(dependencies, SizeIs(2));
  EXPECT_THAT(dependencies[0].required, ElementsAre("b", "c"));
  EXPECT_STREQ(dependencies[0].keyword, "dependentRequired");
  EXPECT_EQ(graph->nodes[dependencies[1].schema.value()].types, kTypeObject);
}

TEST(SchemaTranslation, SiblingsOfAReferenceAreKept) {
  const auto graph =
      Translated(R"({"$ref":"#/$defs/a","maxLength":2,"$defs":{"a":{"type":"string"}}})");
  ASSERT_TRUE(graph.ok());
  ASSERT_THAT(graph->nodes[0].all_of, SizeIs(1));
  EXPECT_EQ(graph->nodes[graph->nodes[0].all_of[0]].types, kTypeString);
  EXPECT_EQ(graph->nodes[0].max_length->value, 2u);
}

TEST(SchemaTranslation, MinContainsZeroDropsContains) {
  EXPECT_FALSE(Translated(R"({"contains":{},"minContains":0})")->nodes[0].contains.has_value());
  EXPECT_TRUE(Translated(R"({"contains":{},"minContains":1})")->nodes[0].contains.has_value());
  EXPECT_TRUE(Translated(R"({"contains":{}})")->nodes[0].contains.has_value());
}

TEST(SchemaTranslation, ReferenceFaultsNameTheirPlace) {
  EXPECT_THAT(Fault(R"({"properties":{"a":{"$ref":"http://example.org/a.json"}}})"),
              AllOf(StartsWith("at /properties/a/$ref: "), HasSubstr("nothing is fetched")));
  EXPECT_THAT(Fault(R"({"$ref":"#/$defs/b"})"), StartsWith("at /$ref: "));
}

TEST(SchemaTranslation, ReferencesWithoutProgressAreRefused) {
  for (const char* schema :
       {R"({"$ref":"#"})", R"({"$defs":{"a":{"$ref":"#/$defs/a"}}})",
        R"({"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}})",
        R"({"not":{"$ref":"#"}})", R"({"anyOf":[{},{"$ref":"#"}]})",
        R"({"if":{},"else":{"$ref":"#"}})", R"({"dependentSchemas":{"a":{"$ref":"#"}}})"}) {
    EXPECT_THAT(Fault(schema), HasSubstr("comes back to its start")) << schema;
  }
}

TEST(SchemaTranslation, ReferencesThatGoDeeperAreAllowed) {
  const auto graph = Translated(R"({"properties":{"child":{"$ref":"#"}},"items":{"$ref":"#"}})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->chain_length, 2u);
}

TEST(SchemaTranslation, ChainsOnOneValueAreBounded) {
  std::string schema = R"({"$ref":"#/$defs/d0","$defs":{)";
  const auto with_links = [&](int links) {
    std::string text = schema;
    for (int i = 0; i < links; ++i) {
      text +=
          "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"},";
    }
    return text + "\"d" + std::to_string(links) + "\":{}}}";
  };
  EXPECT_EQ(Translated(with_links(62))->chain_length, 64u);
  const auto longer = Translated(with_links(63));
  EXPECT_EQ(longer.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(Translated(with_links(2000)).status().message()), HasSubstr("in a row"));
}

TEST(SchemaTranslation, AllowedValuesAreShownWhenShort) {
  EXPECT_EQ(Translated(R"({"enum":["a",1,null]})")->nodes[0].allowed[0].shown,
            R"(one of "a", 1, null)");
  EXPECT_EQ(Translated(R"({"const":{"a":1}})")->nodes[0].allowed[0].shown, R"({"a":1})");
  const std::string big(200, 'x');
  EXPECT_EQ(Translated(R"({"enum":["a",")" + big + R"("]})")->nodes[0].allowed[0].shown,
            "one of 2 values");
  EXPECT_EQ(Translated(R"({"const":")" + big + R"("})")->nodes[0].allowed[0].shown,
            "the value that the schema gives");
}

TEST(SchemaTranslation, AnnotationsLeaveNoTrace) {
  const auto graph = Translated(R"({"title":"t","default":1,"nullable":true,"format":"int32"})");
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(graph->nodes[0].allowed, IsEmpty());
  EXPECT_EQ(graph->nodes[0].types, 0);
  EXPECT_EQ(graph->nodes[0].format, nullptr);
}

}  // namespace
}  // namespace warder::manifest
