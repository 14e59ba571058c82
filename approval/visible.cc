#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "approval/preview.h"
#include "approval/visible_units.h"

namespace warder::approval {
namespace {

// Marks on one letter that are shown as they are. Vietnamese, Thai and the Indic scripts need up to
// this many; a stack of more is a way to paint over the lines above and below.
constexpr int kMaxMarks = 3;

// Assigned, graphic by category, and yet nothing to see, or what a terminal shows for bytes that it
// cannot read.
constexpr std::array<UChar32, 13> kBlank = {0x2800,  0xfffc,  0xfffd,  0x13441, 0x13442,
                                            0x13443, 0x13444, 0x13445, 0x13446, 0x16fe4,
                                            0x1d159, 0x1da7f, 0x1da80};

constexpr char kHex[] = "0123456789abcdef";

bool IsMark(UChar32 c) { return (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0; }

// Right-to-left letters and digits are refused like the bidi controls: a terminal that reorders
// moves the quotes and slashes around them, and the words on the screen are no longer in the order
// of the bytes.
bool IsRightToLeft(UChar32 c) {
  const UCharDirection direction = u_charDirection(c);
  return direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC ||
         direction == U_ARABIC_NUMBER;
}

bool IsHidden(UChar32 c) {
  constexpr std::uint32_t kHiddenCategories = U_GC_C_MASK | U_GC_Z_MASK;
  if ((U_GET_GC_MASK(c) & kHiddenCategories) != 0 || U_IS_UNICODE_NONCHAR(c)) return true;
  for (const UProperty property :
       {UCHAR_DEFAULT_IGNORABLE_CODE_POINT, UCHAR_BIDI_CONTROL, UCHAR_VARIATION_SELECTOR,
        UCHAR_WHITE_SPACE, UCHAR_JOIN_CONTROL, UCHAR_DEPRECATED}) {
    if (u_hasBinaryProperty(c, property)) return true;
  }
  if (std::find(kBlank.begin(), kBlank.end(), c) != kBlank.end()) return true;
  // A second spelling of another character ("Kelvin sign"), which is drawn the same.
  return IsRightToLeft(c) || u_getIntPropertyValue(c, UCHAR_NFC_QUICK_CHECK) == UNORM_NO;
}

// True when `first` then `second` is a second spelling of one character, which is drawn the same.
bool Composes(UChar32 first, UChar32 second) {
  UErrorCode error = U_ZERO_ERROR;
  const UNormalizer2* nfc = unorm2_getNFCInstance(&error);
  // Without the table nothing can be told apart, so everything is escaped.
  return U_FAILURE(error) || unorm2_composePair(nfc, first, second) >= 0;
}

class Writer {
 public:
  Writer(std::string_view text, Charset charset, bool quote)
      : text_(text), charset_(charset), quote_(quote) {
    out_.reserve(text.size() + text.size() / 8 + 2);
  }

  std::string Write() && {
    while (at_ < text_.size()) {
      if (static_cast<unsigned char>(text_[at_]) < 0x80) {
        Ascii(text_[at_]);
      } else {
        Multibyte();
      }
    }
    return std::move(out_);
  }

 private:
  void Ascii(char c) {
    previous_ = 0;
    if (c == ' ') return Spaces();
    ++at_;
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || (c == '"' && quote_)) {
      out_ += '\\';
      out_ += c;
    } else if (c == '[' && SpaceCountLength(text_.substr(at_ - 1)) > 0) {
      out_ += "\\[";  // not one of ours
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\r') {
      out_ += "\\r";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      Byte(byte);
    } else {
      out_ += c;
      previous_ = byte;
      marks_ = 0;
    }
  }

  void Spaces() {
    const std::size_t start = at_;
    at_ = std::min(text_.find_first_not_of(' ', start), text_.size());
    const std::size_t count = at_ - start;
    if (count == 1) {
      out_ += ' ';
    } else {
      out_ += '[';
      out_ += std::to_string(count);
      out_ += " spaces]";
    }
  }

  void Multibyte() {
    const std::size_t start = at_;
    const UChar32 c = NextCodePoint(text_, at_);
    if (c < 0) {
      for (std::size_t i = start; i < at_; ++i) Byte(static_cast<std::uint8_t>(text_[i]));
      previous_ = 0;
    } else if (charset_ == Charset::kUtf8 && Shown(c)) {
      out_.append(text_.substr(start, at_ - start));
    } else {
      CodePoint(c);
      previous_ = 0;
    }
  }

  // Whether `c` is written as it is; keeps track of what a mark would land on.
  bool Shown(UChar32 c) {
    if (IsHidden(c) || (previous_ != 0 && Composes(previous_, c))) return false;
    if (!IsMark(c)) {
      previous_ = c;
      marks_ = 0;
      return true;
    }
    const bool on_letter = previous_ != 0 && u_isalnum(previous_);
    const std::uint8_t order = u_getCombiningClass(c);
    // Enclosing marks draw a box or a circle around what they follow; marks out of canonical order
    // are a second spelling.
    if (!on_letter || u_charType(c) == U_ENCLOSING_MARK || marks_ == kMaxMarks ||
        (marks_ > 0 && order != 0 && order < last_order_)) {
      return false;
    }
    ++marks_;
    last_order_ = order;
    return true;
  }

  void Byte(std::uint8_t byte) {
    out_ += "\\x";
    out_ += kHex[byte >> 4];
    out_ += kHex[byte & 0xf];
  }

  void CodePoint(UChar32 c) {
    out_ += "\\u{";
    int shift = 20;
    while (shift > 0 && (c >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) out_ += kHex[(c >> shift) & 0xf];
    out_ += '}';
  }

  std::string_view text_;
  Charset charset_;
  bool quote_;
  std::size_t at_ = 0;
  std::string out_;
  UChar32 previous_ = 0;  // the character that a mark would land on; 0: none
  int marks_ = 0;
  std::uint8_t last_order_ = 0;
};

// Length of the escape that starts at text[0] == '\\'.
std::size_t EscapeLength(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == 'x') return std::min<std::size_t>(4, text.size());
  if (text.starts_with("\\u{")) return std::min(text.find('}'), text.size() - 1) + 1;
  return 2;
}

std::size_t CodePointWidth(UChar32 c) {
  const std::int8_t type = u_charType(c);
  if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK) return 0;
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

}  // namespace

std::string Visible(std::string_view text, Charset charset) {
  return Writer(text, charset, false).Write();
}

std::string Quoted(std::string_view text, Charset charset) {
  return '"' + Writer(text, charset, true).Write() + '"';
}

std::size_t SpaceCountLength(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  std::size_t at = 1;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  constexpr std::string_view kTail = " spaces]";
  return at > 1 && text.substr(at).starts_with(kTail) ? at + kTail.size() : 0;
}

std::int32_t NextCodePoint(std::string_view text, std::size_t& at) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  UChar32 c = 0;
  U8_NEXT(bytes, at, text.size(), c);  // NOLINT(bugprone-inc-dec-in-conditions): ICU's own macro
  return c;
}

Unit NextUnit(std::string_view visible) {
  if (visible[0] == '\\') {
    const std::size_t length = EscapeLength(visible);
    return {length, length};
  }
  if (const std::size_t length = SpaceCountLength(visible); length > 0) return {length, length};
  Unit unit;
  while (unit.bytes < visible.size()) {
    std::size_t next = unit.bytes;
    const UChar32 c = NextCodePoint(visible, next);
    if (unit.bytes > 0 && (c < 0 || !IsMark(c))) break;
    unit.bytes = next;
    unit.columns += c < 0 ? 1 : CodePointWidth(c);
  }
  return unit;
}

std::size_t DisplayWidth(std::string_view visible) {
  std::size_t columns = 0;
  while (!visible.empty()) {
    const Unit unit = NextUnit(visible);
    columns += unit.columns;
    visible.remove_prefix(unit.bytes);
  }
  return columns;
}

}  // namespace warder::approval
