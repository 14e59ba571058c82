// TranslateSchema: one form for draft-07 and 2020-12, with every `$ref` resolved.
#ifndef WARDER_MANIFEST_SCHEMA_TRANSLATION_H_
#define WARDER_MANIFEST_SCHEMA_TRANSLATION_H_

#include "absl/status/statusor.h"
#include "manifest/json.h"
#include "manifest/schema_graph.h"
#include "manifest/schema_linter.h"

namespace warder::manifest {

// Builds the graph of `schema`, which `linted` was made from. `prefixItems` and `items` become
// array `items` and `additionalItems`, `dependentRequired` and `dependentSchemas` become
// `dependencies`, `$ref` becomes one more of `allOf`.
//
// Errors: kInvalidArgument "at JSON-POINTER: what" ($ref that leaves the document, finds nothing,
// finds what is not a
//   schema, or comes back to itself without looking deeper into the input); kResourceExhausted
//   (chain of schemas on one value).
absl::StatusOr<SchemaGraph> TranslateSchema(const Json& schema, const LintedSchema& linted);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_TRANSLATION_H_
