// Host: what this machine and this process's privileges make possible, found out once when the
// launcher starts.
#ifndef WARDER_SANDBOX_HOST_H_
#define WARDER_SANDBOX_HOST_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "sandbox/policy.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

struct Host {
  Tier tier = Tier::kUserns;
  int landlock_abi = 0;
  uid_t uid = 0;  // whom the launcher runs as
  gid_t gid = 0;
  int last_capability = 40;
  bool setgroups = false;  // supplementary groups can be dropped
  bool filters = true;     // seccomp(2) is there
  // Flags of seccomp(2) that install a filter with a listener; 0 where there can be none, because
  // whoever started us listens already.
  unsigned listener_flags = 0;
};

// Gives every signal its default, and catches the two that would end a launcher that writes to
// nobody (SIGPIPE) or too much (SIGXFSZ). Whatever were ignored here would be ignored in every
// cell.
void ResetSignals();

// Makes this process a launcher: an own mount namespace without propagation and, for an ordinary
// user, an own user namespace in which it has the capabilities to build cells; session of its own,
// death with its parent, the reserved descriptors. Call once, in a single-threaded process. Errors:
// kFailedPrecondition, with the layer, the kernel's or the sysctl's word on it and the remedy.
absl::StatusOr<Host> EnterLauncher();

// A range of user ids for the tools of a privileged launcher. Nobody else may own them.
struct UidRange {
  std::uint32_t first = 1'900'000'000;
  std::uint32_t count = 4096;
};

// One id of the range, held until destroyed: an OFD write lock on the byte at its offset in
// `lock_file`, so that the kernel gives it back whatever happens to us. Errors: kResourceExhausted
// (all taken), kFailedPrecondition (lock file).
class UidLease {
 public:
  static absl::StatusOr<UidLease> Take(const std::string& lock_file, const UidRange& range);
  uid_t uid() const { return uid_; }

 private:
  UidLease(UniqueFd lock, uid_t uid) : lock_(std::move(lock)), uid_(uid) {}
  UniqueFd lock_;
  uid_t uid_;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_HOST_H_
