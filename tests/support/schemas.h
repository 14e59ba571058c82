// Schemas and inputs as text, for the tests of JSON Schema.
#ifndef WARDER_TESTS_SUPPORT_SCHEMAS_H_
#define WARDER_TESTS_SUPPORT_SCHEMAS_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/input_schema.h"
#include "manifest/json.h"

namespace warder::testing {

inline manifest::Json Parsed(std::string_view text) {
  auto json = manifest::ParseStrictJson(text, "test");
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *json : manifest::Json();
}

// What Compile says against `schema`; "" when it is taken.
inline std::string LoadFault(std::string_view schema,
                             manifest::RootRule root = manifest::RootRule::kObject) {
  return std::string(manifest::InputSchema::Compile(Parsed(schema), root).status().message());
}

// What Check says against `input`; "" when it is accepted.
inline std::string InputFault(std::string_view schema, std::string_view input) {
  const auto compiled = manifest::InputSchema::Compile(Parsed(schema), manifest::RootRule::kAny);
  if (!compiled.ok()) return "schema refused: " + std::string(compiled.status().message());
  return std::string((*compiled)->Check(Parsed(input)).message());
}

// `text` repeated.
inline std::string Repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_SCHEMAS_H_
