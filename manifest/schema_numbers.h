// Exact arithmetic on JSON values: what a schema calls equal, integer and a multiple.
#ifndef WARDER_MANIFEST_SCHEMA_NUMBERS_H_
#define WARDER_MANIFEST_SCHEMA_NUMBERS_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace warder::manifest {

// A value whose members are found in logarithmic time: a stranger chose how many there are.
using IndexedJson = nlohmann::json;

// Holds every 64-bit integer and every double exactly.
using ExactNumber = long double;
static_assert(std::numeric_limits<ExactNumber>::digits >= 64);

// digits * 10^exponent, the shortest decimal text that reads back as the same number; `digits` ends
// in no zero.
struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;
  int exponent = 0;
};

// `number.is_number()` is required of the next three.
ExactNumber ToExact(const IndexedJson& number);
Decimal ToDecimal(const IndexedJson& number);
bool IsInteger(const IndexedJson& number);  // 1.0 is one

// Whether `value` / `factor` is an integer, in decimal: 19.99 is a multiple of 0.01. `factor` is
// not zero.
bool IsMultipleOf(const Decimal& value, const Decimal& factor);

// What JSON Schema calls equal: 1 and 1.0, objects in any order. Costs no more than the smaller
// value is large.
bool SameValue(const IndexedJson& left, const IndexedJson& right);

// A text that two values share exactly when they are the same value.
std::string CanonicalText(const IndexedJson& value);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_NUMBERS_H_
