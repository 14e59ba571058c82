#include "manifest/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "manifest/json_scan.h"

namespace warder::manifest {
namespace {

constexpr std::size_t kDoubleDigits = 17;  // more significant digits never survive a double
constexpr double kWholeNumbersEnd = 9007199254740992.0;  // 2^53: exact below
constexpr int kNumberOverflowId = 406;  // nlohmann's exception for a number beyond a double
constexpr std::string_view kSyntaxMark = "syntax error while parsing ";  // of nlohmann's messages
constexpr std::string_view kRounded =
    "number would be rounded: no 64-bit integer or double holds it exactly as written";

// A written number as significant digits without zeros at the ends, times a power of ten. Zero has
// no digits.
struct Decimal {
  std::string digits;
  long long exponent = 0;
  bool operator==(const Decimal&) const = default;
};

std::optional<Decimal> ReadDecimal(std::string_view text) {
  Decimal decimal;
  const std::size_t mark = text.find_first_of("eE");
  bool fraction = false;
  for (const char c : text.substr(0, mark)) {
    if (c == '.') fraction = true;
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) continue;
    if (fraction) --decimal.exponent;
    if (c != '0' || !decimal.digits.empty()) decimal.digits.push_back(c);
  }
  if (decimal.digits.empty()) return Decimal{};
  if (mark != std::string_view::npos) {
    std::string_view written = text.substr(mark + 1);
    if (written.front() == '+') written.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] =
        std::from_chars(written.data(), written.data() + written.size(), exponent);
    if (error != std::errc()) return std::nullopt;
    decimal.exponent += exponent;
  }
  while (decimal.digits.back() == '0') {
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
  return decimal;
}

// True when `value`, written with as many significant digits as `token`, is the same decimal number
// again.
bool SurvivesDouble(double value, std::string_view token) {
  const std::optional<Decimal> written = ReadDecimal(token);
  if (!written || written->digits.size() > kDoubleDigits) return false;
  if (written->digits.empty()) return value == 0.0;
  std::array<char, 64> buffer;  // sign, 17 digits, point and exponent take at most 24
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    std::chars_format::scientific, static_cast<int>(written->digits.size()) - 1);
  return error == std::errc() &&
         ReadDecimal({buffer.data(), static_cast<std::size_t>(end - buffer.data())}) == written;
}

// nlohmann's reason without its prefix and without the text that it read.
std::string Reason(std::string message, const std::string& last_token) {
  const std::string echo = "; last read: '" + last_token + "'";
  if (const std::size_t at = message.find(echo); at != std::string::npos) {
    message.erase(at, echo.size());
  }
  const std::size_t begin = message.find(kSyntaxMark);
  if (begin == std::string::npos) return "not JSON";
  return "syntax error in " + message.substr(begin + kSyntaxMark.size());
}

}  // namespace

