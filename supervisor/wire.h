// Wire: numbers and byte strings in one flat buffer, for messages between the supervisor and its
// launcher.
//
// Both ends are the same binary on the same machine: numbers are 8 bytes, host order; a string is
// its length and its bytes.
#ifndef WARDER_SUPERVISOR_WIRE_H_
#define WARDER_SUPERVISOR_WIRE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace warder::supervisor {

class WireWriter {
 public:
  void Number(std::uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    buffer_.append(bytes, sizeof value);
  }
  void Signed(std::int64_t value) { Number(static_cast<std::uint64_t>(value)); }
  void Text(std::string_view text) {
    Number(text.size());
    buffer_.append(text);
  }
  void Texts(const std::vector<std::string>& texts) {
    Number(texts.size());
    for (const std::string& text : texts) Text(text);
  }
  std::string Take() { return std::move(buffer_); }

 private:
  std::string buffer_;
};

// Reads what a WireWriter wrote. Anything that does not fit makes the reader fail and stay failed;
// reads then give 0 and "".
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t Number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) return Fail();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::int64_t Signed() { return static_cast<std::int64_t>(Number()); }
  // The one of `values` that was written; failure, and the first of them, when none of them was.
  template <typename Enum>
  Enum OneOf(std::initializer_list<Enum> values) {
    const std::uint64_t number = Number();
    const auto* const found = std::find_if(values.begin(), values.end(), [number](Enum value) {
      return static_cast<std::uint64_t>(value) == number;
    });
    if (found != values.end()) return *found;
    Fail();
    return *values.begin();
  }
  std::string Text() {
    const std::uint64_t size = Number();
    if (size > rest_.size()) {
      Fail();
      return "";
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  // How many elements follow; 0 and failure when that many cannot: each takes at least a number.
  std::uint64_t Count() {
    const std::uint64_t count = Number();
    if (count > rest_.size() / sizeof count) return Fail();
    return count;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (std::uint64_t count = Count(); count > 0 && ok_; --count) texts.push_back(Text());
    return texts;
  }
  // True when everything was read and nothing is left.
  bool Complete() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t Fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_WIRE_H_
