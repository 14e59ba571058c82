// Policy files and bindings: the operator's bytes to values.
#ifndef WARDER_MANIFEST_POLICY_FILE_H_
#define WARDER_MANIFEST_POLICY_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/config.h"
#include "manifest/tool_spec.h"
#include "sandbox/policy.h"

namespace warder::manifest {

// Which variables of the supervisor's environment reach a tool, and what a manifest may do with
// variables.
struct EnvironmentPolicy {
  bool inherit_all = false;           // policy `trusted`
  std::vector<std::string> baseline;  // names; a trailing '*' matches a prefix ("LC_*")
  // The operator's fixed command environment, name and value.
  std::vector<std::pair<std::string, std::string>> fixed;
  // Names that `${VAR}` may read, patterns as in `baseline`; absent: any.
  std::optional<std::vector<std::string>> readable;
  // Names like LD_PRELOAD that a manifest may set all the same.
  std::vector<std::string> loader_names;
  // A bare program name is looked up in root-owned directories only.
  bool trusted_path_only = false;
};

struct ApprovalPolicy {
  std::string approver = "ask";      // "ask", "allow-all", "deny-all", "rules" or "program"
  std::vector<std::string> program;  // argv of the approver program, absolute path first
  std::uint64_t ask_timeout_ms = 300'000;
  std::uint64_t use_by_ms = 60'000;  // from the decision to the start
  bool session_grants = false;
};

// One policy after `extends` was followed.
struct NamedPolicy {
  std::string name;
  std::string description;
  bool abstract = false;  // only there to be extended
  std::string source;     // path of its file
  Sha256 digest{};        // over the bytes of its file and of all that it extends
  sandbox::Policy confinement;
  EnvironmentPolicy environment;
  ApprovalPolicy approval;
};

// Loads policy `name` from `config`: an operator's file `policies/NAME.json`, else the shipped one.
// `extends` is followed (depth 8): lists merge, scalars of the extending file win, limits only
// tighten. An operator's file may extend the shipped policy of its own name.
//
// Errors: kNotFound (with the names there are), kInvalidArgument "FILE:LINE:COLUMN: field: what",
//   kPermissionDenied (file not trusted: says owner or mode).
absl::StatusOr<NamedPolicy> LoadPolicy(const Config& config, std::string_view name);

// The names that LoadPolicy finds, sorted, abstract ones left out.
absl::StatusOr<std::vector<std::string>> ListPolicies(const Config& config);

// One row of bindings.json. An absent field matches anything.
struct Binding {
  std::optional<std::string> tool;
  std::optional<std::string> workspace;  // absolute path; a trailing "/**" covers what lies below
  std::optional<std::string> caller;     // "cli", later principals of the daemon
  std::optional<SideEffect> side_effect;
  std::string policy;
  std::string reason;
};

struct BindingQuery {
  std::string tool;
  std::string workspace;
  std::string caller;
  SideEffect side_effect = SideEffect::kProcess;
};

// Operator's `bindings.json` if there is one, else the shipped one.
absl::StatusOr<std::vector<Binding>> LoadBindings(const Config& config);

// The most specific match (most fields named; tool, then workspace, then caller, then side_effect
// breaks ties; the longer workspace wins). Errors: kNotFound when none matches, kInvalidArgument
// when two equally specific ones name different policies.
absl::StatusOr<Binding> SelectBinding(const std::vector<Binding>& bindings,
                                      const BindingQuery& query);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_POLICY_FILE_H_
