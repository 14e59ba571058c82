// Plan: what init and the tool do between clone and exec or idle, computed before the clone.
#ifndef WARDER_SANDBOX_PLAN_H_
#define WARDER_SANDBOX_PLAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/cgroup_host.h"
#include "sandbox/host.h"
#include "sandbox/mounts.h"
#include "sandbox/policy.h"
#include "sandbox/step_list.h"
#include "sandbox/syscall_filter.h"

namespace warder::sandbox {

// What one cell is made from. Everything pointed to outlives the cell's making.
struct CellRequest {
  const Policy* policy = nullptr;
  const SyscallFilter* filter = nullptr;
  const Host* host = nullptr;
  const CgroupHost* cgroups = nullptr;  // nullptr: no control groups are to be used
  std::optional<WorkspaceSource> workspace;
  uid_t uid = 0;  // of the tool, in the host; never 0
  gid_t gid = 0;
};

// A file that was shown: the cell runs or reads exactly this content at `path`.
struct ProgramFile {
  std::string path;
  int fd = -1;  // borrowed. When `copied`, its content; otherwise unused
  FileIdentity identity;
  bool copied = false;
};

struct ProgramRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<ProgramFile> files;        // front: what is executed
  std::string cwd;
  FileIdentity cwd_identity;
  std::array<int, 3> stdio = {-1, -1, -1};  // borrowed
};

// The namespaces of a cell, as descriptors taken from its init.
struct CellNamespaces {
  struct Entry {
    int type = 0;           // CLONE_NEW*
    const char* file = "";  // in /proc/PID/ns
    UniqueFd fd;
  };
  std::vector<Entry> entries;  // the pid namespace first, then the user namespace: joining it gives
                               // the right to join the others
};

// Whether the tool is to be restricted by Landlock: not where there is none and the policy accepts
// it.
bool HasLandlock(const CellRequest& request);
// Whether a control group keeps the cell's memory and processes within the policy's limits.
bool HasCgroupLimits(const CellRequest& request);
// Whether the cell gets a group at all: for those limits, or to count its processor time.
bool HasCgroup(const CellRequest& request);

// Which step of building a cell failed. `error` is the step's errno, 0 when a check of ours failed
// before the clone.
struct SetupFailure {
  std::string step;  // StepName, or "plan", "clone", "id-map"
  int error = 0;
  std::string detail;  // one sentence: what, where, and the remedy where there is one
};

// The clone3 flags for the cell's init: every namespace, but the network's only when the policy
// isolates it, and those that the tool makes once it is in its group (control groups, ipc).
std::uint64_t CellCloneFlags(const Policy& policy);

// Steps of pid 1. `rules` gets what Landlock must allow for the view that was built, `absent` the
// protected names that are not there. Errors: those of AddMountSteps.
absl::Status PlanInit(const CellRequest& request, StepList& steps, std::vector<PathRule>& rules,
                      std::vector<std::string>& absent);

// Steps of the tool, up to and with exec. kReport is the barrier: fully confined, not yet started;
// kReadGo follows. Errors: kInvalidArgument (policy does not let the tool read, write, execute or
// exit; unknown capability), kFailedPrecondition.
absl::Status PlanTool(const CellRequest& request, const ProgramRequest& program,
                      const CellNamespaces& namespaces, const std::vector<PathRule>& rules,
                      StepList& steps);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_PLAN_H_
