// The subprocess approver: an operator's program that decides tickets.
#ifndef WARDER_SUPERVISOR_APPROVER_PROGRAM_H_
#define WARDER_SUPERVISOR_APPROVER_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "approval/approver.h"

namespace warder::supervisor {

// Starts `argv` (absolute program first) for each ticket, in a process group of its own,
// environment PATH only, no descriptors but its three. It gets the ask as one JSON object on stdin
// ({"ticket","digest","deadline_ms","preview"}), then end of file, and must print exactly one JSON
// object {"ticket","digest","decision","reason"?} and exit 0 before the deadline; anything else is
// a failure, which denies.
std::unique_ptr<approval::Approver> MakeProgramApprover(std::vector<std::string> argv);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_APPROVER_PROGRAM_H_
