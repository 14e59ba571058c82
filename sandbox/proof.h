// Proof: what holds for a process, read from outside through /proc.
#ifndef WARDER_SANDBOX_PROOF_H_
#define WARDER_SANDBOX_PROOF_H_

#include <sys/types.h>

#include "sandbox/attestation.h"
#include "sandbox/cgroup.h"
#include "sandbox/plan.h"

namespace warder::sandbox {

// The attestation of `pid`, a tool that waits at the barrier of a cell made from `request`, with
// the control group `group` (nullptr: none). Nothing is taken from the plan that /proc can show;
// what /proc cannot show (Landlock) rests on the step's result and says so. Source: proc(5),
// namespaces(7).
Attestation ProveTool(pid_t pid, const CellRequest& request, const CellCgroup* group);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_PROOF_H_
