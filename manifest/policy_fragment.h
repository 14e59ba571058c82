// PolicyFragment: what one policy file says by itself, before `extends` is followed.
#ifndef WARDER_MANIFEST_POLICY_FRAGMENT_H_
#define WARDER_MANIFEST_POLICY_FRAGMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/json_reader.h"
#include "manifest/policy_file.h"
#include "manifest/syscall_groups.h"
#include "sandbox/policy.h"

namespace warder::manifest {

// An absent member says nothing: the extended policy's word stands, then the default of
// sandbox::Policy.
struct PolicyFragment {
  std::string source;  // path of the file
  std::string description;
  bool abstract = false;
  std::optional<std::string> extends;

  std::vector<sandbox::PathGrant> grants;
  std::vector<sandbox::HiddenPath> hide;
  std::vector<sandbox::ProtectedPath> protect;
  std::optional<sandbox::WorkspaceMode> workspace;
  std::optional<sandbox::NetworkMode> network;
  sandbox::SyscallPolicy syscalls;
  std::vector<std::string> capabilities;
  sandbox::Limits limits;
  std::optional<sandbox::Tier> minimum_tier;
  std::optional<sandbox::OnMissing> without_cgroup, without_landlock;

  std::optional<bool> inherit_all;
  std::vector<std::string> baseline;
  std::vector<std::pair<std::string, std::string>> fixed;
  std::optional<std::vector<std::string>> readable;
  std::vector<std::string> loader_names;
  std::optional<bool> trusted_path_only;

  std::optional<std::string> approver;
  std::vector<std::string> approver_program;
  std::optional<std::uint64_t> ask_timeout_ms;
  std::optional<std::uint64_t> use_by_ms;
  std::optional<bool> session_grants;
};

// One limit: its key in a policy file and the values that make sense.
struct LimitField {
  const char* key;
  std::optional<std::uint64_t> sandbox::Limits::* member;
  std::int64_t least;
  std::int64_t most;
};
const std::vector<LimitField>& LimitFields();

// Parses the bytes of one policy file (policies/policy.schema.json).
// Errors: kInvalidArgument, kResourceExhausted "SOURCE:LINE:COLUMN: field: what".
absl::StatusOr<PolicyFragment> ParsePolicy(std::string_view bytes, const std::string& source,
                                           const SyscallGroups& groups);

// Lays `extending` over `base`: lists merge, scalars of `extending` win, limits only tighten. An
// allowed system call lifts an inherited deny without conditions; a deny without conditions
// replaces all that was inherited for the call. Errors: kInvalidArgument (a limit above the one
// that `base` sets).
absl::StatusOr<PolicyFragment> ExtendPolicy(PolicyFragment base, PolicyFragment extending);

// The values that `fragment` stands for. Name, source and digest are left to the caller.
// Errors: kInvalidArgument (system calls that contradict each other).
absl::StatusOr<NamedPolicy> FinishPolicy(PolicyFragment fragment);

// What is wrong with a path's spelling, or "" when it is normalised. `absolute` says which kind is
// expected.
std::string PathFault(const std::string& path, bool absolute);

// A required `reason` that says something.
std::string ReadReason(JsonObjectReader& reader);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_POLICY_FRAGMENT_H_
