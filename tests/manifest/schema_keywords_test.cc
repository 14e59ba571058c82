#include "manifest/schema_keywords.h"

#include <gtest/gtest.h>

#include <string>

namespace warder::manifest {
namespace {

TEST(SchemaKeywords, DialectsDiffer) {
  const Keyword* prefix_items = FindKeyword("prefixItems");
  ASSERT_NE(prefix_items, nullptr);
  EXPECT_EQ(prefix_items->In(Dialect::k2020), KeywordUse::kEnforced);
  EXPECT_EQ(prefix_items->In(Dialect::kDraft07), KeywordUse::kRefused);
  EXPECT_EQ(FindKeyword("dependencies")->In(Dialect::k2020), KeywordUse::kRefused);
}

TEST(SchemaKeywords, EveryRefusedKeywordHasARemedy) {
  for (const char* name : {"$dynamicRef", "$vocabulary", "maxContains", "unevaluatedItems",
                           "unevaluatedProperties", "additionalItems", "dependentSchemas"}) {
    const Keyword* keyword = FindKeyword(name);
    ASSERT_NE(keyword, nullptr) << name;
    EXPECT_FALSE(keyword->remedy.empty()) << name;
  }
}

TEST(SchemaKeywords, MisspeltKeywordsFindTheirOwn) {
  EXPECT_EQ(NearestKeyword("requird", Dialect::k2020), "required");
  EXPECT_EQ(NearestKeyword("additionalProperty", Dialect::k2020), "");
  EXPECT_EQ(NearestKeyword("propertys", Dialect::kDraft07), "properties");
  EXPECT_EQ(NearestKeyword(std::string(100'000, 'a'), Dialect::k2020), "");
}

TEST(SchemaKeywords, ExtensionsBeginWithX) {
  EXPECT_TRUE(IsExtension("x-vendor"));
  EXPECT_FALSE(IsExtension("xml"));
  EXPECT_FALSE(IsExtension("vendor"));
}

}  // namespace
}  // namespace warder::manifest
