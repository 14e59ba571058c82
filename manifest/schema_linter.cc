#include "manifest/schema_linter.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "manifest/input_schema.h"
#include "manifest/schema_formats.h"
#include "manifest/schema_path.h"

namespace warder::manifest {
namespace {

// The largest schema in published tool lists has 200 values and nests 5 deep.
constexpr std::size_t kMaxValues = 10'000;
constexpr std::size_t kMaxSchemaDepth = 32;
constexpr std::size_t kMaxJsonDepth =
    128;  // a subschema lies at most three containers below its parent
constexpr std::size_t kMaxPatterns = 100;  // each may take half a mebibyte when it runs
constexpr std::size_t kMaxNameBytes = 1024;

absl::Status Fault(const PathStep* path, const std::string& what,
                   absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const std::string pointer = PointerText(path);
  return {code, absl::StrFormat("at %s: %s", pointer.empty() ? "/" : pointer, what)};
}

// The steps from `root` to `place`, innermost first.
bool FindPlace(const Json& root, const Json& place, const PathStep* path, std::string& pointer) {
  if (&root == &place) {
    pointer = PointerText(path);
    return true;
  }
  std::size_t index = 0;
  for (const auto& item : root.items()) {
    const PathStep step{path, root.is_object() ? std::string_view(item.key()) : std::string_view(),
                        index++};
    if (item.value().is_structured() || &item.value() == &place) {
      if (FindPlace(item.value(), place, &step, pointer)) return true;
    }
  }
  return false;
}

bool IsWholeNumber(const Json& value) {
  constexpr double kMaxCount = 9007199254740992.0;  // 2^53, up to which a double counts one by one
  if (!value.is_number()) return false;
  const double number = value.get<double>();
  return number >= 0 && number <= kMaxCount &&
         number == static_cast<double>(static_cast<std::int64_t>(number));
}

bool AreDifferentStrings(const Json& value) {
  if (!value.is_array()) return false;
  std::set<std::string> seen;
  return std::all_of(value.begin(), value.end(), [&](const Json& item) {
    return item.is_string() && seen.insert(item.get<std::string>()).second;
  });
}

bool AreTypes(const Json& value) {
  static const std::set<std::string, std::less<>> kTypes = {"null",   "boolean", "object", "array",
                                                            "number", "integer", "string"};
  const auto known = [](const Json& item) {
    return item.is_string() && kTypes.contains(item.get_ref<const std::string&>());
  };
  if (!value.is_array()) return known(value);
  return !value.empty() && AreDifferentStrings(value) &&
         std::all_of(value.begin(), value.end(), known);
}

bool EachMember(const Json& value, bool (*holds)(const Json&)) {
  return value.is_object() && std::all_of(value.begin(), value.end(), holds);
}

bool IsSchema(const Json& value) { return value.is_object() || value.is_boolean(); }

bool AreSchemas(const Json& value) {
  return value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), IsSchema);
}

struct ShapeRule {
  const char* words;  // completes "must be ..."
  bool (*holds)(const Json& value);
};

// In the order of KeywordShape.
constexpr ShapeRule kShapes[] = {
    {"anything", [](const Json&) { return true; }},
    {"a string", [](const Json& value) { return value.is_string(); }},
    {"a number", [](const Json& value) { return value.is_number(); }},
    {"a number above 0",
     [](const Json& value) { return value.is_number() && value.get<double>() > 0; }},
    {"a whole number from 0", IsWholeNumber},
    {"true or false", [](const Json& value) { return value.is_boolean(); }},
    {"a type or an array of different types (null, boolean, object, array, number, integer, "
     "string)",
     AreTypes},
    {"an array with at least one value",
     [](const Json& value) { return value.is_array() && !value.empty(); }},
    {"an array of different strings", AreDifferentStrings},
    {"an object whose members are arrays of different strings",
     [](const Json& value) { return EachMember(value, AreDifferentStrings); }},
    {"a string", [](const Json& value) { return value.is_string(); }},
    {"a schema", IsSchema},
    {"an array of at least one schema", AreSchemas},
    {"a schema or an array of schemas",
     [](const Json& value) { return IsSchema(value) || AreSchemas(value); }},
    {"an object whose members are schemas",
     [](const Json& value) { return EachMember(value, IsSchema); }},
    {"an object whose members are schemas",
     [](const Json& value) { return EachMember(value, IsSchema); }},
    {"an object whose members are schemas or arrays of different strings",
     [](const Json& value) {
       return EachMember(value, [](const Json& member) {
         return IsSchema(member) || AreDifferentStrings(member);
       });
     }},
};

