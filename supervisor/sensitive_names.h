// SensitiveNames: files that run something without being asked for by name: when somebody enters,
// opens or commits what is around them.
#ifndef WARDER_SUPERVISOR_SENSITIVE_NAMES_H_
#define WARDER_SUPERVISOR_SENSITIVE_NAMES_H_

#include <string_view>

namespace warder::supervisor {

struct SensitiveName {
  // The last components of a path. `*` at the beginning of a component stands for any text; `**`
  // as the last component stands for everything below.
  std::string_view pattern;
  std::string_view kind;
  std::string_view contains = {};  // when set, only a file with this text in it counts
};

// The first name of the table that `path` (relative, no "..") ends with; null when there is none.
// ASCII letters match in either case: a file system may fold them.
const SensitiveName* FindSensitiveName(std::string_view path);

// True for a directory that is part of a pattern: what is moved there becomes sensitive.
bool IsSensitiveDirectory(std::string_view name);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_SENSITIVE_NAMES_H_
