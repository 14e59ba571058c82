#include "manifest/schema_keywords.h"

#include <algorithm>
#include <array>
#include <vector>

#include "manifest/json_reader.h"

namespace warder::manifest {
namespace {

using enum KeywordShape;
using enum KeywordUse;

// Sources: draft-07 (core, validation), 2020-12 (core, applicator, validation), and for the vendor
// words at the end OpenAPI 3.0, VS Code and the generators that write them.
constexpr auto kKeywords = std::to_array<Keyword>({
    {"$schema", kString, kEnforced, kEnforced, ""},
    {"$id", kString, kEnforced, kEnforced, ""},
    {"$ref", kString, kEnforced, kEnforced, ""},
    {"$defs", kSchemaByName, kEnforced, kEnforced, ""},
    {"definitions", kSchemaByName, kEnforced, kEnforced, ""},
    {"$anchor", kString, kRefused, kEnforced, "write `\"$id\": \"#name\"`"},
    {"$dynamicAnchor", kString, kRefused, kRefused, "write `$anchor`"},
    {"$dynamicRef", kString, kRefused, kRefused, "write `$ref`"},
    {"$recursiveAnchor", kAnything, kRefused, kRefused, "leave it out"},
    {"$recursiveRef", kAnything, kRefused, kRefused, "write `$ref`"},
    {"$vocabulary", kAnything, kRefused, kRefused, "leave it out"},

    {"type", kTypes, kEnforced, kEnforced, ""},
    {"enum", kValues, kEnforced, kEnforced, ""},
    {"const", kAnything, kEnforced, kEnforced, ""},
    {"multipleOf", kPositiveNumber, kEnforced, kEnforced, ""},
    {"minimum", kNumber, kEnforced, kEnforced, ""},
    {"maximum", kNumber, kEnforced, kEnforced, ""},
    {"exclusiveMinimum", kNumber, kEnforced, kEnforced, ""},
    {"exclusiveMaximum", kNumber, kEnforced, kEnforced, ""},
    {"minLength", kCount, kEnforced, kEnforced, ""},
    {"maxLength", kCount, kEnforced, kEnforced, ""},
    {"pattern", kPattern, kEnforced, kEnforced, ""},
    {"format", kString, kEnforced, kEnforced, ""},

    {"items", kSchemaOrList, kEnforced, kEnforced, ""},
    {"additionalItems", kSchema, kEnforced, kRefused, "write `items` beside `prefixItems`"},
    {"prefixItems", kSchemaList, kRefused, kEnforced, "write array `items`, or say 2020-12"},
    {"contains", kSchema, kEnforced, kEnforced, ""},
    {"minContains", kCount, kRefused, kEnforced, "leave it out, or say 2020-12"},
    {"maxContains", kCount, kRefused, kRefused, "check the number of matches in the tool"},
    {"minItems", kCount, kEnforced, kEnforced, ""},
    {"maxItems", kCount, kEnforced, kEnforced, ""},
    {"uniqueItems", kBoolean, kEnforced, kEnforced, ""},
    {"unevaluatedItems", kSchema, kRefused, kRefused, "write `items`: false"},

    {"properties", kSchemaByName, kEnforced, kEnforced, ""},
    {"patternProperties", kSchemaByPattern, kEnforced, kEnforced, ""},
    {"additionalProperties", kSchema, kEnforced, kEnforced, ""},
    {"propertyNames", kSchema, kEnforced, kEnforced, ""},
    {"required", kNames, kEnforced, kEnforced, ""},
    {"minProperties", kCount, kEnforced, kEnforced, ""},
    {"maxProperties", kCount, kEnforced, kEnforced, ""},
    {"dependencies", kSchemaOrNamesByName, kEnforced, kRefused,
     "write `dependentRequired` or `dependentSchemas`"},
    {"dependentRequired", kNamesByName, kRefused, kEnforced,
     "write `dependencies`, or say 2020-12"},
    {"dependentSchemas", kSchemaByName, kRefused, kEnforced,
     "write `dependencies`, or say 2020-12"},
    {"unevaluatedProperties", kSchema, kRefused, kRefused, "write `additionalProperties`"},

    {"allOf", kSchemaList, kEnforced, kEnforced, ""},
    {"anyOf", kSchemaList, kEnforced, kEnforced, ""},
    {"oneOf", kSchemaList, kEnforced, kEnforced, ""},
    {"not", kSchema, kEnforced, kEnforced, ""},
    {"if", kSchema, kEnforced, kEnforced, ""},
    {"then", kSchema, kEnforced, kEnforced, ""},
    {"else", kSchema, kEnforced, kEnforced, ""},

    {"title", kString, kSilent, kSilent, ""},
    {"description", kString, kSilent, kSilent, ""},
    {"$comment", kString, kSilent, kSilent, ""},
    {"default", kAnything, kSilent, kSilent, ""},
    {"examples", kAnything, kSilent, kSilent, ""},
    {"deprecated", kBoolean, kSilent, kSilent, ""},
    {"readOnly", kBoolean, kListed, kListed, ""},
    {"writeOnly", kBoolean, kListed, kListed, ""},
    {"contentEncoding", kString, kListed, kListed, ""},
    {"contentMediaType", kString, kListed, kListed, ""},
    {"contentSchema", kAnything, kListed, kListed, ""},

    {"nullable", kAnything, kListed, kListed, ""},
    {"discriminator", kAnything, kListed, kListed, ""},
    {"example", kAnything, kListed, kListed, ""},
    {"externalDocs", kAnything, kListed, kListed, ""},
    {"xml", kAnything, kListed, kListed, ""},
    {"enumNames", kAnything, kListed, kListed, ""},
    {"enumDescriptions", kAnything, kListed, kListed, ""},
    {"markdownDescription", kAnything, kListed, kListed, ""},
    {"markdownEnumDescriptions", kAnything, kListed, kListed, ""},
    {"deprecationMessage", kAnything, kListed, kListed, ""},
    {"errorMessage", kAnything, kListed, kListed, ""},
    {"defaultSnippets", kAnything, kListed, kListed, ""},
    {"propertyOrder", kAnything, kListed, kListed, ""},
    {"propertyOrdering", kAnything, kListed, kListed, ""},
    {"tsType", kAnything, kListed, kListed, ""},
});

}  // namespace

const char* DialectName(Dialect dialect) {
  return dialect == Dialect::k2020 ? "2020-12" : "draft-07";
}

const Keyword* FindKeyword(std::string_view name) {
  const auto* const found = std::find_if(kKeywords.begin(), kKeywords.end(),
                                         [&](const Keyword& word) { return word.name == name; });
  return found == kKeywords.end() ? nullptr : found;
}

bool IsExtension(std::string_view name) { return name.starts_with("x-"); }

std::string NearestKeyword(std::string_view name, Dialect dialect) {
  // A longer word is no misspelling, and comparing it would cost the square of its length.
  constexpr std::size_t kLongestGuess = 32;
  if (name.size() > kLongestGuess) return "";
  std::vector<std::string> known;
  for (const Keyword& word : kKeywords) {
    if (word.In(dialect) == kEnforced) known.emplace_back(word.name);
  }
  return NearestWord(name, known);
}

}  // namespace warder::manifest
