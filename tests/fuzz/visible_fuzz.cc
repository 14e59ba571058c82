// Visible: whatever the bytes, no control byte reaches a terminal.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "approval/preview.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string visible = warder::approval::Visible(bytes);
  const bool clean = std::all_of(visible.begin(), visible.end(), [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value >= 0x20 && value != 0x7f;
  });
  if (!clean) __builtin_trap();
  return 0;
}
