// Input schemas: a pair [schema, input] never crashes or hangs the linter, the compiler or the
// check.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "manifest/input_schema.h"
#include "manifest/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto pair = warder::manifest::ParseStrictJson(bytes, "pair");
  if (!pair.ok() || !pair->is_array() || pair->size() != 2) return 0;
  const auto schema = warder::manifest::InputSchema::Compile((*pair)[0]);
  if (schema.ok()) (*schema)->Check((*pair)[1]).IgnoreError();
  return 0;
}
