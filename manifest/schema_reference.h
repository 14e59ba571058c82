// ResolveReference: what a local `$ref` names.
#ifndef WARDER_MANIFEST_SCHEMA_REFERENCE_H_
#define WARDER_MANIFEST_SCHEMA_REFERENCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "manifest/json.h"
#include "manifest/schema_linter.h"

namespace warder::manifest {

// `reference` is "#", "#/json/pointer" (percent-encoded), "#anchor", or one of them after the `$id`
// of the root. Nothing is ever fetched. Errors: kInvalidArgument with what is wrong and no place.
absl::StatusOr<SchemaId> ResolveReference(const Json& root, const LintedSchema& linted,
                                          const std::string& reference);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_REFERENCE_H_