// Makes the value from the parser's events. Event n that is not a separator belongs to token n of
// the scan.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(std::string_view bytes, const std::vector<JsonToken>& tokens, bool with_nodes)
      : bytes_(bytes), tokens_(tokens), with_nodes_(with_nodes) {}

  bool null() override { return Scalar(nullptr); }
  bool boolean(bool value) override { return Scalar(value); }
  bool number_integer(Json::number_integer_t value) override { return Scalar(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return Scalar(value); }
  bool string(std::string& value) override { return Scalar(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) override { return Fail(bytes_.size(), "binary value"); }

  bool number_float(double value, const std::string& /*text*/) override {
    if (next_ >= tokens_.size()) return Fail(bytes_.size(), "not JSON");
    const JsonToken& token = tokens_[next_];
    // The document's own bytes: the parser's copy has the decimal point of the locale.
    const std::string_view written = bytes_.substr(token.begin, token.end - token.begin);
    const bool integer = written.find_first_of(".eE") == std::string_view::npos;
    if (integer || !SurvivesDouble(value, written)) {
      return Fail(token.begin, std::string(kRounded));
    }
    return Scalar(value);
  }

  bool key(std::string& value) override {
    if (next_ >= tokens_.size()) return Fail(bytes_.size(), "not JSON");
    frames_.back().key = std::move(value);
    frames_.back().key_begins.push_back(tokens_[next_++].begin);
    return true;
  }

  bool start_object(std::size_t /*count*/) override { return Start(Json::object()); }
  bool start_array(std::size_t /*count*/) override { return Start(Json::array()); }
  bool end_object() override { return NoDuplicates() && End(); }
  bool end_array() override { return End(); }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    // `position` counts bytes read, one more at the end of the document.
    std::size_t offset = std::min(position == 0 ? 0 : position - 1, bytes_.size());
    if (next_ < tokens_.size() && tokens_[next_].begin <= offset && offset < tokens_[next_].end) {
      offset = tokens_[next_].begin;
    }
    const bool overflow = error.id == kNumberOverflowId;
    return Fail(offset, overflow ? std::string(kRounded) : Reason(error.what(), last_token));
  }

  std::optional<JsonFault> TakeFault() { return std::move(fault_); }
  Json TakeRoot() { return std::move(root_); }
  std::vector<JsonPositions::Node> TakeNodes() { return std::move(nodes_); }

 private:
  struct Frame {
    Json value;
    std::string key;                      // of the member that comes next
    std::vector<std::size_t> key_begins;  // byte offset of each key
    std::size_t node = 0;
  };

  bool Scalar(Json value) {
    if (!AddNode(/*array=*/false)) return false;
    Add(std::move(value));
    return true;
  }

  bool Start(Json container) {
    if (!AddNode(container.is_array())) return false;
    frames_.push_back({std::move(container), {}, {}, nodes_.empty() ? 0 : nodes_.size() - 1});
    return true;
  }

  bool End() {
    if (next_ >= tokens_.size()) return Fail(bytes_.size(), "not JSON");
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (with_nodes_) {
      nodes_[frame.node].end = tokens_[next_].end;
      nodes_[frame.node].next = nodes_.size();
    }
    ++next_;
    Add(std::move(frame.value));
    return true;
  }

  void Add(Json value) {
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (frames_.back().value.is_array()) {
      frames_.back().value.push_back(std::move(value));
    } else {
      // Not operator[], which looks through all members: NoDuplicates() finds doubles at the end of
      // the object.
      frames_.back().value.get_ref<Json::object_t&>().emplace_back(std::move(frames_.back().key),
                                                                   std::move(value));
    }
  }

  // Consumes the token of a value that begins.
  bool AddNode(bool array) {
    if (next_ >= tokens_.size()) return Fail(bytes_.size(), "not JSON");
    const JsonToken& token = tokens_[next_++];
    if (!with_nodes_) return true;
    JsonPositions::Node node{{}, token.begin, token.begin, token.end, nodes_.size() + 1, array};
    if (!frames_.empty() && frames_.back().value.is_object()) {
      node.key = frames_.back().key;
      node.key_begin = frames_.back().key_begins.back();
    }
    nodes_.push_back(std::move(node));
    return true;
  }

  // Sorting instead of hashing: a stranger cannot choose keys that make it slow.
  bool NoDuplicates() {
    const Frame& frame = frames_.back();
    const Json::object_t::Container& members = frame.value.get_ref<const Json::object_t&>();
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const int compared = members[a].first.compare(members[b].first);
      return compared != 0 ? compared < 0 : a < b;
    });
    std::size_t first = 0;
    std::size_t second = members.size();
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (order[i] < second && members[order[i - 1]].first == members[order[i]].first) {
        first = order[i - 1];
        second = order[i];
      }
    }
    if (second == members.size()) return true;
    const std::size_t offset = frame.key_begins[second];
    return Fail(
        offset,
        absl::StrFormat("duplicate key %s, at %s and again at %s", QuoteKey(members[second].first),
                        LineColumn(bytes_, frame.key_begins[first]), LineColumn(bytes_, offset)));
  }

  bool Fail(std::size_t offset, std::string what) {
    if (!fault_) fault_ = JsonFault{offset, std::move(what), false};
    return false;
  }

  const std::string_view bytes_;
  const std::vector<JsonToken>& tokens_;
  const bool with_nodes_;
  std::size_t next_ = 0;
  std::vector<Frame> frames_;
  Json root_;
  std::vector<JsonPositions::Node> nodes_;
  std::optional<JsonFault> fault_;
};

