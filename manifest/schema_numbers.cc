#include "manifest/schema_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

namespace warder::manifest {
namespace {

__extension__ using Wide = unsigned __int128;

// Moves the zeros at the end of `digits` into the exponent; zero has one form only.
Decimal Normal(Decimal decimal) {
  if (decimal.digits == 0) return Decimal{};
  while (decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    ++decimal.exponent;
  }
  return decimal;
}

Decimal FromInteger(ExactNumber value) {
  return Normal({value < 0, static_cast<std::uint64_t>(std::fabs(value)), 0});
}

Decimal FromDouble(double value) {
  // "-1.2345678901234567e-308" is the longest.
  std::array<char, 32> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  Decimal decimal;
  decimal.negative = text.starts_with('-');
  const std::size_t e = text.find('e');
  const std::string_view exponent = text.substr(text[e + 1] == '+' ? e + 2 : e + 1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  bool fraction = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (fraction) --decimal.exponent;
  }
  return Normal(decimal);
}

std::uint64_t TimesModulo(std::uint64_t left, std::uint64_t right, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<Wide>(left) * right % modulus);
}

// The length goes first: no text can pass for the end of one value and the start of the next.
void AppendText(char kind, std::string_view text, std::string& out) {
  out += absl::StrFormat("%c%d:", kind, text.size());
  out += text;
}

void AppendCanonical(const IndexedJson& value, std::string& out) {
  if (value.is_object()) {
    out += '{';
    for (const auto& [key, member] : value.items()) {
      AppendText('k', key, out);
      AppendCanonical(member, out);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const IndexedJson& item : value) AppendCanonical(item, out);
    out += ']';
  } else if (value.is_string()) {
    AppendText('s', value.get_ref<const std::string&>(), out);
  } else if (value.is_number()) {
    const Decimal number = ToDecimal(value);
    out += absl::StrFormat("n%s%de%d;", number.negative ? "-" : "", number.digits, number.exponent);
  } else if (value.is_boolean()) {
    out += value.get<bool>() ? 't' : 'f';
  } else {
    out += 'z';
  }
}

}  // namespace

ExactNumber ToExact(const IndexedJson& number) {
  if (number.is_number_unsigned()) return static_cast<ExactNumber>(number.get<std::uint64_t>());
  if (number.is_number_integer()) return static_cast<ExactNumber>(number.get<std::int64_t>());
  return static_cast<ExactNumber>(number.get<double>());
}

Decimal ToDecimal(const IndexedJson& number) {
  constexpr ExactNumber kTooLarge = 18446744073709551616.0L;  // 2^64
  const ExactNumber exact = ToExact(number);
  // A double that is an integer has more digits than its shortest text.
  if (IsInteger(number) && std::fabs(exact) < kTooLarge) return FromInteger(exact);
  return FromDouble(number.get<double>());
}

bool IsInteger(const IndexedJson& number) {
  if (number.is_number_integer()) return true;
  const double value = number.get<double>();
  return std::isfinite(value) && std::trunc(value) == value;
}

bool IsMultipleOf(const Decimal& value, const Decimal& factor) {
  if (value.digits == 0) return true;
  // With the final zeros in the exponent, a value finer than the factor cannot be a multiple of it.
  if (value.exponent < factor.exponent) return false;
  std::uint64_t remainder = value.digits % factor.digits;
  std::uint64_t power = 10 % factor.digits;
  for (int left = value.exponent - factor.exponent; left > 0; left /= 2) {
    if (left % 2 == 1) remainder = TimesModulo(remainder, power, factor.digits);
    power = TimesModulo(power, power, factor.digits);
  }
  return remainder == 0;
}

bool SameValue(const IndexedJson& left, const IndexedJson& right) {
  if (left.is_number() && right.is_number()) return ToExact(left) == ToExact(right);
  if (left.type() != right.type()) return false;
  if (!left.is_structured()) return left == right;
  if (left.size() != right.size()) return false;
  if (left.is_array()) return std::equal(left.begin(), left.end(), right.begin(), SameValue);
  return std::all_of(left.items().begin(), left.items().end(), [&](const auto& member) {
    const auto other = right.find(member.key());
    return other != right.end() && SameValue(member.value(), *other);
  });
}

std::string CanonicalText(const IndexedJson& value) {
  std::string text;
  AppendCanonical(value, text);
  return text;
}

}  // namespace warder::manifest
