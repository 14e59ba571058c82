// The reader of rules files.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "approval/rules.h"
#include "manifest/json_reader.h"

namespace warder::approval {
namespace {

using manifest::Json;
using manifest::JsonObjectReader;
using manifest::JsonPositions;

constexpr std::size_t kMaxRules = 10'000;     // each is looked at for each call
constexpr std::size_t kMaxPredicates = 64;    // in one rule and of one kind; nobody can read more
constexpr std::size_t kMaxGlobBytes = 4096;   // a path's length
constexpr std::size_t kMaxNameBytes = 64;     // fits a line
constexpr std::int64_t kMaxArgvIndex = 4095;  // more words than any manifest's command has

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool IsPointer(const std::string& text) {
  try {
    static_cast<void>(Json::json_pointer(text));
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

Match ReadMatch(JsonObjectReader& reader, bool strings_only) {
  Match match;
  const Json* equals = reader.Value("equals");
  const Json* one_of = reader.Value("one_of");
  match.glob = reader.OptionalString("glob");
  if ((equals != nullptr) + (one_of != nullptr) + (match.glob ? 1 : 0) != 1) {
    reader.Fail("", "needs exactly one of `equals`, `one_of` and `glob`");
    return match;
  }
  if (match.glob) {
    if (match.glob->size() > kMaxGlobBytes) reader.Fail("glob", "is longer than 4096 bytes");
    return match;
  }
  const char* name = equals != nullptr ? "equals" : "one_of";
  if (one_of != nullptr && (!one_of->is_array() || one_of->empty())) {
    reader.Fail(name, "must be an array of at least one value");
    return match;
  }
  match.any_of = std::make_shared<const Json>(equals != nullptr ? Json::array({*equals}) : *one_of);
  if (strings_only && !std::all_of(match.any_of->begin(), match.any_of->end(),
                                   [](const Json& value) { return value.is_string(); })) {
    reader.Fail(name, "an argv word is a string, and equals no other value");
  }
  return match;
}

void ReadPredicates(JsonObjectReader& reader, Rule& rule) {
  rule.tool = reader.OptionalString("tool");
  rule.manifest_entry = reader.OptionalString("manifest_entry");
  rule.workspace = reader.OptionalString("workspace");
  rule.policy = reader.OptionalString("policy");
  rule.via = reader.OptionalString("via");
  const std::vector<std::string> effects = {"process", "external"};
  if (const auto effect = reader.OptionalChoice("side_effect", effects)) {
    rule.side_effect = effects[*effect];
  }
  reader.EachObject("argv", [&](JsonObjectReader& predicate) {
    ArgvPredicate read;
    read.index = static_cast<std::size_t>(predicate.Integer("index", 0, kMaxArgvIndex));
    read.match = ReadMatch(predicate, true);
    rule.argv.push_back(std::move(read));
  });
  if (const auto length = reader.OptionalInteger("argv_length", 0, kMaxArgvIndex + 1)) {
    rule.argv_length = static_cast<std::size_t>(*length);
  }
  reader.EachObject("input", [&](JsonObjectReader& predicate) {
    InputPredicate read;
    read.pointer = predicate.String("pointer");
    if (!IsPointer(read.pointer)) predicate.Fail("pointer", "is not a JSON pointer (RFC 6901)");
    read.match = ReadMatch(predicate, false);
    rule.input.push_back(std::move(read));
  });
}

void CheckPredicates(JsonObjectReader& reader, const Rule& rule) {
  if (rule.workspace && !rule.workspace->starts_with('/')) {
    reader.Fail("workspace", "must be an absolute path, with or without a trailing \"/**\"");
  }
  if (rule.manifest_entry &&
      (rule.manifest_entry->size() != 64 ||
       rule.manifest_entry->find_first_not_of("0123456789abcdef") != std::string::npos)) {
    reader.Fail("manifest_entry", "must be 64 lower-case hexadecimal digits");
  }
  if (rule.argv.size() > kMaxPredicates) reader.Fail("argv", "has more than 64 predicates");
  if (rule.input.size() > kMaxPredicates) reader.Fail("input", "has more than 64 predicates");
  const bool any = rule.tool || rule.manifest_entry || rule.workspace || rule.policy ||
                   rule.side_effect || rule.via || rule.argv_length || !rule.argv.empty() ||
                   !rule.input.empty();
  if (rule.allow && !any) {
    reader.Fail("effect", "an allow rule without a predicate would allow every call");
  }
}

absl::StatusOr<Rule> ReadRule(const Json& json, const JsonPositions& positions,
                              const std::string& source, std::size_t index) {
  std::string label = absl::StrCat("rule ", index);
  if (json.is_object() && json.contains("name") && json["name"].is_string()) {
    label = absl::StrCat("rule ", manifest::QuoteKey(json["name"].get<std::string>()));
  }
  JsonObjectReader reader(json, positions, source, absl::StrCat("/rules/", index), label);
  Rule rule;
  rule.name = reader.String("name");
  if (!IsName(rule.name)) reader.Fail("name", "must be 1 to 64 of letters, digits, `-`, `_`, `.`");
  rule.reason = reader.String("reason");
  if (IsBlank(rule.reason)) reader.Fail("reason", "must not be blank");
  const std::string effect = reader.String("effect");
  if (effect != "allow" && effect != "deny") {
    reader.Fail("effect", "must be \"allow\" or \"deny\"");
  }
  rule.allow = effect == "allow";
  ReadPredicates(reader, rule);
  CheckPredicates(reader, rule);
  if (absl::Status read = reader.Finish(); !read.ok()) return read;
  return rule;
}

}  // namespace

absl::StatusOr<RuleSet> RuleSet::Parse(std::string_view bytes, std::string_view source) {
  JsonPositions positions;
  const absl::StatusOr<Json> json = manifest::ParseStrictJson(bytes, source, {}, &positions);
  if (!json.ok()) return json.status();
  JsonObjectReader reader(*json, positions, std::string(source));
  reader.Integer("schema", 1, 1);
  const Json* rules = reader.Value("rules");
  if (rules == nullptr || !rules->is_array()) {
    reader.Fail("rules", "must be an array of rules");
  } else if (rules->size() > kMaxRules) {
    reader.Fail("rules", "has more than 10000 rules");
  }
  if (absl::Status read = reader.Finish(); !read.ok()) return read;
  RuleSet set;
  for (std::size_t i = 0; i < rules->size(); ++i) {
    absl::StatusOr<Rule> rule = ReadRule((*rules)[i], positions, std::string(source), i);
    if (!rule.ok()) return rule.status();
    RuleSet one;
    one.rules_.push_back(*std::move(rule));
    if (const absl::Status added = set.Merge(std::move(one)); !added.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(std::string(source), ":",
                                                     positions.At(absl::StrCat("/rules/", i)), ": ",
                                                     std::string(added.message())));
    }
  }
  return set;
}

}  // namespace warder::approval
