#include "manifest/schema_formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"

namespace warder::manifest {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }
bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }
bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Takes `count` digits from the front of `text`. nullopt when they are not there.
std::optional<int> TakeNumber(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, count)) {
    if (!IsDigit(c)) return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool Take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || !IsOneOf(text.front(), any_of)) return false;
  text.remove_prefix(1);
  return true;
}

bool IsDate(std::string_view text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !Take(text, "-")) return false;
  const auto month = TakeNumber(text, 2);
  if (!month || *month < 1 || *month > 12 || !Take(text, "-")) return false;
  const auto day = TakeNumber(text, 2);
  if (!day || !text.empty()) return false;
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = *year % 4 == 0 && (*year % 100 != 0 || *year % 400 == 0);
  const int last = kDays[static_cast<std::size_t>(*month - 1)] + (leap && *month == 2 ? 1 : 0);
  return *day >= 1 && *day <= last;
}

// Minutes east of Greenwich from "Z" or "+HH:MM", all of `text`.
std::optional<int> Offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.empty()) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!Take(text, "+-")) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  if (!hours || *hours > 23 || !Take(text, ":")) return std::nullopt;
  const auto minutes = TakeNumber(text, 2);
  if (!minutes || *minutes > 59 || !text.empty()) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

bool IsTime(std::string_view text) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || *hour > 23 || !Take(text, ":")) return false;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *minute > 59 || !Take(text, ":")) return false;
  const auto second = TakeNumber(text, 2);
  if (!second || *second > 60) return false;
  if (Take(text, ".")) {
    const std::size_t digits = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  const auto offset = Offset(text);
  if (!offset) return false;
  if (*second < 60) return true;
  // A leap second is the last one of a day of Greenwich.
  constexpr int kDay = 24 * 60;
  return (*hour * 60 + *minute - *offset + 2 * kDay) % kDay == kDay - 1;
}

bool IsDateTime(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  return text.size() > kDateLength && IsOneOf(text[kDateLength], "Tt") &&
         IsDate(text.substr(0, kDateLength)) && IsTime(text.substr(kDateLength + 1));
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHexDigit(text[i])) return false;
  }
  return true;
}

bool IsAddress(int family, std::string_view text) {
  // inet_pton reads up to the first NUL: what follows one must not go unseen.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return false;
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(family, std::string(text).c_str(), address.data()) == 1;
}

bool IsIpv4(std::string_view text) { return IsAddress(AF_INET, text); }
bool IsIpv6(std::string_view text) { return IsAddress(AF_INET6, text); }

bool IsHostLabel(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-'; });
}

bool IsHostname(std::string_view text) {
  if (text.size() > 253) return false;
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!IsHostLabel(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return IsHostLabel(text);
}

bool IsEmail(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64) return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  const bool atoms = std::all_of(local.begin(), local.end(), [](char c) {
    return IsAlphanumeric(c) || IsOneOf(c, "!#$%&'*+/=?^_`{|}~-.");
  });
  return atoms && local.front() != '.' && local.back() != '.' &&
         local.find("..") == std::string_view::npos && IsHostname(domain) &&
         domain.find('.') != std::string_view::npos;
}

// Unreserved characters, sub-delimiters and those of `extra`, with "%" only before two hexadecimal
// digits.
bool IsUriText(std::string_view text, std::string_view extra) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !IsHexDigit(text[i + 1]) || !IsHexDigit(text[i + 2])) {
        return false;
      }
      i += 2;
    } else if (!IsAlphanumeric(c) && !IsOneOf(c, "-._~!$&'()*+,;=") && !IsOneOf(c, extra)) {
      return false;
    }
  }
  return true;
}

bool IsAuthority(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos) {
    if (!IsUriText(text.substr(0, at), ":")) return false;
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || !IsIpv6(text.substr(1, close - 1))) return false;
    port = text.substr(close + 1);
    if (!port.empty() && !Take(port, ":")) return false;
  } else {
    const std::size_t colon = text.find(':');
    if (!IsUriText(text.substr(0, colon), "")) return false;
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
  }
  return std::all_of(port.begin(), port.end(), IsDigit);
}

// Splits `text` at the first of `marks`; `text` keeps what lies before, the rest (mark included) is
// returned.
std::string_view SplitAt(std::string_view& text, std::string_view marks) {
  const std::size_t at = std::min(text.find_first_of(marks), text.size());
  const std::string_view rest = text.substr(at);
  text = text.substr(0, at);
  return rest;
}

bool IsUri(std::string_view text) {
  std::string_view fragment = SplitAt(text, "#");
  if (Take(fragment, "#") && !IsUriText(fragment, ":@/?")) return false;
  std::string_view query = SplitAt(text, "?");
  if (Take(query, "?") && !IsUriText(query, ":@/?")) return false;
  std::string_view path = SplitAt(text, ":");
  const bool scheme = !text.empty() &&
                      absl::ascii_isalpha(static_cast<unsigned char>(text.front())) &&
                      std::all_of(text.begin(), text.end(),
                                  [](char c) { return IsAlphanumeric(c) || IsOneOf(c, "+-."); });
  // A scheme with nothing after it is a URI by the letter and a slip in practice.
  if (!scheme || !Take(path, ":") || path.empty()) return false;
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    const std::string_view below = SplitAt(path, "/");
    if (!IsAuthority(path)) return false;
    path = below;
  }
  return IsUriText(path, ":@/");
}

struct NamedFormat {
  std::string_view name;
  FormatCheck check;
};
constexpr auto kFormats = std::to_array<NamedFormat>({
    {"date", IsDate},
    {"time", IsTime},
    {"date-time", IsDateTime},
    {"uri", IsUri},
    {"uuid", IsUuid},
    {"email", IsEmail},
    {"ipv4", IsIpv4},
    {"ipv6", IsIpv6},
    {"hostname", IsHostname},
});

}  // namespace

FormatCheck FindFormat(std::string_view name) {
  for (const NamedFormat& format : kFormats) {
    if (format.name == name) return format.check;
  }
  return nullptr;
}

}  // namespace warder::manifest
