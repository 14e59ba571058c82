// Environment: the layers of a tool's environment, and the one list of names that make programs
// load code.
#ifndef WARDER_MANIFEST_ENVIRONMENT_H_
#define WARDER_MANIFEST_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/policy_file.h"
#include "manifest/prepared_call.h"

namespace warder::manifest {

// The names that change what a program loads or starts; a trailing '*' stands for any rest. Sorted
// within each kind of program. A manifest may set one only with the policy's leave
// (environment.loader_names).
std::span<const std::string_view> LoaderNames();

// Compared without regard to case, because npm reads its own names so.
bool ChangesLoading(std::string_view name);

// `pattern` is a name, or the beginning of one and '*'.
bool NameMatches(std::string_view pattern, std::string_view name);

using VariableMap = std::map<std::string, std::string, std::less<>>;

// "NAME=value" entries as a process gets them. The first of two equal names counts, as for
// getenv(3); an entry without a name or a '=' is no variable and is left out.
VariableMap ReadInherited(const std::vector<std::string>& entries);

// Expands one manifest entry's texts and keeps the names that it read. Borrows its arguments.
class VariableReader {
 public:
  VariableReader(const VariableMap& inherited, const NamedPolicy& policy);

  // `field` is where `text` stands, for messages.
  // Errors: kInvalidArgument for all faults of manifest::Expand, an unset variable among them, and
  //   when the result holds a NUL; kPermissionDenied for a variable that environment.readable
  //   leaves out, also when the text has a default for it.
  absl::StatusOr<std::string> Expand(std::string_view text, std::string_view field);

  // In the order in which they were first read.
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool Readable(std::string_view name) const;

  const VariableMap& inherited_;
  const NamedPolicy& policy_;
  std::vector<std::string> names_;
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// The tool's environment, sorted by name. Weakest first: what the policy lets through of
// `inherited`, `cell` (the names that a cell sets itself), the policy's environment.fixed,
// `from_manifest` (already expanded).
//
// Errors: kInvalidArgument (a name that is empty, holds '=' or NUL, or stands in one layer twice; a
//   value with NUL), kPermissionDenied (a loader name from the manifest without the policy's
//   leave). Never with a value.
absl::StatusOr<std::vector<Variable>> LayerEnvironment(const NamedPolicy& policy,
                                                       const VariableMap& inherited,
                                                       const NamedValues& cell,
                                                       const NamedValues& from_manifest);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_ENVIRONMENT_H_
