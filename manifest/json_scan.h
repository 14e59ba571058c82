// ScanJson: the first pass over a document, for what nlohmann's parser does not tell: where tokens
// stand, and laxness that it forgives or words badly.
#ifndef WARDER_MANIFEST_JSON_SCAN_H_
#define WARDER_MANIFEST_JSON_SCAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/json.h"

namespace warder::manifest {

// Byte offsets of one string, number, literal or bracket.
struct JsonToken {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct JsonFault {
  std::size_t offset = 0;
  std::string what;
  bool over_limit = false;
};

struct JsonScan {
  std::vector<JsonToken> tokens;
  std::optional<JsonFault> fault;
};

// Finds the tokens of `bytes` in order, and the first of: byte order mark, comment, trailing comma,
// NUL (raw or escaped), too deep, too many values, nothing at all. Not a parser: it stops without a
// fault at a byte that begins no token, and the parser then refuses that byte. Time and space are
// linear.
JsonScan ScanJson(std::string_view bytes, const JsonLimits& limits);

// "LINE:COLUMN" of a byte offset; both start at 1, a column is a Unicode character.
std::string LineColumn(std::string_view bytes, std::size_t offset);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_JSON_SCAN_H_