bool IsAnchorName(std::string_view name) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kMore = "0123456789-.:";
  return !name.empty() && kLetters.find(name.front()) != std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return kLetters.find(c) != std::string_view::npos ||
                  kMore.find(c) != std::string_view::npos;
         });
}

std::optional<Dialect> FindDialect(std::string_view uri) {
  if (uri.ends_with('#')) uri.remove_suffix(1);
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!uri.starts_with(scheme)) continue;
    uri.remove_prefix(scheme.size());
    if (uri == "json-schema.org/draft-07/schema") return Dialect::kDraft07;
    if (uri == "json-schema.org/draft/2020-12/schema") return Dialect::k2020;
  }
  return std::nullopt;
}

class Linter {
 public:
  explicit Linter(const Json& root) : root_(root) {}

  absl::StatusOr<LintedSchema> Run(RootRule root_rule);

 private:
  absl::Status Measure(const Json& value, const PathStep* path, std::size_t depth);
  absl::Status Root(RootRule root_rule);
  absl::Status Schema(const Json& schema, const PathStep* path, std::size_t depth);
  absl::Status Member(const Json& schema, const std::string& name, const Json& value,
                      const PathStep* path, std::size_t depth);
  absl::Status Special(const Json& schema, std::string_view name, const Json& value,
                       const PathStep* path);
  absl::Status Identifier(const std::string& id, const Json& schema, const PathStep* path);
  absl::Status Anchor(const std::string& name, const Json& schema, const PathStep* path);
  absl::Status AddPattern(const std::string& text, const PathStep* path);
  absl::Status Subschemas(KeywordShape shape, const Json& value, const PathStep* path,
                          std::size_t depth);
  absl::Status Unknown(const std::string& name, const PathStep* path);

  void List(const PathStep* path, const std::string& what) {
    const std::string pointer = PointerText(path);
    out_.unenforced.push_back(absl::StrFormat("`%s`: %s", pointer.empty() ? "/" : pointer, what));
  }

  const Json& root_;
  std::size_t values_ = 0;
  LintedSchema out_;
};

absl::StatusOr<LintedSchema> Linter::Run(RootRule root_rule) {
  if (absl::Status measured = Measure(root_, nullptr, 0); !measured.ok()) return measured;
  if (absl::Status root = Root(root_rule); !root.ok()) return root;
  if (absl::Status linted = Schema(root_, nullptr, 0); !linted.ok()) return linted;
  return std::move(out_);
}

absl::Status Linter::Measure(const Json& value, const PathStep* path, std::size_t depth) {
  if (++values_ > kMaxValues || depth > kMaxJsonDepth) {
    return Fault(nullptr,
                 absl::StrFormat("schema holds more than %d values or nests deeper than %d",
                                 kMaxValues, kMaxJsonDepth),
                 absl::StatusCode::kResourceExhausted);
  }
  if (!value.is_structured()) return absl::OkStatus();
  for (const auto& item : value.items()) {
    const PathStep step{path, item.key()};
    if (value.is_object() && item.key().size() > kMaxNameBytes) {
      return Fault(path, absl::StrFormat("a name is longer than %d bytes", kMaxNameBytes),
                   absl::StatusCode::kResourceExhausted);
    }
    if (absl::Status below = Measure(item.value(), &step, depth + 1); !below.ok()) return below;
  }
  return absl::OkStatus();
}

