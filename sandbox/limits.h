// Limits of a policy as kernel resource limits.
#ifndef WARDER_SANDBOX_LIMITS_H_
#define WARDER_SANDBOX_LIMITS_H_

#include <sys/resource.h>

#include <cstdint>
#include <vector>

#include "sandbox/policy.h"

namespace warder::sandbox {

struct ResourceLimit {
  int resource = 0;       // RLIMIT_*
  const char* name = "";  // as /proc/PID/limits spells it
  rlimit64 value = {};
  bool lowered = false;  // by the launcher's own hard limit, below what the policy says
};

// The limits that a tool gets: those of the policy, plus no core files, little locked memory and no
// priority above others; each at most the hard limit of this process, which only root may raise.
// With `cgroup` a control group bounds memory and processes: no limit of each process on memory
// then, and one on processes that the group's comes before. The same list is set by the plan and
// read back by the proof.
std::vector<ResourceLimit> ResourceLimits(const Limits& limits, bool cgroup);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_LIMITS_H_
