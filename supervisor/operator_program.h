// OperatorProgram: starts a program of the operator's own, outside any cell. Never a tool: tools
// are launched.
#ifndef WARDER_SUPERVISOR_OPERATOR_PROGRAM_H_
#define WARDER_SUPERVISOR_OPERATOR_PROGRAM_H_

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "supervisor/launcher.h"

namespace warder::supervisor {

// Starts `argv` (absolute program first) in a session of its own, in "/", with PATH as its only
// variable, default signals and no descriptor but `stdio`, which is closed here whatever happens.
// The kernel kills it when this process dies.
//
// KillAll kills its process group (a descendant that left the group lives on) and returns once the
// program itself has ended. Its attestation has no layers. Destroying it kills and reaps; must
// happen on the thread of `executor`. Errors: kInvalidArgument (no program, or not absolute),
// kNotFound, kPermissionDenied, kResourceExhausted, kInternal. Source: posix_spawn(3),
// pidfd_open(2), setpriv(1).
absl::StatusOr<std::unique_ptr<RunningTool>> StartOperatorProgram(
    const asio::any_io_executor& executor, const std::vector<std::string>& argv, ChildStdio stdio);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_OPERATOR_PROGRAM_H_
