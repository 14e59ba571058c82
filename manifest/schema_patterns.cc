#include "manifest/schema_patterns.h"

#include <re2/re2.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace warder::manifest {
namespace {

// Long enough for every pattern seen in published schemas, short enough to read.
constexpr std::size_t kMaxPatternBytes = 4096;
// RE2's memory for one pattern in bytes. Below a quarter of a mebibyte a class like \p{L} makes it
// forget its states all the time, and then it runs fifty times slower.
constexpr std::int64_t kMaxPatternMemory = 512 << 10;

// ECMA-262 WhiteSpace and LineTerminator; RE2's own \s knows ASCII only.
constexpr std::string_view kSpaces =
    R"(\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f})"
    R"(\x{3000}\x{feff})";
constexpr std::string_view kNotSpaces =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027})"
    R"(\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view kAnyButLineEnd = R"([^\n\r\x{2028}\x{2029}])";
constexpr std::string_view kAnything = R"([\x{0}-\x{10ffff}])";
constexpr std::string_view kNothing = R"([^\x{0}-\x{10ffff}])";

// General categories that RE2 and ECMA-262 define alike (RE2's `C` lacks the unassigned code
// points).
constexpr auto kCategories = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Control", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
});

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  absl::StatusOr<std::string> Run() {
    while (error_.empty() && !rest_.empty()) Term();
    if (error_.empty() && open_groups_ != 0) Fail("`(` is not closed");
    if (!error_.empty()) return absl::InvalidArgumentError(error_);
    return std::move(out_);
  }

 private:
  void Fail(std::string_view what) {
    if (error_.empty()) error_ = what;
  }

  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  void Emit(std::string_view atom) {
    out_ += atom;
    repeatable_ = true;
  }

  void EmitCodePoint(std::uint32_t code_point) { Emit(absl::StrFormat("\\x{%x}", code_point)); }

  void Term() {
    const char c = rest_.front();
    if (Quantifier()) return;
    rest_.remove_prefix(1);
    switch (c) {
      case '.':
        return Emit(kAnyButLineEnd);
      case '[':
        return Class();
      case '\\':
        Escape(false);
        return;
      case '(':
        return Group();
      case ')':
        if (open_groups_-- == 0) Fail("`)` closes nothing");
        return Emit(")");
      case '|':
      case '^':
      case '$':
        out_ += c;
        repeatable_ = false;
        return;
      case '{':
      case '}':
      case ']':
        return EmitCodePoint(static_cast<unsigned char>(c));
      default:
        return Emit(std::string_view(&c, 1));
    }
  }

  // `*`, `+`, `?`, `{2}`, `{2,}`, `{2,3}`, each with an optional `?` behind it.
  bool Quantifier() {
    std::size_t length = 1;
    if (rest_.front() == '{') {
      length = rest_.find('}');
      if (length == std::string_view::npos || length < 2) return false;
      const std::string_view inside = rest_.substr(1, length++ - 1);
      if (inside.find_first_not_of("0123456789,") != std::string_view::npos ||
          inside.front() == ',' || inside.find(',') != inside.rfind(',')) {
        return false;
      }
    } else if (std::string_view("*+?").find(rest_.front()) == std::string_view::npos) {
      return false;
    }
    if (!repeatable_) {
      Fail("there is nothing to repeat");
      return true;
    }
    out_ += rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (Take("?")) out_ += '?';
    repeatable_ = false;
    return true;
  }

  void Group() {
    ++open_groups_;
    repeatable_ = false;
    out_ += "(?:";
    if (Take("?:") || !rest_.starts_with('?')) return;
    for (const std::string_view lookaround : {"?=", "?!", "?<=", "?<!"}) {
      if (rest_.starts_with(lookaround)) {
        return Fail(
            "lookaround is not available in a linear-time engine: say it with `allOf`, "
            "`not` or two patterns");
      }
    }
    if (!Take("?<")) return Fail("`(?` begins no group of ECMA-262");
    const std::size_t close = rest_.find('>');
    if (close == 0 || close == std::string_view::npos) return Fail("a group name is not closed");
    rest_.remove_prefix(close + 1);
  }

  void Class() {
    const bool negated = Take("^");
    if (Take("]")) return Emit(negated ? kAnything : kNothing);
    out_ += negated ? "[^" : "[";
    bool after_set = false;  // a set such as \w cannot begin or end a range
    while (error_.empty()) {
      if (rest_.empty()) return Fail("`[` is not closed");
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == ']') return Emit("]");
      if (c == '\\') {
        after_set = Escape(true);
        continue;
      }
      const bool range = c == '-' && !after_set && !NextIsSet();
      const bool special = std::string_view("[^-&~").find(c) != std::string_view::npos;
      if (range || !special) {
        out_ += c;
      } else {
        EmitCodePoint(static_cast<unsigned char>(c));
      }
      after_set = false;
    }
  }

  bool NextIsSet() const {
    return rest_.size() > 1 && rest_[0] == '\\' &&
           std::string_view("dDwWsSpP").find(rest_[1]) != std::string_view::npos;
  }

  // After the backslash. Returns whether it stood for a set of characters.
  bool Escape(bool in_class) {
    if (rest_.empty()) {
      Fail("it ends in a backslash");
      return false;
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (std::string_view("dDwW").find(c) != std::string_view::npos) {
      Emit(std::string{'\\', c});
      return true;
    }
    if (c == 's' || c == 'S') {
      const std::string_view set = c == 's' ? kSpaces : kNotSpaces;
      Emit(in_class ? std::string(set) : absl::StrFormat("[%s]", set));
      return true;
    }
    if (c == 'p' || c == 'P') {
      Property(c);
      return true;
    }
    if (!in_class && (c == 'b' || c == 'B')) {
      out_ += {'\\', c};
      repeatable_ = false;
      return false;
    }
    if (const auto code_point = Character(c)) EmitCodePoint(*code_point);
    return false;
  }

  // The one character that an escape stands for.
  std::optional<std::uint32_t> Character(char c) {
    constexpr std::string_view kNamed = "tnvfrb";
    constexpr std::array<std::uint32_t, 6> kNamedValues = {9, 10, 11, 12, 13, 8};
    if (const std::size_t at = kNamed.find(c); at != std::string_view::npos) {
      return kNamedValues[at];
    }
    if (c == 'u') return Unicode();
    if (c == 'x') return Hex(2);
    if (c == 'c' && !rest_.empty() && absl::ascii_isalpha(static_cast<unsigned char>(rest_[0]))) {
      const auto letter = static_cast<std::uint32_t>(static_cast<unsigned char>(rest_[0]));
      rest_.remove_prefix(1);
      return letter % 32;
    }
    const bool digit_follows =
        !rest_.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest_[0]));
    if (c == '0' && !digit_follows) return 0;
    if (absl::ascii_ispunct(static_cast<unsigned char>(c))) return static_cast<std::uint32_t>(c);
    if (c == 'k' || (c >= '1' && c <= '9')) {
      Fail("backreferences are not available in a linear-time engine");
    } else {
      Fail("an escape is not one of ECMA-262");
    }
    return std::nullopt;
  }

  std::optional<std::uint32_t> Hex(std::size_t digits) {
    std::uint32_t value = 0;
    const std::string_view text = rest_.substr(0, digits);
    const char* const end = text.data() + text.size();
    if (text.empty() || text.size() < digits ||
        std::from_chars(text.data(), end, value, 16).ptr != end) {
      Fail("an escape lacks hexadecimal digits");
      return std::nullopt;
    }
    rest_.remove_prefix(digits);
    return value;
  }

  std::optional<std::uint32_t> Unicode() {
    std::optional<std::uint32_t> unit;
    if (Take("{")) {
      unit = Hex(std::min<std::size_t>(std::min(rest_.find('}'), rest_.size()), 8));
      if (unit && !Take("}")) Fail("an escape is not closed");
    } else {
      unit = Hex(4);
    }
    constexpr std::uint32_t kHigh = 0xd800, kLow = 0xdc00, kSurrogateEnd = 0xe000;
    if (unit && *unit >= kHigh && *unit < kLow && Take("\\u")) {
      const auto low = Hex(4);
      if (low && *low >= kLow && *low < kSurrogateEnd) {
        return 0x10000 + ((*unit - kHigh) << 10) + (*low - kLow);
      }
    }
    if (unit && ((*unit >= kHigh && *unit < kSurrogateEnd) || *unit > 0x10ffff)) {
      Fail("an escape is no Unicode character");
    }
    return unit;
  }

  void Property(char letter) {
    const std::size_t close = rest_.find('}');
    if (!rest_.starts_with('{') || close == std::string_view::npos) {
      return Fail("a property needs braces: `\\p{L}`");
    }
    std::string_view name = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    const std::size_t equals = name.find('=');
    const std::string_view kind = equals == std::string_view::npos ? "gc" : name.substr(0, equals);
    if (equals != std::string_view::npos) name.remove_prefix(equals + 1);
    // RE2 knows scripts by their long names, and refuses others when the pattern is compiled.
    const bool script = (kind == "Script" || kind == "sc") && name.size() > 2;
    for (const auto& [long_name, short_name] : kCategories) {
      if ((kind == "gc" || kind == "General_Category") &&
          (name == long_name || name == short_name)) {
        return Emit(absl::StrFormat("\\%c{%s}", letter, short_name));
      }
    }
    if (!script) return Fail("it names a Unicode property that is not available");
    Emit(absl::StrFormat("\\%c{%s}", letter, name));
  }

  std::string_view rest_;
  std::string out_;
  std::string error_;
  int open_groups_ = 0;
  bool repeatable_ = false;
};

