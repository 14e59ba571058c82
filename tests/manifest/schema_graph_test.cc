#include "manifest/schema_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace warder::manifest {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

SchemaNode NodeWithEverything() {
  SchemaNode node;
  node.all_of = {1};
  node.any_of = {2};
  node.one_of = {3};
  node.negated = 4;
  node.condition = 5;
  node.then_schema = 6;
  node.else_schema = 7;
  node.dependencies = {{"dependencies", "a", {}, 8}, {"dependencies", "b", {"c"}, std::nullopt}};
  node.prefix = {11};
  node.rest = 12;
  node.contains = 13;
  node.properties = {{"a", 14}};
  node.pattern_properties = {{nullptr, 15}};
  node.additional_properties = 16;
  node.property_names = 17;
  return node;
}

TEST(SchemaGraph, SchemasInPlaceLookAtTheSameValue) {
  EXPECT_THAT(SchemasInPlace(NodeWithEverything()), UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(SchemasInPlace(SchemaNode{}), IsEmpty());
}

TEST(SchemaGraph, SchemasBelowLookAtItsParts) {
  EXPECT_THAT(SchemasBelow(NodeWithEverything()), UnorderedElementsAre(11, 12, 13, 14, 15, 16, 17));
  EXPECT_THAT(SchemasBelow(SchemaNode{}), IsEmpty());
}

}  // namespace
}  // namespace warder::manifest
