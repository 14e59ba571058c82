#include "manifest/schema_translation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "manifest/schema_path.h"
#include "manifest/schema_reference.h"

namespace warder::manifest {
namespace {

// Chains in published schemas are 4 long. The stack that one evaluation takes grows with it.
constexpr std::size_t kMaxChain = 64;

// What a keyword's handler reads and fills.
struct Entry {
  const Json& schema;
  const Json& value;
  const LintedSchema& linted;
  SchemaNode& node;

  SchemaId Id(const Json& subschema) const { return linted.ids.at(&subschema); }
  SchemaId Id() const { return Id(value); }
  std::vector<SchemaId> Ids() const {
    std::vector<SchemaId> ids;
    for (const Json& item : value) ids.push_back(Id(item));
    return ids;
  }
};

std::uint8_t TypeFromName(std::string_view name) {
  if (name == "null") return kTypeNull;
  if (name == "boolean") return kTypeBoolean;
  if (name == "object") return kTypeObject;
  if (name == "array") return kTypeArray;
  if (name == "string") return kTypeString;
  return name == "integer" ? kTypeInteger : kTypeNumber;
}

std::uint8_t TypesFrom(const Json& value) {
  if (value.is_string()) return TypeFromName(value.get_ref<const std::string&>());
  std::uint8_t types = 0;
  for (const Json& name : value) {
    types = static_cast<std::uint8_t>(types | TypeFromName(name.get_ref<const std::string&>()));
  }
  return types;
}

// The values as the schema has them, if they fit on a line.
std::string ShownValues(const Json& values) {
  constexpr std::size_t kMaxShown = 120;
  std::vector<std::string> texts;
  std::size_t length = 0;
  for (const Json& value : values) {
    texts.push_back(WriteJson(value, /*ascii=*/true));
    length += texts.back().size() + 2;
    if (length > kMaxShown) {
      return values.size() == 1 ? "the value that the schema gives"
                                : absl::StrFormat("one of %d values", values.size());
    }
  }
  return (texts.size() == 1 ? "" : "one of ") + absl::StrJoin(texts, ", ");
}

AllowedValues Allowed(const char* keyword, const Json& values) {
  AllowedValues allowed;
  allowed.keyword = keyword;
  for (const Json& value : values) allowed.values.emplace_back(value);
  allowed.shown = ShownValues(values);
  return allowed;
}

void AddLimit(const Entry& entry, const char* keyword, const char* words,
              bool (*holds)(ExactNumber number, ExactNumber limit)) {
  entry.node.limits.push_back(
      {keyword, words, holds, ToExact(IndexedJson(entry.value)), WriteJson(entry.value)});
}

void AddMinimum(const Entry& entry) {
  AddLimit(entry, "minimum", "at least",
           [](ExactNumber n, ExactNumber limit) { return n >= limit; });
}
void AddMaximum(const Entry& entry) {
  AddLimit(entry, "maximum", "at most",
           [](ExactNumber n, ExactNumber limit) { return n <= limit; });
}
void AddExclusiveMinimum(const Entry& entry) {
  AddLimit(entry, "exclusiveMinimum", "above",
           [](ExactNumber n, ExactNumber limit) { return n > limit; });
}
void AddExclusiveMaximum(const Entry& entry) {
  AddLimit(entry, "exclusiveMaximum", "below",
           [](ExactNumber n, ExactNumber limit) { return n < limit; });
}

CountLimit Count(const char* keyword, const Json& value) {
  return {keyword, static_cast<std::uint64_t>(value.get<double>())};
}

void AddDependencies(const char* keyword, const Entry& entry) {
  for (const auto& item : entry.value.items()) {
    Dependency dependency;
    dependency.keyword = keyword;
    dependency.name = item.key();
    if (item.value().is_array()) {
      dependency.required = item.value().get<std::vector<std::string>>();
    } else {
      dependency.schema = entry.Id(item.value());
    }
    entry.node.dependencies.push_back(std::move(dependency));
  }
}

void AddItems(const Entry& entry) {
  if (entry.value.is_array()) {
    entry.node.prefix = entry.Ids();
  } else {
    entry.node.rest = entry.Id();
  }
}

// Without array `items` beside it, `additionalItems` says nothing.
void AddAdditionalItems(const Entry& entry) {
  const auto items = entry.schema.find("items");
  if (items != entry.schema.end() && items->is_array()) entry.node.rest = entry.Id();
}

// `minContains`: 0 makes `contains` true of every array.
void AddContains(const Entry& entry) {
  const auto least = entry.schema.find("minContains");
  if (least == entry.schema.end() || least->get<double>() != 0) entry.node.contains = entry.Id();
}

void AddProperties(const Entry& entry) {
  for (const auto& item : entry.value.items()) {
    entry.node.properties.emplace_back(item.key(), entry.Id(item.value()));
  }
  std::sort(entry.node.properties.begin(), entry.node.properties.end());
}

void AddPatternProperties(const Entry& entry) {
  for (const auto& item : entry.value.items()) {
    entry.node.pattern_properties.emplace_back(entry.linted.patterns.at(item.key()),
                                               entry.Id(item.value()));
  }
}

using Handler = void (*)(const Entry&);

const std::unordered_map<std::string_view, Handler>& Handlers() {
  static const auto* const kHandlers = new std::unordered_map<std::string_view, Handler>{
      {"type", [](const Entry& e) { e.node.types = TypesFrom(e.value); }},
      {"enum", [](const Entry& e) { e.node.allowed.push_back(Allowed("enum", e.value)); }},
      {"const",
       [](const Entry& e) { e.node.allowed.push_back(Allowed("const", Json::array({e.value}))); }},
      {"minimum", AddMinimum},
      {"maximum", AddMaximum},
      {"exclusiveMinimum", AddExclusiveMinimum},
      {"exclusiveMaximum", AddExclusiveMaximum},
      {"multipleOf",
       [](const Entry& e) {
         e.node.multiple = Multiple{ToDecimal(IndexedJson(e.value)), WriteJson(e.value)};
       }},
      {"minLength", [](const Entry& e) { e.node.min_length = Count("minLength", e.value); }},
      {"maxLength", [](const Entry& e) { e.node.max_length = Count("maxLength", e.value); }},
      {"pattern",
       [](const Entry& e) { e.node.pattern = e.linted.patterns.at(e.value.get<std::string>()); }},
      {"format",
       [](const Entry& e) {
         e.node.format_name = e.value.get<std::string>();
         e.node.format = FindFormat(e.node.format_name);
       }},
      {"minItems", [](const Entry& e) { e.node.min_items = Count("minItems", e.value); }},
      {"maxItems", [](const Entry& e) { e.node.max_items = Count("maxItems", e.value); }},
      {"uniqueItems", [](const Entry& e) { e.node.unique_items = e.value.get<bool>(); }},
      {"items", AddItems},
      {"additionalItems", AddAdditionalItems},
      {"prefixItems", [](const Entry& e) { e.node.prefix = e.Ids(); }},
      {"contains", AddContains},
      {"minProperties",
       [](const Entry& e) { e.node.min_properties = Count("minProperties", e.value); }},
      {"maxProperties",
       [](const Entry& e) { e.node.max_properties = Count("maxProperties", e.value); }},
      {"required",
       [](const Entry& e) { e.node.required = e.value.get<std::vector<std::string>>(); }},
      {"properties", AddProperties},
      {"patternProperties", AddPatternProperties},
      {"additionalProperties", [](const Entry& e) { e.node.additional_properties = e.Id(); }},
      {"propertyNames", [](const Entry& e) { e.node.property_names = e.Id(); }},
      {"dependencies", [](const Entry& e) { AddDependencies("dependencies", e); }},
      {"dependentRequired", [](const Entry& e) { AddDependencies("dependentRequired", e); }},
      {"dependentSchemas", [](const Entry& e) { AddDependencies("dependentSchemas", e); }},
      {"allOf",
       [](const Entry& e) {
         for (const SchemaId id : e.Ids()) e.node.all_of.push_back(id);
       }},
      {"anyOf", [](const Entry& e) { e.node.any_of = e.Ids(); }},
      {"oneOf", [](const Entry& e) { e.node.one_of = e.Ids(); }},
      {"not", [](const Entry& e) { e.node.negated = e.Id(); }},
      {"if", [](const Entry& e) { e.node.condition = e.Id(); }},
      {"then", [](const Entry& e) { e.node.then_schema = e.Id(); }},
      {"else", [](const Entry& e) { e.node.else_schema = e.Id(); }},
  };
  return *kHandlers;
}

absl::Status FillNode(const Json& root, const Json& schema, const LintedSchema& linted,
                      SchemaNode& node) {
  if (schema.is_boolean()) {
    node.never = !schema.get<bool>();
    return absl::OkStatus();
  }
  for (const auto& item : schema.items()) {
    if (item.key() == "$ref") {
      const auto target = ResolveReference(root, linted, item.value().get<std::string>());
      if (!target.ok()) {
        return SchemaFault(root, item.value(), std::string(target.status().message()));
      }
      node.all_of.push_back(*target);
      continue;
    }
    const auto handler = Handlers().find(item.key());
    if (handler != Handlers().end()) handler->second({schema, item.value(), linted, node});
  }
  return absl::OkStatus();
}

// Finds the longest chain of schemas on one value, and chains without an end.
class ChainWalk {
 public:
  explicit ChainWalk(const SchemaGraph& graph)
      : graph_(graph), lengths_(graph.nodes.size()), open_(graph.nodes.size()) {}