class Re2Pattern final : public Pattern {
 public:
  Re2Pattern(std::string_view text, const std::string& re2_syntax, const RE2::Options& options)
      : text_(text), re2_(re2_syntax, options) {}

  bool Matches(std::string_view text) const override {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), re2_);
  }
  std::uint64_t Work(std::string_view text) const override {
    return (text.size() + 1) * static_cast<std::uint64_t>(re2_.ProgramSize());
  }
  const std::string& text() const override { return text_; }
  const RE2& re2() const { return re2_; }

 private:
  std::string text_;
  RE2 re2_;
};

}  // namespace

absl::StatusOr<std::string> ToRe2Syntax(std::string_view pattern) {
  return Translator(pattern).Run();
}

absl::StatusOr<std::shared_ptr<const Pattern>> Pattern::Compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("pattern is longer than %d bytes", kMaxPatternBytes));
  }
  const auto re2_syntax = ToRe2Syntax(pattern);
  if (!re2_syntax.ok()) {
    return absl::InvalidArgumentError(absl::StrFormat("pattern is not supported: %s",
                                                      std::string(re2_syntax.status().message())));
  }
  RE2::Options options;
  options.set_max_mem(kMaxPatternMemory);
  options.set_log_errors(false);
  auto compiled = std::make_shared<Re2Pattern>(pattern, *re2_syntax, options);
  const RE2& re2 = compiled->re2();
  if (re2.error_code() == RE2::ErrorPatternTooLarge) {
    return absl::ResourceExhaustedError("pattern is too large: repeat fewer times");
  }
  if (!re2.ok()) {
    return absl::InvalidArgumentError(absl::StrFormat("pattern is not supported: %s", re2.error()));
  }
  return compiled;
}

}  // namespace warder::manifest
