// The "#!" line of a script, read as the kernel reads it.
#ifndef WARDER_MANIFEST_SHEBANG_H_
#define WARDER_MANIFEST_SHEBANG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warder::manifest {

// What the kernel looks at to tell how a file is started (BINPRM_BUF_SIZE, <linux/binfmts.h>).
inline constexpr std::size_t kProgramHeadBytes = 256;

enum class ProgramKind : std::uint8_t {
  kElf,
  kScript,      // begins with "#!" and names an interpreter
  kUnstartable  // anything else, also "#!" with no interpreter or one that does not fit into the
                // head
};

struct ProgramHead {
  ProgramKind kind = ProgramKind::kUnstartable;
  std::string interpreter;              // kScript: as written
  std::optional<std::string> argument;  // kScript: the rest of the line, one word whatever it holds
};

// `head` is the beginning of the file, at most kProgramHeadBytes of it. A carriage return is an
// ordinary byte. Source: execve(2), "Interpreter scripts"; load_script in fs/binfmt_script.c,
// Linux 5.1 and later.
ProgramHead ReadProgramHead(std::string_view head);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SHEBANG_H_
