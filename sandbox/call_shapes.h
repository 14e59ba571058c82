// CallShape: which arguments of a system call say what it acts on, and how they are written.
#ifndef WARDER_SANDBOX_CALL_SHAPES_H_
#define WARDER_SANDBOX_CALL_SHAPES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace warder::sandbox {

enum class PartKind : std::uint8_t {
  kNone,
  kPath,        // relative to the working directory
  kPathAt,      // relative to the descriptor in the argument before
  kText,        // any other text that ends with NUL
  kNumber,      // signed 32 bits
  kHex,         // unsigned 32 bits
  kMode,        // file mode, octal
  kCloneFlags,  // CLONE_NEW* and CLONE_PARENT by name
  kDescriptor,  // with what it is open on
  kFamily,      // AF_*
  kSocketType,  // SOCK_*, without its flags
  kRequest,     // of ioctl
  kAddress,     // a socket address, its size in the argument behind
};

struct CallPart {
  PartKind kind = PartKind::kNone;
  unsigned index = 0;
  const char* label = "";
};

struct CallShape {
  std::string_view name;
  std::array<CallPart, 4> parts;  // up to the first kNone
};

// nullptr for a call that is not in the table.
const CallShape* ShapeOf(std::string_view name);

using NamedNumber = std::pair<std::uint32_t, const char*>;
extern const std::span<const NamedNumber> kFamilies, kSocketTypes, kRequests, kCloneBits;
// The name of `value`, or the value in hexadecimal.
std::string NameOf(std::span<const NamedNumber> names, std::uint32_t value);
// The number that one of these tables has for `name`.
std::optional<std::uint32_t> NumberOf(std::string_view name);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CALL_SHAPES_H_
