#include "manifest/json_reader.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace warder::manifest {
namespace {

constexpr std::size_t kLongestComparedWord = 64;  // bounds the table of NearestWord

std::string AppendPointer(const std::string& pointer, std::string_view key) {
  return pointer + "/" + absl::StrReplaceAll({key.data(), key.size()}, {{"~", "~0"}, {"/", "~1"}});
}

// Optimal string alignment distance: inserts, deletes, replacements and swaps of neighbours.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t replace = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string NearestWord(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kLongestComparedWord) return "";
  std::size_t best = word.size() <= 3 ? 2 : 3;  // one more than the edits that still count as near
  std::string nearest;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestComparedWord) continue;
    const std::size_t distance = EditDistance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

JsonObjectReader::JsonObjectReader(const Json& value, const JsonPositions& positions,
                                   std::string source, std::string pointer, std::string label,
                                   std::string path)
    : value_(value),
      positions_(positions),
      source_(std::move(source)),
      pointer_(std::move(pointer)),
      label_(std::move(label)),
      path_(std::move(path)) {
  if (!value_.is_object()) Fail("", "must be an object");
}

std::string JsonObjectReader::Line() const {
  const std::string place = positions_.At(pointer_);
  return source_ + ":" + place.substr(0, place.find(':'));
}

std::string JsonObjectReader::Pointer(std::string_view name) const {
  return name.empty() ? pointer_ : AppendPointer(pointer_, name);
}

std::string JsonObjectReader::Path(std::string_view name) const {
  if (name.empty()) return path_;
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

absl::Status JsonObjectReader::Message(const std::string& place, const std::string& path,
                                       std::string_view what) const {
  return absl::InvalidArgumentError(absl::StrFormat("%s:%s: %s%s%s%s%s", source_, place, label_,
                                                    label_.empty() ? "" : ": ", path,
                                                    path.empty() ? "" : ": ", what));
}

void JsonObjectReader::Fail(std::string_view name, std::string_view what) {
  if (!fault_.ok()) return;
  const std::string pointer = Pointer(name);
  const std::string place = name.empty() ? positions_.KeyAt(pointer) : positions_.At(pointer);
  fault_ = Message(place, Path(name), what);
}

void JsonObjectReader::Fail(std::string_view name, const absl::Status& fault) {
  if (!fault_.ok() || fault.ok()) return;
  const std::string what(fault.message());
  std::string pointer = Pointer(name);
  if (what.starts_with("at /")) pointer += what.substr(3, what.find(": ") - 3);
  fault_ = absl::Status(fault.code(),
                        std::string(Message(positions_.At(pointer), Path(name), what).message()));
}

void JsonObjectReader::Fail(absl::Status fault) {
  if (fault_.ok()) fault_ = std::move(fault);
}

const Json* JsonObjectReader::Find(std::string_view name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.emplace_back(name);
  if (!value_.is_object()) return nullptr;
  const auto found = value_.find(std::string(name));
  return found == value_.end() ? nullptr : &*found;
}

const Json* JsonObjectReader::Required(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) Fail(name, "is missing, and required");
  return value;
}

void JsonObjectReader::Require(std::string_view name) { Required(name); }

bool JsonObjectReader::Has(std::string_view name) { return Find(name) != nullptr; }

const Json* JsonObjectReader::Value(std::string_view name) { return Find(name); }

std::optional<std::string> JsonObjectReader::AsString(const Json* value, std::string_view name) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  Fail(name, "must be a string");
  return std::nullopt;
}

std::string JsonObjectReader::String(std::string_view name) {
  return AsString(Required(name), name).value_or("");
}

std::optional<std::string> JsonObjectReader::OptionalString(std::string_view name) {
  return AsString(Find(name), name);
}

std::optional<std::int64_t> JsonObjectReader::AsInteger(const Json* value, std::string_view name,
                                                        std::int64_t min, std::int64_t max) {
  if (value == nullptr) return std::nullopt;
  // An unsigned value beyond int64 would turn negative in get().
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() ||
                     value->get<std::uint64_t>() <=
                         static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (fits) {
    const auto number = value->get<std::int64_t>();
    if (number >= min && number <= max) return number;
  }
  Fail(name, absl::StrFormat("must be a whole number from %d to %d", min, max));
  return std::nullopt;
}

std::int64_t JsonObjectReader::Integer(std::string_view name, std::int64_t min, std::int64_t max) {
  return AsInteger(Required(name), name, min, max).value_or(min);
}

std::optional<std::int64_t> JsonObjectReader::OptionalInteger(std::string_view name,
                                                              std::int64_t min, std::int64_t max) {
  return AsInteger(Find(name), name, min, max);
}

std::optional<bool> JsonObjectReader::OptionalBool(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Fail(name, "must be true or false");
  return std::nullopt;
}

