// System call groups, and the `syscalls` section of a policy file: names and conditions to flat
// rules.
#ifndef WARDER_MANIFEST_SYSCALL_GROUPS_H_
#define WARDER_MANIFEST_SYSCALL_GROUPS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/json_reader.h"
#include "sandbox/policy.h"

namespace warder::manifest {

struct SyscallGroup {
  std::string reason;
  bool boundary = false;  // part of the cell's wall: `warder policy suggest` never proposes it
  std::vector<std::string> calls;
};
using SyscallGroups = std::map<std::string, SyscallGroup, std::less<>>;

// Parses policies/syscall_groups.json. A call stands in one group only.
// Errors: kInvalidArgument, kResourceExhausted "SOURCE:LINE:COLUMN: field: what".
absl::StatusOr<SyscallGroups> ParseSyscallGroups(std::string_view bytes, const std::string& source);

// Reads one `syscalls` object. Faults are recorded in `reader`.
//
//   "groups": [{"effect": "allow"|"deny", "groups": [...], "error"?, "action"?, "reason"}]
//   "allow":  [{"calls": [...], "when"?: [...], "reason"}]
//   "deny":   [{"calls": [...], "when"?: [...], "error"?, "action"?, "reason"}]
//   "when":   [{"arg": 0, "mask": N, "values": [N, ...]}, {"arg": 0, "any_bit": N}]
//
// All conditions must hold; several values, or several bits of `any_bit`, are alternatives, and
// each becomes a rule of its own. N is a whole number or a hexadecimal string ("0x7e020000").
void ReadSyscalls(JsonObjectReader& reader, const SyscallGroups& groups,
                  sandbox::SyscallPolicy& policy);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SYSCALL_GROUPS_H_
