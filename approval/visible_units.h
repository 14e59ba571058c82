// Units of visible text: what a line break must not divide.
#ifndef WARDER_APPROVAL_VISIBLE_UNITS_H_
#define WARDER_APPROVAL_VISIBLE_UNITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warder::approval {

// The code point at byte `at` of UTF-8 `text`, and `at` past it; negative where there is none.
std::int32_t NextCodePoint(std::string_view text, std::size_t& at);

struct Unit {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

// The first unit of `visible`, which is not empty: an escape, a count of spaces, or a character
// with its marks.
Unit NextUnit(std::string_view visible);

// Length of the "[N spaces]" that `text` starts with; 0 when it starts with none.
std::size_t SpaceCountLength(std::string_view text);

// Starts every line of a wrapped value but the first. A text cannot begin a line without it, so it
// cannot pass for a line of Warder's own; and a space at a break is seen behind it.
inline constexpr std::string_view kContinuation = "  |";

// Lines of at most `columns` columns (at least 20): `prefix` (plain ASCII, Warder's own) and
// `visible`. Breaks before a space where one is near, else anywhere between two units. Joining the
// lines without prefix and continuation gives `visible` back, byte for byte.
std::vector<std::string> Wrap(std::string_view prefix, std::string_view visible,
                              std::size_t columns);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_VISIBLE_UNITS_H_
