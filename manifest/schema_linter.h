// LintSchema: reads a stranger's JSON Schema once, keyword by keyword, before anything is built
// from it.
#ifndef WARDER_MANIFEST_SCHEMA_LINTER_H_
#define WARDER_MANIFEST_SCHEMA_LINTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/json.h"
#include "manifest/schema_keywords.h"
#include "manifest/schema_patterns.h"

namespace warder::manifest {

enum class RootRule : std::uint8_t;

using SchemaId = std::uint32_t;

// A schema that passed. Borrows the document.
struct LintedSchema {
  Dialect dialect = Dialect::k2020;
  std::vector<const Json*> schemas;  // every schema and subschema; the root is the first
  std::unordered_map<const Json*, SchemaId> ids;         // places in `schemas`
  std::map<std::string, SchemaId, std::less<>> anchors;  // by name, without "#"
  std::map<std::string, std::shared_ptr<const Pattern>, std::less<>> patterns;  // by their text
  std::string root_id;                  // `$id` of the root without a final "#", or ""
  std::vector<std::string> unenforced;  // see InputSchema::Unenforced
};

// Refuses what cannot be enforced exactly: unknown dialects and keywords, keywords of the other
// dialect, values of the wrong shape, patterns that the engine lacks, `$id` below the root.
// References are left to the translation.
//
// Errors: kInvalidArgument "at JSON-POINTER: what and what to write instead"; kResourceExhausted
// (depth, number of
//   values or patterns, length of a name or pattern).
absl::StatusOr<LintedSchema> LintSchema(const Json& schema, RootRule root_rule);

// kInvalidArgument or kResourceExhausted "at POINTER OF PLACE IN ROOT: what". `place` is a value
// within `root`.
absl::Status SchemaFault(const Json& root, const Json& place, const std::string& what,
                         absl::StatusCode code = absl::StatusCode::kInvalidArgument);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_LINTER_H_
