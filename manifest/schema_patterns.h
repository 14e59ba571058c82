// Pattern: an ECMA-262 regular expression of a schema, run by RE2 in linear time.
// schema_patterns.cc is the only file that includes RE2.
#ifndef WARDER_MANIFEST_SCHEMA_PATTERNS_H_
#define WARDER_MANIFEST_SCHEMA_PATTERNS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace warder::manifest {

// Rewrites `pattern` (ECMA-262 with the `u` flag, as JSON Schema recommends; unescaped `{`, `}` and
// `]` are taken as themselves) into an RE2 expression that matches the same texts.
//
// Errors: kInvalidArgument with what is wrong: lookaround and backreferences, which no linear-time
// engine has, unknown
//   escapes and properties, nothing to repeat, what is not closed.
absl::StatusOr<std::string> ToRe2Syntax(std::string_view pattern);

// Immutable; safe to share.
class Pattern {
 public:
  // Errors: those of ToRe2Syntax; kResourceExhausted when the pattern or its program is too large.
  static absl::StatusOr<std::shared_ptr<const Pattern>> Compile(std::string_view pattern);
  virtual ~Pattern() = default;

  // Unanchored search. `text` is UTF-8.
  virtual bool Matches(std::string_view text) const = 0;

  // Upper bound of the work of Matches in instructions visited: text bytes times program size.
  virtual std::uint64_t Work(std::string_view text) const = 0;

  // As the schema has it.
  virtual const std::string& text() const = 0;
};

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_PATTERNS_H_
