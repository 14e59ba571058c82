// Rules files: no input crashes the parser, and every accepted rule has the name that its trace
// will show.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "approval/rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto rules = warder::approval::RuleSet::Parse(bytes, "rules.json");
  if (!rules.ok()) return 0;
  for (const auto& rule : rules->rules()) {
    if (rule.name.empty()) __builtin_trap();
  }
  return 0;
}
