// CgroupHost: where the launcher may make a control group for each cell, found out once when it
// starts.
//
// Sources: cgroups(7), Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/, and systemd's
// delegation rules (CGROUP_DELEGATION.md): only our own subtree is ever written to.
#ifndef WARDER_SANDBOX_CGROUP_HOST_H_
#define WARDER_SANDBOX_CGROUP_HOST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// Who keeps memory and processes of a whole cell within limits.
enum class CgroupVersion : std::uint8_t { kNone, kV1, kV2 };

// One directory below which groups for cells are made.
struct CgroupParent {
  UniqueFd fd;
  std::string path;  // for messages
};

struct CgroupHost {
  CgroupVersion version = CgroupVersion::kNone;
  // The v2 tree: cells are born inside, killed and timed there. Limits too, when `version` is kV2.
  // Without a descriptor there is none that we may write to.
  CgroupParent unified;
  CgroupParent memory, pids;  // kV1 only: the two hierarchies
  std::string missing;        // kNone: why, and what would mend it
  bool limits() const { return version != CgroupVersion::kNone; }
};

// Looks for, in this order: `configured` (an absolute path in the v2 tree), our own v2 group when
// it is delegated and nobody else is in it, its parent when that is delegated, a group `warder` at
// the top (root only); then v1, in our own groups. Removes what dead launchers left there. Call
// once, after EnterLauncher. Errors: kFailedPrecondition when `configured` cannot be used;
// everything else is an answer.
absl::StatusOr<CgroupHost> FindCgroupHost(const std::optional<std::string>& configured);

// One line of /proc/self/mountinfo that is a control group hierarchy.
struct CgroupMount {
  bool v2 = false;
  std::string controllers;  // v1: "memory" or "cpu,cpuacct", as the mount's options name them
  std::string root, point;
};
std::vector<CgroupMount> ParseCgroupMounts(std::string_view mountinfo);

// The directory of a process of which /proc/PID/cgroup says `text`, below the mount of `controller`
// ("" for v2). nullopt when it is not mounted, or outside of what is mounted.
std::optional<std::string> OwnGroupDirectory(const std::vector<CgroupMount>& mounts,
                                             std::string_view text, std::string_view controller);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CGROUP_HOST_H_