absl::Status Linter::Root(RootRule root_rule) {
  const bool tool = root_rule == RootRule::kObject;
  if (!root_.is_object() && (tool || !root_.is_boolean())) {
    return Fault(nullptr, "the schema must be an object");
  }
  if (root_.is_object() && root_.contains("$schema")) {
    const Json& uri = root_.at("$schema");
    const std::string text = uri.is_string() ? uri.get<std::string>() : "";
    const auto dialect = FindDialect(text);
    const PathStep step{nullptr, "$schema"};
    if (!dialect) {
      return Fault(&step, absl::StrFormat("dialect `%s` is not known: use draft-07 or 2020-12",
                                          ShownName(text)));
    }
    out_.dialect = *dialect;
  }
  if (tool && root_.contains("type") && root_.at("type") != "object") {
    const PathStep step{nullptr, "type"};
    return Fault(&step, "a tool's input is an object: `type` of the root must be \"object\"");
  }
  return absl::OkStatus();
}

absl::Status Linter::Schema(const Json& schema, const PathStep* path, std::size_t depth) {
  if (depth > kMaxSchemaDepth) {
    return Fault(path, absl::StrFormat("schemas nest deeper than %d", kMaxSchemaDepth),
                 absl::StatusCode::kResourceExhausted);
  }
  const auto id = static_cast<SchemaId>(out_.schemas.size());
  out_.schemas.push_back(&schema);
  out_.ids.emplace(&schema, id);
  if (schema.is_boolean()) return absl::OkStatus();
  for (const auto& item : schema.items()) {
    if (absl::Status member = Member(schema, item.key(), item.value(), path, depth); !member.ok()) {
      return member;
    }
  }
  return absl::OkStatus();
}

absl::Status Linter::Member(const Json& schema, const std::string& name, const Json& value,
                            const PathStep* path, std::size_t depth) {
  const PathStep step{path, name};
  const Keyword* keyword = FindKeyword(name);
  if (keyword == nullptr) {
    if (!IsExtension(name)) return Unknown(name, &step);
    List(path, ShownName(name));
    return absl::OkStatus();
  }
  const KeywordUse use = keyword->In(out_.dialect);
  if (use == KeywordUse::kRefused) {
    return Fault(&step, absl::StrFormat("`%s` cannot be enforced exactly under %s: %s", name,
                                        DialectName(out_.dialect), keyword->remedy));
  }
  const ShapeRule& shape = kShapes[static_cast<std::size_t>(keyword->shape)];
  if (!shape.holds(value)) {
    return Fault(&step, absl::StrFormat("`%s` must be %s", name, shape.words));
  }
  if (use == KeywordUse::kListed) List(path, name);
  if (use != KeywordUse::kEnforced) return absl::OkStatus();
  if (absl::Status special = Special(schema, name, value, &step); !special.ok()) return special;
  return Subschemas(keyword->shape, value, &step, depth + 1);
}

absl::Status Linter::Unknown(const std::string& name, const PathStep* path) {
  const std::string nearest = NearestKeyword(name, out_.dialect);
  const std::string remedy = nearest.empty()
                                 ? std::string("remove it, or name it `x-...` if it is a remark")
                                 : absl::StrFormat("did you mean `%s`?", nearest);
  return Fault(path, absl::StrFormat("unknown keyword `%s` would go unenforced: %s",
                                     ShownName(name), remedy));
}

