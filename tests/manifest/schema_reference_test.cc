#include "manifest/schema_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "manifest/input_schema.h"
#include "tests/support/schemas.h"

namespace warder::manifest {
namespace {

using ::testing::HasSubstr;
using warder::testing::Parsed;

class SchemaReference : public ::testing::Test {
 protected:
  // The pointer of the schema found, or the fault.
  std::string Found(const std::string& reference) {
    const auto linted = LintSchema(root_, RootRule::kAny);
    EXPECT_TRUE(linted.ok()) << linted.status();
    const auto id = ResolveReference(root_, *linted, reference);
    if (!id.ok()) return "FAULT " + std::string(id.status().message());
    return std::string(SchemaFault(root_, *linted->schemas[*id], "").message());
  }

  const Json root_ = Parsed(R"({
    "$id": "https://example.org/root",
    "$defs": {"a": {"$anchor": "name", "enum": [{"type": "string"}]},
              "s/l~a%h \"é": {}, "~1": {}, "list": {"allOf": [{}, {"title": "second"}]}},
    "properties": {"p": {"x-own": {"type": "string"}}}
  })");
};

TEST_F(SchemaReference, PointersAndAnchorsAreFollowed) {
  EXPECT_EQ(Found("#"), "at /: ");
  EXPECT_EQ(Found(""), "at /: ");
  EXPECT_EQ(Found("#/$defs/a"), "at /$defs/a: ");
  EXPECT_EQ(Found("#name"), "at /$defs/a: ");
  EXPECT_EQ(Found("#/$defs/list/allOf/1"), "at /$defs/list/allOf/1: ");
  EXPECT_EQ(Found("#/properties/p"), "at /properties/p: ");
}

TEST_F(SchemaReference, EscapesAreUndoneInTheirOrder) {
  EXPECT_THAT(Found("#/$defs/s~1l~0a%25h%20%22%C3%A9"), HasSubstr("at /$defs/s~1l~0a%h"));
  EXPECT_EQ(Found("#/$defs/~01"), "at /$defs/~01: ");
  EXPECT_THAT(Found("#/$defs/%zz"), HasSubstr("hexadecimal"));
  EXPECT_THAT(Found("#/$defs/a%2"), HasSubstr("hexadecimal"));
}

TEST_F(SchemaReference, IdOfTheRootIsTheRoot) {
  EXPECT_EQ(Found("https://example.org/root"), "at /: ");
  EXPECT_EQ(Found("https://example.org/root#/$defs/a"), "at /$defs/a: ");
  EXPECT_THAT(Found("https://example.org/root2"), HasSubstr("leaves the schema"));
}

TEST_F(SchemaReference, NothingOutsideIsFollowed) {
  for (const char* reference : {"file:///etc/passwd", "http://example.org/a", "other.json",
                                "other.json#/a", "/etc/passwd", "//host/x"}) {
    EXPECT_THAT(Found(reference), HasSubstr("nothing is fetched")) << reference;
  }
}

TEST_F(SchemaReference, OnlySchemasAreFound) {
  EXPECT_THAT(Found("#/$defs"), HasSubstr("not a schema"));
  EXPECT_THAT(Found("#/$defs/a/enum/0"), HasSubstr("not a schema"));
  EXPECT_THAT(Found("#/properties/p/x-own"), HasSubstr("not a schema"));
  EXPECT_THAT(Found("#/$defs/b"), HasSubstr("finds nothing"));
  EXPECT_THAT(Found("#/$defs/list/allOf/01"), HasSubstr("finds nothing"));
  EXPECT_THAT(Found("#/$defs/list/allOf/2"), HasSubstr("finds nothing"));
  EXPECT_THAT(Found("#/$defs/list/allOf/-"), HasSubstr("finds nothing"));
  EXPECT_THAT(Found("#/$id/0"), HasSubstr("finds nothing"));
  EXPECT_THAT(Found("#other"), HasSubstr("no anchor"));
}

}  // namespace
}  // namespace warder::manifest
