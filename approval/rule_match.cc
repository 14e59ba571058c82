#include "approval/rule_match.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace warder::approval {
namespace {

using manifest::Json;

struct Whole {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool operator==(const Whole&) const = default;
};

Whole ToWhole(const Json& number) {
  if (number.is_number_unsigned()) return {false, number.get<std::uint64_t>()};
  const auto value = number.get<std::int64_t>();
  // Negating in unsigned arithmetic is defined for the least value too.
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? Whole{true, 0 - bits} : Whole{false, bits};
}

bool SameWhole(double number, const Whole& whole) {
  constexpr double kTooLarge = 18446744073709551616.0;  // 2^64, the first that no Whole holds
  if (std::floor(number) != number || std::fabs(number) >= kTooLarge) return false;
  const bool negative = number < 0;
  return Whole{negative, static_cast<std::uint64_t>(std::fabs(number))} == whole;
}

bool SameNumber(const Json& a, const Json& b) {
  if (a.is_number_float() && b.is_number_float()) return a.get<double>() == b.get<double>();
  if (a.is_number_float()) return SameWhole(a.get<double>(), ToWhole(b));
  if (b.is_number_float()) return SameWhole(b.get<double>(), ToWhole(a));
  return ToWhole(a) == ToWhole(b);
}

std::vector<std::pair<std::string_view, const Json*>> Sorted(const Json& object) {
  std::vector<std::pair<std::string_view, const Json*>> members;
  for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
    members.emplace_back(key, &value);
  }
  std::sort(members.begin(), members.end());
  return members;
}

bool SameObject(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  const auto left = Sorted(a);
  const auto right = Sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(), [](const auto& x, const auto& y) {
    return x.first == y.first && SameValue(*x.second, *y.second);
  });
}

// Length of the UTF-8 character that starts at `at`; 1 for a stray byte.
std::size_t CharacterLength(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
  return end - at;
}

}  // namespace

bool SameValue(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return SameNumber(a, b);
  if (a.type() != b.type()) return false;
  if (a.is_object()) return SameObject(a, b);
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameValue);
  return a == b;
}

bool GlobMatches(std::string_view glob, std::string_view text) {
  std::size_t g = 0;
  std::size_t t = 0;
  // Where to go on when the last '*' takes one more character.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = ++g;
      taken = t;
    } else if (g < glob.size() && glob[g] == '?' && text[t] != '/') {
      ++g;
      t += CharacterLength(text, t);
    } else if (g < glob.size() && glob[g] != '?' && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos && text[taken] != '/') {
      // No earlier '*' needs another try: within one piece the last is enough, and '/' divides both
      // alike.
      taken += 1;
      t = taken;
      g = star;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool PathMatches(std::string_view pattern, std::string_view path) {
  constexpr std::string_view kBelow = "/**";
  if (!pattern.ends_with(kBelow)) return pattern == path;
  pattern.remove_suffix(kBelow.size() - 1);  // keeps the '/'
  return path.size() > pattern.size() && path.starts_with(pattern);
}

Verification Compare(const Match& match, const Json& value) {
  if (match.glob) {
    if (!value.is_string()) return Verification::kFails;
    return GlobMatches(*match.glob, value.get_ref<const std::string&>()) ? Verification::kHolds
                                                                         : Verification::kDiffers;
  }
  if (match.any_of == nullptr) return Verification::kFails;
  const bool found = std::any_of(match.any_of->begin(), match.any_of->end(),
                                 [&](const Json& wanted) { return SameValue(wanted, value); });
  return found ? Verification::kHolds : Verification::kDiffers;
}

}  // namespace warder::approval
