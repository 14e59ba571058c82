// Mounts: a policy's file view as steps. Opens what will be mounted; the steps mount it, in the
// cell.
#ifndef WARDER_SANDBOX_MOUNTS_H_
#define WARDER_SANDBOX_MOUNTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sandbox/landlock.h"
#include "sandbox/policy.h"
#include "sandbox/step_list.h"
#include "sandbox/trees.h"

namespace warder::sandbox {

inline constexpr char kCellHome[] = "/home/tool";
inline constexpr char kCellUser[] = "tool";
// Where the copies of pinned files are staged; a private tmpfs for as long as it takes to place
// them.
inline constexpr char kPinDirectory[] = "/run/pinned";
// The message queues of the cell's IPC namespace, which the tool makes and mounts (mq_overview(7)).
inline constexpr char kQueueDirectory[] = "/dev/mqueue";
// Files and directories of one private tmpfs unless the policy says otherwise, so that empty files
// cannot eat the kernel's memory.
inline constexpr std::uint64_t kTmpfsInodes = 65536;

// The workspace as it was shown: mounted only if the path still leads to this directory.
struct WorkspaceSource {
  std::string path;  // real path
  std::uint64_t device = 0, inode = 0;
};

struct MountRequest {
  const Policy* policy = nullptr;
  std::optional<WorkspaceSource> workspace;
  uid_t uid = 0;  // of the tool, in the host
  gid_t gid = 0;
  bool id_map = false;  // root tier: the workspace's owner appears as uid
};

struct PathRule {
  std::string path;
  LandlockAccess access = LandlockAccess::kRead;
  bool directory = true;
};

// Appends the steps that assemble the root, enter it and make it read-only. They need the
// capabilities of the cell's own user namespace. Appends to `rules` what Landlock must allow for
// the same view, and to `absent` the protected names that are not there. Errors: kNotFound (a path
// that is not optional), kFailedPrecondition (workspace changed; kind of file that a cell never
// gets; mount).
absl::Status AddMountSteps(const MountRequest& request, StepList& steps,
                           std::vector<PathRule>& rules, std::vector<std::string>& absent);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_MOUNTS_H_
