// Expansion of ${VAR} and ${VAR:-default} in a manifest's command, cwd and env.
#ifndef WARDER_MANIFEST_EXPANSION_H_
#define WARDER_MANIFEST_EXPANSION_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace warder::manifest {

// What one expanded text may hold: the kernel takes no longer argument or variable (MAX_ARG_STRLEN,
// less its NUL).
inline constexpr std::size_t kMaxExpandedBytes = 131'071;

// The value of a variable, or nullopt when it is unset.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

// Expands `text` once; what a variable holds is not expanded again. `:-` covers unset and empty; a
// bare `$` is literal. Names of the variables that were read are appended to `names` (when given),
// in order, each once.
//
// Errors: kInvalidArgument (empty `${}`, unclosed `${`, bad name, nested `${` in a default),
//   kNotFound (unset without a default), kResourceExhausted (more than kMaxExpandedBytes). Messages
//   name the variable or the fault, never the text or a value.
absl::StatusOr<std::string> Expand(std::string_view text, const VariableLookup& lookup,
                                   std::vector<std::string>* names = nullptr);

// The faults that need no environment, for loading a manifest. Errors: kInvalidArgument as above.
absl::Status CheckExpansion(std::string_view text);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_EXPANSION_H_
