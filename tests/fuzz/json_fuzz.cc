// Strict JSON: no input crashes the reader, and what it accepts reads back as the same value.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "manifest/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto value = warder::manifest::ParseStrictJson(bytes, "input");
  if (!value.ok()) return 0;
  for (const bool ascii : {false, true}) {
    const auto again =
        warder::manifest::ParseStrictJson(warder::manifest::WriteJson(*value, ascii), "written");
    if (!again.ok() || *again != *value) __builtin_trap();
  }
  return 0;
}