// What a keyword asks for beyond the shape of its value.
absl::Status Linter::Special(const Json& schema, std::string_view name, const Json& value,
                             const PathStep* path) {
  const PathStep* owner = path->parent;
  if (name == "$schema" && FindDialect(value.get<std::string>()) != out_.dialect) {
    return Fault(path, "a subschema cannot change the dialect of its document");
  }
  if (name == "$id") return Identifier(value.get<std::string>(), schema, path);
  if (name == "$anchor") return Anchor(value.get<std::string>(), schema, path);
  if (name == "pattern") return AddPattern(value.get<std::string>(), path);
  if (name == "format" && FindFormat(value.get<std::string>()) == nullptr) {
    List(owner, "format: " + ShownName(value.get<std::string>()));
  }
  if (name == "items" && value.is_array() && out_.dialect == Dialect::k2020) {
    return Fault(path, "array `items` needs draft-07 or `prefixItems`");
  }
  if (name == "minContains" && value.get<double>() > 1) {
    return Fault(path, "`minContains` above 1 cannot be enforced exactly: check it in the tool");
  }
  if (name == "$ref" && out_.dialect == Dialect::kDraft07) {
    for (const auto& item : schema.items()) {
      const Keyword* beside = FindKeyword(item.key());
      if (item.key() != "$ref" && beside != nullptr && !item.key().starts_with('$') &&
          item.key() != "definitions" && beside->In(out_.dialect) == KeywordUse::kEnforced) {
        return Fault(path, absl::StrFormat("draft-07 ignores `%s` beside `$ref`: put both into "
                                           "`allOf`, or say 2020-12",
                                           item.key()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Linter::Identifier(const std::string& id, const Json& schema, const PathStep* path) {
  const bool anchor = id.starts_with('#') && id.size() > 1;
  if (anchor && out_.dialect == Dialect::kDraft07) return Anchor(id.substr(1), schema, path);
  if (&schema != &root_ || anchor) {
    return Fault(path, "`$id` below the root starts another document: use `$defs` and `$ref`");
  }
  out_.root_id = id.ends_with('#') ? id.substr(0, id.size() - 1) : id;
  return absl::OkStatus();
}

absl::Status Linter::Anchor(const std::string& name, const Json& schema, const PathStep* path) {
  if (!IsAnchorName(name)) {
    return Fault(path, "an anchor is a letter or `_`, then letters, digits, `_`, `-`, `.`, `:`");
  }
  if (!out_.anchors.emplace(name, out_.ids.at(&schema)).second) {
    return Fault(path, absl::StrFormat("anchor `%s` is given twice", ShownName(name)));
  }
  return absl::OkStatus();
}

absl::Status Linter::AddPattern(const std::string& text, const PathStep* path) {
  if (out_.patterns.contains(text)) return absl::OkStatus();
  if (out_.patterns.size() == kMaxPatterns) {
    return Fault(path, absl::StrFormat("the schema has more than %d patterns", kMaxPatterns),
                 absl::StatusCode::kResourceExhausted);
  }
  auto pattern = Pattern::Compile(text);
  if (!pattern.ok()) {
    return Fault(path, std::string(pattern.status().message()), pattern.status().code());
  }
  out_.patterns.emplace(text, *std::move(pattern));
  return absl::OkStatus();
}

absl::Status Linter::Subschemas(KeywordShape shape, const Json& value, const PathStep* path,
                                std::size_t depth) {
  const bool by_name = shape == KeywordShape::kSchemaByName ||
                       shape == KeywordShape::kSchemaByPattern ||
                       shape == KeywordShape::kSchemaOrNamesByName;
  const bool list = shape == KeywordShape::kSchemaList || shape == KeywordShape::kSchemaOrList;
  if (shape == KeywordShape::kSchema || (list && IsSchema(value))) {
    return Schema(value, path, depth);
  }
  if (!by_name && !list) return absl::OkStatus();
  std::size_t index = 0;
  for (const auto& item : value.items()) {
    const PathStep step{path, by_name ? std::string_view(item.key()) : std::string_view(), index++};
    if (shape == KeywordShape::kSchemaByPattern) {
      if (absl::Status pattern = AddPattern(item.key(), &step); !pattern.ok()) return pattern;
    }
    if (!IsSchema(item.value())) continue;
    if (absl::Status below = Schema(item.value(), &step, depth); !below.ok()) return below;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LintedSchema> LintSchema(const Json& schema, RootRule root_rule) {
  return Linter(schema).Run(root_rule);
}

absl::Status SchemaFault(const Json& root, const Json& place, const std::string& what,
                         absl::StatusCode code) {
  std::string pointer;
  FindPlace(root, place, nullptr, pointer);
  return {code, absl::StrFormat("at %s: %s", pointer.empty() ? "/" : pointer, what)};
}

}  // namespace warder::manifest
