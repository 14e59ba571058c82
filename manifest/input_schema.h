// InputSchema: a tool's JSON Schema, linted and compiled when the manifest is loaded.
//
// Two judges must both accept an input: the evaluator, which knows every keyword, and valijson,
// which is given those that it judges rightly. input_schema.cc is the only file that includes
// valijson.
#ifndef WARDER_MANIFEST_INPUT_SCHEMA_H_
#define WARDER_MANIFEST_INPUT_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/json.h"

namespace warder::manifest {

// What the root of a schema may be: an object schema as a tool needs it, or anything.
enum class RootRule : std::uint8_t { kObject, kAny };

// Immutable; safe to share. draft-07 where `$schema` says so, 2020-12 otherwise.
class InputSchema {
 public:
  // Lints, translates and compiles `schema`. A keyword that cannot be enforced exactly is refused,
  // never ignored.
  //
  // Errors: kInvalidArgument "at JSON-POINTER: what and what to write instead" (unknown dialect,
  //   unenforceable keyword, remote or cyclic $ref, bad pattern, multipleOf 0, root that is not an
  //   object); kResourceExhausted (depth, number of values, pattern size).
  static absl::StatusOr<std::shared_ptr<const InputSchema>> Compile(
      const Json& schema, RootRule root = RootRule::kObject);

  virtual ~InputSchema() = default;

  // Compiles nothing.
  //
  // Errors: kInvalidArgument, one line: "`/pointer`: what" with the keyword that failed and never a
  //   value; kResourceExhausted (nested too deeply for this schema, or too much work); kInternal
  //   when the two judges disagree.
  virtual absl::Status Check(const Json& input) const = 0;

  // Annotations that are not enforced (`format: int32`, `nullable`), each as "`/pointer`: keyword",
  // for `warder check`.
  virtual const std::vector<std::string>& Unenforced() const = 0;
};

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_INPUT_SCHEMA_H_
