// Capabilities of Warder's own processes. privileges.cc is the only file that includes
// <sys/capability.h>.
#ifndef WARDER_SANDBOX_PRIVILEGES_H_
#define WARDER_SANDBOX_PRIVILEGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace warder::sandbox {

// Gives up every capability but CAP_DAC_READ_SEARCH (root must be able to read another user's
// workspace; nothing else is left to it), sets no_new_privs and makes the process non-dumpable. For
// the supervisor, once the launcher runs. Errors: kInternal (capset or prctl failed): do not go on.
absl::Status DropSupervisorPrivileges();

// Capability names ("cap_net_bind_service") as a bit mask. Errors: kInvalidArgument (unknown name).
absl::StatusOr<std::uint64_t> CapabilityMask(const std::vector<std::string>& names);

// The highest capability that this kernel knows.
int LastCapability();

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_PRIVILEGES_H_
