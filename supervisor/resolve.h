// Resolve: steps 2 and 3 of a call (DESIGN section 6), from the words of a request to a prepared
// call.
#ifndef WARDER_SUPERVISOR_RESOLVE_H_
#define WARDER_SUPERVISOR_RESOLVE_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "approval/decision.h"
#include "manifest/catalog.h"
#include "manifest/config.h"
#include "manifest/policy_file.h"
#include "manifest/prepared_call.h"
#include "supervisor/outcome.h"
#include "supervisor/supervisor.h"

namespace warder::supervisor {

// The names that bindings, audit and approvers know a command line's calls by.
inline constexpr char kExecTool[] = "exec";

// The tools of `workspace` and of the operator's global manifest. Errors: those of LoadCatalog and
// ReadTrustedFile.
absl::StatusOr<manifest::Catalog> LoadTools(const manifest::Config& config,
                                            const manifest::Workspace& workspace);

// The policy named `by_name` or, when that is absent, the one that the bindings give to `query`.
// Errors: kNotFound (no such policy, no binding, an abstract policy); the rest as LoadPolicy,
// LoadBindings, SelectBinding.
absl::StatusOr<manifest::NamedPolicy> ChoosePolicy(const manifest::Config& config,
                                                   const std::optional<std::string>& by_name,
                                                   const manifest::BindingQuery& query);

// Why there is no ticket. `ending` is Refused, or CouldNotStart when the program does not exist.
struct Rejection {
  approval::Refusal refusal;
  Ending ending;
};

// Opens and checks everything that `request` names; runs nothing, asks nobody.
// Errors: a manifest, bindings or policy file that cannot be used: Warder's own fault, not the
// call's.
absl::StatusOr<std::variant<manifest::PreparedCall, Rejection>> PrepareRequest(
    const SupervisorParts& parts, const CallRequest& request);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_RESOLVE_H_
