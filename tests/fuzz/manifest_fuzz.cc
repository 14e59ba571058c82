// Manifests: no input crashes the parser or the schema compiler, and every accepted tool has a name
// and a program.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "manifest/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tools = warder::manifest::ParseManifest(bytes, "tools.json");
  if (!tools.ok()) return 0;
  for (const auto& tool : *tools) {
    if (tool.name.empty() || tool.command.empty() || tool.input_schema == nullptr) __builtin_trap();
  }
  return 0;
}
