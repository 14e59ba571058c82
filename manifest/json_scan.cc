#include "manifest/json_scan.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace warder::manifest {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsNumberByte(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.' ||
         c == 'e' || c == 'E';
}

bool IsLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

class Scanner {
 public:
  Scanner(std::string_view bytes, const JsonLimits& limits) : bytes_(bytes), limits_(limits) {}

  JsonScan Run() && {
    if (bytes_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      Fail(0, "byte order mark; save the file as UTF-8 without one");
    }
    while (!scan_.fault && pos_ < bytes_.size() && Next()) {
    }
    if (!scan_.fault && scan_.tokens.empty() && pos_ == bytes_.size()) {
      Fail(pos_, "the document is empty");
    }
    return std::move(scan_);
  }

 private:
  // Consumes one token or one byte between tokens. False: a byte that the parser will refuse.
  bool Next() {
    const char c = bytes_[pos_];
    switch (c) {
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        ++pos_;
        return true;
      case ',':
      case ':':
        comma_ = c == ',';
        comma_pos_ = pos_++;
        return true;
      case '{':
      case '[':
        return Open();
      case '}':
      case ']':
        return Close();
      case '"':
        return String();
      case '/':
      case '#':
        return Fail(pos_, "comment; JSON has none, remove it");
      case '\0':
        return Fail(pos_, "NUL byte");
      default:
        return Word(c);
    }
  }

  bool Open() {
    if (++depth_ > limits_.depth) {
      return Fail(pos_, absl::StrFormat("nested deeper than %d levels", limits_.depth), true);
    }
    return Value(pos_ + 1);
  }

  bool Close() {
    if (comma_) return Fail(comma_pos_, "trailing comma before the closing bracket; remove it");
    if (depth_ == 0) return false;
    --depth_;
    scan_.tokens.push_back({pos_, pos_ + 1});
    ++pos_;
    return true;
  }

  bool String() {
    std::size_t end = pos_ + 1;
    while (end < bytes_.size() && bytes_[end] != '"') {
      if (bytes_[end] != '\\') {
        ++end;
        continue;
      }
      if (bytes_.substr(end, 6) == "\\u0000") {
        return Fail(end, "escaped NUL; no program argument or name can hold one");
      }
      end += 2;
    }
    if (end >= bytes_.size()) return false;  // not closed
    return Value(end + 1);
  }

  bool Word(char first) {
    const bool number = first == '-' || absl::ascii_isdigit(static_cast<unsigned char>(first));
    if (!number && !IsLetter(first)) return false;
    const std::string_view rest = bytes_.substr(pos_);
    const auto* end = std::find_if_not(rest.begin(), rest.end(), number ? IsNumberByte : IsLetter);
    return Value(pos_ + static_cast<std::size_t>(end - rest.begin()));
  }

  // A key or value from pos_ to `end`.
  bool Value(std::size_t end) {
    if (++values_ > limits_.values) {
      return Fail(pos_, absl::StrFormat("more than %d values and keys", limits_.values), true);
    }
    scan_.tokens.push_back({pos_, end});
    comma_ = false;
    pos_ = end;
    return true;
  }

  bool Fail(std::size_t offset, std::string what, bool over_limit = false) {
    scan_.fault = JsonFault{offset, std::move(what), over_limit};
    return false;
  }

  const std::string_view bytes_;
  const JsonLimits& limits_;
  JsonScan scan_;
  std::size_t pos_ = 0;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  bool comma_ = false;  // the last thing that was not white space
  std::size_t comma_pos_ = 0;
};

}  // namespace

JsonScan ScanJson(std::string_view bytes, const JsonLimits& limits) {
  return Scanner(bytes, limits).Run();
}

std::string LineColumn(std::string_view bytes, std::size_t offset) {
  const std::string_view before = bytes.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto lines = std::count(before.begin(), before.end(), '\n');
  // Continuation bytes of UTF-8 begin no character.
  const auto characters =
      std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start), before.end(),
                    [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
  return absl::StrFormat("%d:%d", lines + 1, characters + 1);
}

}  // namespace warder::manifest
