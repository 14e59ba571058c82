#include "manifest/shebang.h"

#include <algorithm>

namespace warder::manifest {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kTerminators("\0 \t", 3);
constexpr std::string_view kLineEnds("\0\n", 2);

// Where the line ends in `buffer` (a head padded with NULs), blanks at its end left out. nullopt
// when there is no line end and the interpreter's path may be cut off; an argument may be.
std::optional<std::size_t> LineEnd(std::string_view buffer) {
  std::size_t end = buffer.find_first_of(kLineEnds);
  if (buffer[end == std::string_view::npos ? 0 : end] != '\n') {
    end = buffer.size() - 1;
    const std::size_t name = buffer.find_first_not_of(kBlanks, 2);
    if (name == std::string_view::npos) return std::nullopt;
    if (buffer.find_first_of(kTerminators, name) == std::string_view::npos) return std::nullopt;
  }
  while (kBlanks.find(buffer[end - 1]) != std::string_view::npos) --end;
  return end;
}

}  // namespace

ProgramHead ReadProgramHead(std::string_view head) {
  ProgramHead result;
  head = head.substr(0, kProgramHeadBytes);
  if (head.starts_with("\x7f"
                       "ELF")) {
    result.kind = ProgramKind::kElf;
    return result;
  }
  if (!head.starts_with("#!")) return result;

  std::string buffer(head);
  buffer.resize(kProgramHeadBytes, '\0');
  const std::optional<std::size_t> end = LineEnd(buffer);
  if (!end) return result;
  const std::size_t name = buffer.find_first_not_of(kBlanks, 2);
  if (name >= *end || buffer[name] == '\0') return result;
  result.kind = ProgramKind::kScript;
  // The byte at `end` itself still counts here, as it does for the kernel.
  const std::size_t separator = buffer.find_first_of(kTerminators, name);
  result.interpreter = buffer.substr(name, std::min(separator, *end) - name);
  if (separator > *end || buffer[separator] == '\0') return result;

  const std::size_t argument = buffer.find_first_not_of(kBlanks, separator);
  if (argument > *end) return result;
  // c_str(): the kernel copies it up to the first NUL.
  result.argument = buffer.substr(argument, *end - argument).c_str();
  return result;
}

}  // namespace warder::manifest