  // 0 when the chain from `id` is longer than kMaxChain; `cycle()` tells whether it has an end.
  std::size_t Length(SchemaId id, std::size_t above) {
    if (lengths_[id] != 0) return above + lengths_[id] > kMaxChain ? 0 : lengths_[id];
    if (open_[id]) cycle_ = true;
    if (open_[id] || above >= kMaxChain) return 0;
    open_[id] = true;
    std::size_t longest = 0;
    for (const SchemaId next : SchemasInPlace(graph_.nodes[id])) {
      const std::size_t length = Length(next, above + 1);
      if (length == 0) return 0;
      longest = std::max(longest, length);
    }
    open_[id] = false;
    return lengths_[id] = longest + 1;
  }

  bool cycle() const { return cycle_; }

 private:
  const SchemaGraph& graph_;
  std::vector<std::size_t> lengths_;
  std::vector<bool> open_;
  bool cycle_ = false;
};

absl::Status MeasureChains(const Json& root, const LintedSchema& linted, SchemaGraph& graph) {
  ChainWalk walk(graph);
  for (SchemaId id = 0; id < graph.nodes.size(); ++id) {
    const std::size_t length = walk.Length(id, 0);
    if (length == 0 && walk.cycle()) {
      return SchemaFault(root, *linted.schemas[id],
                         "`$ref` comes back to its start without looking deeper into the input");
    }
    if (length == 0) {
      return SchemaFault(
          root, *linted.schemas[id],
          absl::StrFormat("more than %d schemas in a row look at the same value", kMaxChain),
          absl::StatusCode::kResourceExhausted);
    }
    graph.chain_length = std::max(graph.chain_length, length);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SchemaGraph> TranslateSchema(const Json& schema, const LintedSchema& linted) {
  SchemaGraph graph;
  graph.nodes.resize(linted.schemas.size());
  for (SchemaId id = 0; id < graph.nodes.size(); ++id) {
    absl::Status filled = FillNode(schema, *linted.schemas[id], linted, graph.nodes[id]);
    if (!filled.ok()) return filled;
  }
  if (absl::Status chains = MeasureChains(schema, linted, graph); !chains.ok()) return chains;
  return graph;
}

}  // namespace warder::manifest