std::optional<std::vector<std::string>> JsonObjectReader::AsStrings(const Json* value,
                                                                    std::string_view name) {
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    Fail(name, "must be an array of strings");
    return std::nullopt;
  }
  std::vector<std::string> strings;
  for (const Json& element : *value) {
    if (!element.is_string()) {
      FailElement(name, strings.size(), "must be a string");
      return std::nullopt;
    }
    strings.push_back(element.get<std::string>());
  }
  return strings;
}

std::vector<std::string> JsonObjectReader::Strings(std::string_view name) {
  return AsStrings(Required(name), name).value_or(std::vector<std::string>());
}

std::optional<std::vector<std::string>> JsonObjectReader::OptionalStrings(std::string_view name) {
  return AsStrings(Find(name), name);
}

std::vector<std::pair<std::string, std::string>> JsonObjectReader::OptionalStringMap(
    std::string_view name) {
  std::vector<std::pair<std::string, std::string>> map;
  const Json* value = Find(name);
  if (value == nullptr) return map;
  if (!value->is_object()) {
    Fail(name, "must be an object of strings");
    return map;
  }
  for (const auto& [key, member] : value->items()) {
    if (!member.is_string()) {
      FailMember(name, key, "must be a string");
      return map;
    }
    map.emplace_back(key, member.get<std::string>());
  }
  return map;
}

std::optional<std::size_t> JsonObjectReader::OptionalChoice(
    std::string_view name, const std::vector<std::string>& choices) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto found =
        std::find(choices.begin(), choices.end(), value->get_ref<const std::string&>());
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  }
  Fail(name, absl::StrFormat("must be one of \"%s\"", absl::StrJoin(choices, "\", \"")));
  return std::nullopt;
}

void JsonObjectReader::FailElement(std::string_view name, std::size_t index,
                                   std::string_view what) {
  if (!fault_.ok()) return;
  const std::string place = positions_.At(absl::StrFormat("%s/%d", Pointer(name), index));
  fault_ = Message(place, absl::StrFormat("%s[%d]", Path(name), index), what);
}

void JsonObjectReader::FailMember(std::string_view name, std::string_view key,
                                  std::string_view what) {
  if (!fault_.ok()) return;
  const std::string place = positions_.KeyAt(AppendPointer(Pointer(name), key));
  fault_ = Message(place, absl::StrFormat("%s: %s", Path(name), QuoteKey(key)), what);
}

void JsonObjectReader::Nested(const Json& value, std::string pointer, std::string label,
                              std::string path, const Body& body) {
  JsonObjectReader reader(value, positions_, source_, std::move(pointer), std::move(label),
                          std::move(path));
  if (reader.ok()) body(reader);
  Fail(reader.Finish());
}

void JsonObjectReader::Object(std::string_view name, const Body& body) {
  const Json* value = Find(name);
  if (value != nullptr) Nested(*value, Pointer(name), label_, Path(name), body);
}

void JsonObjectReader::EachObject(std::string_view name, const Body& body) {
  const Json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_array()) return Fail(name, "must be an array of objects");
  std::size_t index = 0;
  for (const Json& element : *value) {
    if (!fault_.ok()) return;
    Nested(element, absl::StrFormat("%s/%d", Pointer(name), index), label_,
           absl::StrFormat("%s[%d]", Path(name), index), body);
    ++index;
  }
}

void JsonObjectReader::EachNamed(
    std::string_view name, std::string_view what,
    const std::function<void(const std::string& key, JsonObjectReader&)>& body) {
  const Json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_object()) return Fail(name, "must be an object");
  for (const auto& [key, member] : value->items()) {
    if (!fault_.ok()) return;
    const std::string& member_key = key;  // a structured binding cannot be captured
    Nested(member, AppendPointer(Pointer(name), key), absl::StrFormat("%s %s", what, QuoteKey(key)),
           "", [&](JsonObjectReader& reader) { body(member_key, reader); });
  }
}

absl::Status JsonObjectReader::UnknownKey() const {
  if (!value_.is_object()) return absl::OkStatus();
  for (const auto& [key, member] : value_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string nearest = NearestWord(key, known_);
    const std::string hint =
        nearest.empty() ? "" : absl::StrFormat("; did you mean `%s`?", nearest);
    return Message(positions_.KeyAt(AppendPointer(pointer_, key)), path_,
                   absl::StrFormat("unknown key %s%s (known: %s)", QuoteKey(key), hint,
                                   absl::StrJoin(known_, ", ")));
  }
  return absl::OkStatus();
}

absl::Status JsonObjectReader::Finish() {
  // First: a misspelt key is the reason why another one is missing.
  if (absl::Status unknown = UnknownKey(); !unknown.ok()) return unknown;
  return fault_;
}

}  // namespace warder::manifest
