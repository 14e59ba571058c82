// SchemaGraph: a linted schema of either dialect as values, every reference resolved. What the
// evaluator runs and what valijson's schema is built from.
#ifndef WARDER_MANIFEST_SCHEMA_GRAPH_H_
#define WARDER_MANIFEST_SCHEMA_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manifest/schema_formats.h"
#include "manifest/schema_linter.h"
#include "manifest/schema_numbers.h"
#include "manifest/schema_patterns.h"

namespace warder::manifest {

// Bits of SchemaNode::types. An integer is a number that is whole.
enum TypeBit : std::uint8_t {
  kTypeNull = 1,
  kTypeBoolean = 2,
  kTypeObject = 4,
  kTypeArray = 8,
  kTypeString = 16,
  kTypeNumber = 32,
  kTypeInteger = 64,
};

// `enum` or `const`.
struct AllowedValues {
  const char* keyword = "";
  std::vector<IndexedJson> values;
  std::string shown;  // for messages: "one of \"a\", \"b\""
};

struct NumberLimit {
  const char* keyword = "";
  const char* words = "";  // "at least"
  bool (*holds)(ExactNumber number, ExactNumber limit) = nullptr;
  ExactNumber value = 0;
  std::string shown;
};

struct CountLimit {
  const char* keyword = "";
  std::uint64_t value = 0;
};

struct Multiple {
  Decimal factor;
  std::string shown;
};

// When the member `name` is there, `required` must be too, and the object must match `schema`.
struct Dependency {
  const char* keyword = "";
  std::string name;
  std::vector<std::string> required;
  std::optional<SchemaId> schema;
};

// One schema. Absent keywords are empty: they allow everything.
struct SchemaNode {
  bool never = false;  // the schema `false`
  std::uint8_t types = 0;
  std::vector<AllowedValues> allowed;

  std::vector<NumberLimit> limits;
  std::optional<Multiple> multiple;

  std::optional<CountLimit> min_length, max_length;  // in Unicode code points
  std::shared_ptr<const Pattern> pattern;
  FormatCheck format = nullptr;
  std::string format_name;

  std::optional<CountLimit> min_items, max_items;
  bool unique_items = false;
  std::vector<SchemaId> prefix;  // of the first items, one each
  std::optional<SchemaId> rest;  // of the items after them
  std::optional<SchemaId> contains;

  std::optional<CountLimit> min_properties, max_properties;
  std::vector<std::string> required;
  std::vector<std::pair<std::string, SchemaId>> properties;  // sorted by name
  std::vector<std::pair<std::shared_ptr<const Pattern>, SchemaId>> pattern_properties;
  std::optional<SchemaId> additional_properties;
  std::optional<SchemaId> property_names;
  std::vector<Dependency> dependencies;

  std::vector<SchemaId> all_of, any_of, one_of;  // a `$ref` is one more of all_of
  std::optional<SchemaId> negated, condition, then_schema, else_schema;
};

struct SchemaGraph {
  std::vector<SchemaNode> nodes;  // the root is the first
  // The longest chain of schemas that look at one and the same value, at least 1.
  std::size_t chain_length = 1;
};

// The schemas that `node` applies to the value that it is applied to itself.
std::vector<SchemaId> SchemasInPlace(const SchemaNode& node);
// The schemas that `node` applies to members, items and names of that value.
std::vector<SchemaId> SchemasBelow(const SchemaNode& node);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_GRAPH_H_
