// Launcher: the supervisor's side of the launcher process, which alone builds cells.
#ifndef WARDER_SUPERVISOR_LAUNCHER_H_
#define WARDER_SUPERVISOR_LAUNCHER_H_

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "approval/gate.h"
#include "manifest/config.h"
#include "sandbox/attestation.h"
#include "sandbox/denial.h"
#include "sandbox/quarantine.h"
#include "sandbox/unique_fd.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {

// The child's ends of its standard streams. Given away by Launch.
struct ChildStdio {
  sandbox::UniqueFd in, out, err;
};

// The limit of the cell that ended the tool, or made it fail, by the kernel's own counters.
enum class LimitHit : std::uint8_t { kNone, kMemory, kCpu, kProcesses };

struct ToolExit {
  bool signaled = false;
  int status = 0;  // exit code or signal
  Usage usage;
  LimitHit limit = LimitHit::kNone;
};

// What is known of a cell once nothing runs in it.
struct CallEnd {
  sandbox::DenialReport denials;  // what the kernel refused to the tool and its descendants
  std::vector<sandbox::Quarantined> quarantined;  // protected names that the tool made
};

// A tool that was started. Destroying it kills the cell.
class RunningTool {
 public:
  virtual ~RunningTool() = default;
  virtual const sandbox::Attestation& attestation() const = 0;
  // The tool itself ended; descendants may live. From the kernel's wait status, not from inside the
  // cell.
  virtual asio::awaitable<absl::StatusOr<ToolExit>> Exited() = 0;
  // Kills everything in the cell and returns when its pid namespace is empty.
  virtual asio::awaitable<absl::Status> KillAll() = 0;
  // Complete once KillAll has returned.
  virtual const CallEnd& end() const = 0;
};

// The program did not start: a step failed, or a required layer could not be proven.
struct LaunchFailure {
  bool refused = false;  // true: nothing was wrong with the program; see `refusal`
  // kSandboxUnavailable (a required layer is missing), kChanged (a file is not what was shown),
  // kNoPolicy.
  approval::RefusalCode refusal = approval::RefusalCode::kSandboxUnavailable;
  CouldNotStart could_not_start;
  sandbox::Attestation attestation;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Starts the program of `call`, which is consumed. Errors: kUnavailable (the launcher process is
  // gone), kInternal.
  virtual asio::awaitable<absl::StatusOr<std::variant<std::unique_ptr<RunningTool>, LaunchFailure>>>
  Launch(approval::ApprovedCall call, ChildStdio stdio) = 0;
  // What this host can do for each layer, probed by doing: the body of `warder doctor`.
  virtual asio::awaitable<absl::StatusOr<std::vector<sandbox::Layer>>> Probe() = 0;
};

// Re-executes this binary as the launcher process and connects to it. Call once, before the
// supervisor gives up its privileges. Errors: kUnavailable with the remedy (no user namespaces and
// not root, ...). The launcher loads policies from `config` itself: a supervisor can name a policy,
// never bring one.
absl::StatusOr<std::unique_ptr<Launcher>> StartLauncher(const asio::any_io_executor& executor,
                                                        const manifest::Config& config);

// The launcher process's main function: `warder` started with argv[0] "warder-launcher". Descriptor
// 3 is the socket.
int LauncherMain();

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_LAUNCHER_H_
