#include "sandbox/privileges.h"

#include <sys/capability.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "sandbox/remedy.h"

namespace warder::sandbox {
namespace {

absl::Status Refused(const char* call, const char* layer) {
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: %s: %s: %s", layer, call, strerror(errno), LayerRemedy(layer)));
}

}  // namespace

absl::Status DropSupervisorPrivileges() {
  const std::unique_ptr<void, int (*)(void*)> owned(cap_init(), cap_free);
  if (owned == nullptr) return absl::InternalError("capabilities: cannot allocate a set");
  auto* set = static_cast<cap_t>(owned.get());
  const std::unique_ptr<void, int (*)(void*)> now(cap_get_proc(), cap_free);
  if (now == nullptr) return absl::InternalError("capabilities: cannot read our own");
  cap_flag_value_t has = CAP_CLEAR;
  const cap_value_t kept = CAP_DAC_READ_SEARCH;
  if (cap_get_flag(static_cast<cap_t>(now.get()), kept, CAP_PERMITTED, &has) != 0) {
    return absl::InternalError("capabilities: cannot read our own");
  }
  if (has == CAP_SET) {
    if (cap_set_flag(set, CAP_PERMITTED, 1, &kept, CAP_SET) != 0 ||
        cap_set_flag(set, CAP_EFFECTIVE, 1, &kept, CAP_SET) != 0) {
      return absl::InternalError("capabilities: cannot build the set");
    }
  }
  if (cap_set_proc(set) != 0) return Refused("capset", "capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Refused("prctl", "no_new_privs");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return absl::ErrnoToStatus(errno, "dumpable: prctl");
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> CapabilityMask(const std::vector<std::string>& names) {
  std::uint64_t mask = 0;
  for (const std::string& name : names) {
    cap_value_t value = 0;
    if (cap_from_name(name.c_str(), &value) != 0 || value < 0 || value > 63) {
      return absl::InvalidArgumentError(
          absl::StrFormat("capabilities: `%s` is not a capability; see capabilities(7)", name));
    }
    mask |= std::uint64_t{1} << static_cast<unsigned>(value);
  }
  return mask;
}

int LastCapability() { return static_cast<int>(cap_max_bits()) - 1; }

}  // namespace warder::sandbox
