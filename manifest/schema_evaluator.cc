#include "manifest/schema_evaluator.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/schema_path.h"

namespace warder::manifest {
namespace {

std::uint8_t TypesOf(const IndexedJson& value) {
  if (value.is_null()) return kTypeNull;
  if (value.is_boolean()) return kTypeBoolean;
  if (value.is_object()) return kTypeObject;
  if (value.is_array()) return kTypeArray;
  if (value.is_string()) return kTypeString;
  return IsInteger(value) ? kTypeNumber | kTypeInteger : kTypeNumber;
}

std::string TypeNames(std::uint8_t types) {
  constexpr std::array<std::pair<std::uint8_t, const char*>, 7> kNames = {
      {{kTypeObject, "object"},
       {kTypeArray, "array"},
       {kTypeString, "string"},
       {kTypeInteger, "integer"},
       {kTypeNumber, "number"},
       {kTypeBoolean, "boolean"},
       {kTypeNull, "null"}}};
  std::string names;
  for (const auto& [bit, name] : kNames) {
    if ((types & bit) != 0) names += names.empty() ? name : absl::StrFormat(" or %s", name);
  }
  return names;
}

std::string GotName(std::uint8_t types) {
  return TypeNames((types & kTypeInteger) != 0 ? std::uint8_t{kTypeInteger} : types);
}

// Models often send an object as the text of one. It is never converted: what is shown, hashed and
// run is one value.
std::string JsonTextHint(std::uint8_t wanted, const IndexedJson& value) {
  if (!value.is_string()) return "";
  const auto& text = value.get_ref<const std::string&>();
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string::npos) return "";
  const char open = text[first];
  const char close = text[text.find_last_not_of(kBlank)];
  const bool object = open == '{' && close == '}' && (wanted & kTypeObject) != 0;
  const bool array = open == '[' && close == ']' && (wanted & kTypeArray) != 0;
  if (!object && !array) return "";
  return absl::StrFormat(" (it looks like JSON text; send the %s itself)",
                         object ? "object" : "array");
}

std::uint64_t CodePoints(std::string_view text) {
  return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

class Evaluation {
 public:
  Evaluation(const SchemaGraph& graph, const EvaluationBudget& budget)
      : graph_(graph), left_(budget) {}

  absl::Status Run(const IndexedJson& value) {
    const bool matches = Matches(0, value, nullptr);
    // A spent budget says "no" everywhere, also under `not`: no verdict that it touched counts.
    if (spent_) {
      return absl::ResourceExhaustedError(
          "`/`: checking it against the schema takes too many steps: send less at once");
    }
    if (!matches && fault_.ok()) return absl::InternalError("`/`: refused without a reason");
    return matches ? absl::OkStatus() : fault_;
  }

 private:
  bool Matches(SchemaId id, const IndexedJson& value, const PathStep* path) {
    const SchemaNode& node = graph_.nodes[id];
    const std::size_t names =
        node.properties.size() + node.required.size() + node.dependencies.size();
    if (!Spend(1 + names / 8)) return false;
    if (node.never) {
      return Fail(path, [] { return std::string("is not allowed here (the schema is `false`)"); });
    }
    return Type(node, value, path) && Allowed(node, value, path) && Number(node, value, path) &&
           Text(node, value, path) && Array(node, value, path) && Object(node, value, path) &&
           Combined(node, value, path);
  }

  bool MatchesQuietly(SchemaId id, const IndexedJson& value) {
    ++quiet_;
    const bool matches = Matches(id, value, nullptr);
    --quiet_;
    return matches;
  }

  bool Spend(std::uint64_t steps) {
    spent_ = spent_ || left_.steps < steps;
    if (!spent_) left_.steps -= steps;
    return !spent_;
  }

  bool PatternMatches(const Pattern& pattern, std::string_view text) {
    const std::uint64_t work = pattern.Work(text);
    spent_ = spent_ || left_.pattern_work < work;
    if (!spent_) left_.pattern_work -= work;
    return Spend(1) && pattern.Matches(text);
  }

  // Keeps the first fault; `text` makes its words only then. Always false.
  template <typename Text>
  bool Fail(const PathStep* path, const Text& text) {
    if (quiet_ == 0 && fault_.ok()) {
      const std::string pointer = PointerText(path);
      fault_ = absl::InvalidArgumentError(
          absl::StrFormat("`%s`: %s", pointer.empty() ? "/" : pointer, text()));
    }
    return false;
  }

  bool WithinCounts(std::uint64_t count, const std::optional<CountLimit>& least,
                    const std::optional<CountLimit>& most, const char* unit, const PathStep* path) {
    const bool too_few = least && count < least->value;
    const bool too_many = most && count > most->value;
    if (!too_few && !too_many) return true;
    return Fail(path, [&] {
      const CountLimit& limit = too_few ? *least : *most;
      return absl::StrFormat("must have at %s %d %s (%s)", too_few ? "least" : "most", limit.value,
                             unit, limit.keyword);
    });
  }

  bool Type(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Allowed(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Number(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Text(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Array(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Unique(const IndexedJson& value, const PathStep* path);
  bool Object(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Members(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Member(const SchemaNode& node, const std::string& name, const IndexedJson& value,
              const PathStep* path);
  bool Dependencies(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool Combined(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool AnyOf(const SchemaNode& node, const IndexedJson& value, const PathStep* path);
  bool OneOf(const SchemaNode& node, const IndexedJson& value, const PathStep* path);

  const SchemaGraph& graph_;
  EvaluationBudget left_;
  bool spent_ = false;
  int quiet_ = 0;  // above 0 while the outcome of a schema is not yet a fault
  absl::Status fault_;
};

bool Evaluation::Type(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  const std::uint8_t got = TypesOf(value);
  if (node.types == 0 || (node.types & got) != 0) return true;
  return Fail(path, [&] {
    return absl::StrFormat("type must be %s, got %s%s", TypeNames(node.types), GotName(got),
                           JsonTextHint(node.types, value));
  });
}

bool Evaluation::Allowed(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  for (const AllowedValues& allowed : node.allowed) {
    if (!Spend(allowed.values.size() / 16)) return false;
    const bool found = std::any_of(allowed.values.begin(), allowed.values.end(),
                                   [&](const auto& one) { return SameValue(one, value); });
    if (found) continue;
    return Fail(path,
                [&] { return absl::StrFormat("must be %s (%s)", allowed.shown, allowed.keyword); });
  }
  return true;
}

bool Evaluation::Number(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  if (!value.is_number()) return true;
  for (const NumberLimit& limit : node.limits) {
    if (limit.holds(ToExact(value), limit.value)) continue;
    return Fail(path, [&] {
      return absl::StrFormat("must be %s %s (%s)", limit.words, limit.shown, limit.keyword);
    });
  }
  if (!node.multiple || IsMultipleOf(ToDecimal(value), node.multiple->factor)) return true;
  return Fail(path, [&] {
    return absl::StrFormat("must be a multiple of %s (multipleOf)", node.multiple->shown);
  });
}

bool Evaluation::Text(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  if (!value.is_string()) return true;
  const auto& text = value.get_ref<const std::string&>();
  constexpr std::size_t kBytesPerStep = 512;
  if (!Spend(text.size() / kBytesPerStep)) return false;
  if (node.min_length || node.max_length) {
    if (!WithinCounts(CodePoints(text), node.min_length, node.max_length, "characters", path)) {
      return false;
    }
  }
  if (node.format != nullptr && !node.format(text)) {
    return Fail(path,
                [&] { return absl::StrFormat("is not a valid %s (format)", node.format_name); });
  }
  if (node.pattern == nullptr || PatternMatches(*node.pattern, text)) return true;
  return Fail(path, [&] {
    return absl::StrFormat("does not match `%s` (pattern)", ShownName(node.pattern->text()));
  });
}

bool Evaluation::Array(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  if (!value.is_array()) return true;
  if (!WithinCounts(value.size(), node.min_items, node.max_items, "items", path)) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool prefixed = i < node.prefix.size();
    const std::optional<SchemaId> item = prefixed ? node.prefix[i] : node.rest;
    if (!item) break;
    if (!prefixed && graph_.nodes[*item].never) {
      return Fail(path, [&] {
        return absl::StrFormat("must have at most %d items (items)", node.prefix.size());
      });
    }
    const PathStep step{path, {}, i};
    if (!Matches(*item, value[i], &step)) return false;
  }
  if (node.unique_items && !Unique(value, path)) return false;
  if (!node.contains) return true;
  const bool found = std::any_of(value.begin(), value.end(), [&](const IndexedJson& item) {
    return MatchesQuietly(*node.contains, item);
  });
  return found || Fail(path, [] { return std::string("no item is as `contains` asks"); });
}

bool Evaluation::Unique(const IndexedJson& value, const PathStep* path) {
  constexpr std::size_t kBytesPerStep = 128;
  std::vector<std::pair<std::string, std::size_t>> items;
  for (const IndexedJson& item : value) {
    items.emplace_back(CanonicalText(item), items.size());
    if (!Spend(1 + items.back().first.size() / kBytesPerStep)) return false;
  }
  std::sort(items.begin(), items.end());
  const auto twin = std::adjacent_find(
      items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twin == items.end()) return true;
  return Fail(path, [&] {
    return absl::StrFormat("items %d and %d are equal (uniqueItems)", twin->second,
                           std::next(twin)->second);
  });
}

bool Evaluation::Object(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  if (!value.is_object()) return true;
  for (const std::string& name : node.required) {
    if (value.contains(name)) continue;
    return Fail(path, [&] {
      return absl::StrFormat("property `%s` is missing (required)", ShownName(name));
    });
  }
  return WithinCounts(value.size(), node.min_properties, node.max_properties, "properties", path) &&
         Members(node, value, path) && Dependencies(node, value, path);
}

bool Evaluation::Members(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  for (const auto& [name, schema] : node.properties) {
    const auto member = value.find(name);
    const PathStep step{path, name};
    if (member != value.end() && !Matches(schema, *member, &step)) return false;
  }
  if (node.pattern_properties.empty() && !node.additional_properties && !node.property_names) {
    return true;
  }
  for (const auto& member : value.items()) {
    const PathStep step{path, member.key()};
    if (!Member(node, member.key(), member.value(), &step)) return false;
  }
  return true;
}

// `path` leads to the member itself.
bool Evaluation::Member(const SchemaNode& node, const std::string& name, const IndexedJson& value,
                        const PathStep* path) {
  if (!Spend(1)) return false;
  if (node.property_names && !MatchesQuietly(*node.property_names, IndexedJson(name))) {
    return Fail(path->parent, [&] {
      return absl::StrFormat("property name `%s` is not as `propertyNames` asks", ShownName(name));
    });
  }
  const auto declared = std::lower_bound(
      node.properties.begin(), node.properties.end(), name,
      [](const auto& property, const std::string& wanted) { return property.first < wanted; });
  bool named = declared != node.properties.end() && declared->first == name;
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (!PatternMatches(*pattern, name)) continue;
    named = true;
    if (!Matches(schema, value, path)) return false;
  }
  if (named || !node.additional_properties) return true;
  if (graph_.nodes[*node.additional_properties].never) {
    return Fail(path->parent, [&] {
      return absl::StrFormat("unknown property `%s` (additionalProperties)", ShownName(name));
    });
  }
  return Matches(*node.additional_properties, value, path);
}

bool Evaluation::Dependencies(const SchemaNode& node, const IndexedJson& value,
                              const PathStep* path) {
  for (const Dependency& dependency : node.dependencies) {
    if (!value.contains(dependency.name)) continue;
    for (const std::string& name : dependency.required) {
      if (value.contains(name)) continue;
      return Fail(path, [&] {
        return absl::StrFormat("property `%s` is missing, and needed beside `%s` (%s)",
                               ShownName(name), ShownName(dependency.name), dependency.keyword);
      });
    }
    if (dependency.schema && !Matches(*dependency.schema, value, path)) return false;
  }
  return true;
}

bool Evaluation::Combined(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  for (const SchemaId schema : node.all_of) {
    if (!Matches(schema, value, path)) return false;
  }
  if (!node.any_of.empty() && !AnyOf(node, value, path)) return false;
  if (!node.one_of.empty() && !OneOf(node, value, path)) return false;
  if (node.negated && MatchesQuietly(*node.negated, value)) {
    return Fail(path, [] { return std::string("is what `not` rules out"); });
  }
  if (!node.condition) return true;
  const auto& chosen = MatchesQuietly(*node.condition, value) ? node.then_schema : node.else_schema;
  return !chosen || Matches(*chosen, value, path);
}

bool Evaluation::AnyOf(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  const bool found = std::any_of(node.any_of.begin(), node.any_of.end(),
                                 [&](SchemaId schema) { return MatchesQuietly(schema, value); });
  if (found) return true;
  return Fail(path, [&] {
    std::uint8_t wanted = 0;
    bool typed = true;
    for (const SchemaId schema : node.any_of) {
      const std::uint8_t types = graph_.nodes[schema].types;
      typed = typed && types != 0;
      wanted = static_cast<std::uint8_t>(wanted | types);
    }
    const std::uint8_t got = TypesOf(value);
    if (typed && (wanted & got) == 0) {
      return absl::StrFormat("type must be %s, got %s%s (anyOf)", TypeNames(wanted), GotName(got),
                             JsonTextHint(wanted, value));
    }
    return absl::StrFormat("matches 0 of %d alternatives (anyOf)", node.any_of.size());
  });
}

bool Evaluation::OneOf(const SchemaNode& node, const IndexedJson& value, const PathStep* path) {
  const auto count = std::count_if(node.one_of.begin(), node.one_of.end(),
                                   [&](SchemaId schema) { return MatchesQuietly(schema, value); });
  if (count == 1) return true;
  return Fail(path, [&] {
    return absl::StrFormat("matches %d of %d alternatives, must match exactly one (oneOf)", count,
                           node.one_of.size());
  });
}

}  // namespace

absl::Status EvaluateSchema(const SchemaGraph& graph, const IndexedJson& value,
                            const EvaluationBudget& budget) {
  return Evaluation(graph, budget).Run(value);
}

}  // namespace warder::manifest