namespace {

absl::Status FaultStatus(std::string_view bytes, std::string_view source, const JsonFault& fault) {
  const std::string text =
      absl::StrFormat("%s:%s: %s", source, LineColumn(bytes, fault.offset), fault.what);
  return fault.over_limit ? absl::ResourceExhaustedError(text) : absl::InvalidArgumentError(text);
}

void AppendJson(std::string& text, const Json& value, bool ascii);

// The nearest of the shortest forms: nlohmann's own is sometimes another one, which the strict
// reader would refuse as rounded. So are the digits that to_chars would fill up a large whole
// number with.
void AppendDouble(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  std::array<char, 64> buffer;
  char* const last = buffer.data() + buffer.size();
  const auto result =
      std::abs(value) < kWholeNumbersEnd
          ? std::to_chars(buffer.data(), last, value)
          : std::to_chars(buffer.data(), last, value, std::chars_format::scientific);
  const std::string_view written(buffer.data(),
                                 static_cast<std::size_t>(result.ptr - buffer.data()));
  text += written;
  if (written.find_first_not_of("-0123456789") == std::string_view::npos) text += ".0";
}

std::string WriteText(const Json& value, bool ascii) {
  return value.dump(-1, ' ', ascii, Json::error_handler_t::replace);
}

void AppendObject(std::string& text, const Json& object, bool ascii) {
  text += '{';
  for (const auto& [key, member] : object.get_ref<const Json::object_t&>()) {
    if (&member != &object.front()) text += ',';
    text += WriteText(Json(key), ascii);
    text += ':';
    AppendJson(text, member, ascii);
  }
  text += '}';
}

void AppendArray(std::string& text, const Json& array, bool ascii) {
  text += '[';
  for (const Json& element : array) {
    if (&element != &array.front()) text += ',';
    AppendJson(text, element, ascii);
  }
  text += ']';
}

void AppendJson(std::string& text, const Json& value, bool ascii) {
  if (value.is_object()) {
    AppendObject(text, value, ascii);
  } else if (value.is_array()) {
    AppendArray(text, value, ascii);
  } else if (value.is_number_float()) {
    AppendDouble(text, value.get<double>());
  } else {
    text += WriteText(value, ascii);
  }
}

}  // namespace

absl::StatusOr<Json> ParseStrictJson(std::string_view bytes, std::string_view source,
                                     const JsonLimits& limits, JsonPositions* positions) {
  if (bytes.size() > limits.bytes) {
    const JsonFault fault{
        0, absl::StrFormat("%d bytes, the limit is %d", bytes.size(), limits.bytes), true};
    return FaultStatus(bytes, source, fault);
  }
  const JsonScan scan = ScanJson(bytes, limits);
  if (scan.fault) return FaultStatus(bytes, source, *scan.fault);
  JsonBuilder builder(bytes, scan.tokens, positions != nullptr);
  const bool parsed = Json::sax_parse(bytes.begin(), bytes.end(), &builder);
  const std::optional<JsonFault> fault = builder.TakeFault();
  if (fault) return FaultStatus(bytes, source, *fault);
  if (!parsed) return FaultStatus(bytes, source, {0, "not JSON", false});
  if (positions != nullptr) {
    positions->document_ = std::string(bytes);
    positions->nodes_ = builder.TakeNodes();
  }
  return builder.TakeRoot();
}

std::string WriteJson(const Json& value, bool ascii) {
  std::string text;
  AppendJson(text, value, ascii);
  return text;
}

}  // namespace warder::manifest
