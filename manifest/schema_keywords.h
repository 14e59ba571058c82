// The words of JSON Schema, and what Warder does with each in either dialect.
#ifndef WARDER_MANIFEST_SCHEMA_KEYWORDS_H_
#define WARDER_MANIFEST_SCHEMA_KEYWORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace warder::manifest {

enum class Dialect : std::uint8_t { kDraft07, k2020 };
const char* DialectName(Dialect dialect);

// What the value of a keyword must look like.
enum class KeywordShape : std::uint8_t {
  kAnything,
  kString,
  kNumber,
  kPositiveNumber,
  kCount,  // an integer from 0; 2.0 counts as 2
  kBoolean,
  kTypes,
  kValues,       // `enum`
  kNames,        // array of different strings
  kNamesByName,  // object of such arrays
  kPattern,
  kSchema,
  kSchemaList,
  kSchemaOrList,
  kSchemaByName,
  kSchemaByPattern,
  kSchemaOrNamesByName,  // `dependencies`
};

enum class KeywordUse : std::uint8_t {
  kEnforced,  // or understood: `$ref`, `$defs`, `$schema`
  kSilent,    // an annotation that promises nothing about the input
  kListed,    // an annotation that reads like a promise: named by `warder check`
  kRefused,
};

struct Keyword {
  std::string_view name;
  KeywordShape shape;
  KeywordUse draft07;
  KeywordUse draft2020;
  std::string_view remedy;  // what to write instead, where it is refused
  KeywordUse In(Dialect dialect) const { return dialect == Dialect::k2020 ? draft2020 : draft07; }
};

// nullptr when `name` is no keyword of either dialect and no well-known vendor word.
const Keyword* FindKeyword(std::string_view name);

// True for `x-...`, which any tool may add and none may rely on.
bool IsExtension(std::string_view name);

// The keyword of `dialect` that `name` was probably meant to be, or "".
std::string NearestKeyword(std::string_view name, Dialect dialect);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_KEYWORDS_H_
