// Json: the one JSON value type, and the strict reader that makes it from a stranger's bytes.
#ifndef WARDER_MANIFEST_JSON_H_
#define WARDER_MANIFEST_JSON_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace warder::manifest {

// Keeps the members of an object in the order in which they were written. Look-up is linear; copy
// into a map before looking up many members of an object that a stranger sized.
using Json = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t bytes = 16u << 20;  // size of the document
  std::size_t depth = 64;         // nested containers
  std::size_t values = 1u << 20;  // scalars, containers and keys together
};

// Where the values of one parsed document stand. Keeps a copy of the document; made for files that
// people write, whose faults are told with line and column, not for the input of a call.
class JsonPositions {
 public:
  // "LINE:COLUMN" of the first character of the value at `pointer` (RFC 6901, "" is the root); of
  // its nearest enclosing value when there is none. Lines and columns start at 1; a column is a
  // Unicode character.
  std::string At(std::string_view pointer) const;
  // The same for the key of a member; the value itself where it has no key.
  std::string KeyAt(std::string_view pointer) const;
  // The bytes of the value exactly as written. Valid while this object lives. Empty when there is
  // no such value.
  std::string_view Written(std::string_view pointer) const;

 private:
  friend class JsonBuilder;
  friend absl::StatusOr<Json> ParseStrictJson(std::string_view bytes, std::string_view source,
                                              const JsonLimits& limits, JsonPositions* positions);

  // Values in the order in which they begin; a container is followed by what it holds.
  struct Node {
    std::string key;        // empty for elements and the root
    std::size_t key_begin;  // byte offsets into document_
    std::size_t begin;
    std::size_t end;
    std::size_t next;  // index of the first node behind this value
    bool array;
  };
  const Node* Find(std::string_view pointer, bool nearest) const;

  std::string document_;
  std::vector<Node> nodes_;
};

// Reads exactly one JSON document (RFC 8259) and nothing lax: duplicate keys, comments, trailing
// commas, trailing bytes, a byte order mark, invalid UTF-8, lone surrogates, an escaped or raw NUL,
// NaN, infinities, and numbers that a double or a 64-bit integer would round are all refused.
//
// `source` is what to call the document in messages. `positions`, when given, is filled on success.
//
// Errors: kInvalidArgument with "SOURCE:LINE:COLUMN: what"; kResourceExhausted, same form, when a
//   limit is passed. A message may name keys, never values.
absl::StatusOr<Json> ParseStrictJson(std::string_view bytes, std::string_view source,
                                     const JsonLimits& limits = {},
                                     JsonPositions* positions = nullptr);

// Compact text of `value`, members in their order, no byte above 0x7e unescaped when `ascii`. Bytes
// that are not UTF-8 (never in what ParseStrictJson made) become U+FFFD.
std::string WriteJson(const Json& value, bool ascii = false);

// `key` between backticks, fit for a message: bytes that are not printable ASCII are escaped, long
// keys are cut.
std::string QuoteKey(std::string_view key);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_JSON_H_
