// How a rule compares: typed JSON values and globs over one word.
#ifndef WARDER_APPROVAL_RULE_MATCH_H_
#define WARDER_APPROVAL_RULE_MATCH_H_

#include <string_view>

#include "approval/rules.h"

namespace warder::approval {

// kFails: the comparison makes no sense for this value, so nobody may conclude anything from it.
enum class Verification : std::uint8_t { kHolds, kDiffers, kFails };

Verification Compare(const Match& match, const manifest::Json& value);

// Equality of JSON values: numbers by value without rounding, objects without regard to order.
bool SameValue(const manifest::Json& a, const manifest::Json& b);

// Whether `glob` matches all of `text`. Time is at most the product of their lengths.
bool GlobMatches(std::string_view glob, std::string_view text);

// `path` is `pattern`, or lies below it when that ends in "/**" ("/src/**" covers "/src/a", and not
// "/src").
bool PathMatches(std::string_view pattern, std::string_view path);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_RULE_MATCH_H_
