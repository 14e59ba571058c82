// Supervisor: one call from request to outcome (DESIGN section 6).
#ifndef WARDER_SUPERVISOR_SUPERVISOR_H_
#define WARDER_SUPERVISOR_SUPERVISOR_H_

#include <asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "approval/approver.h"
#include "approval/gate.h"
#include "manifest/catalog.h"
#include "manifest/config.h"
#include "manifest/policy_file.h"
#include "supervisor/audit_log.h"
#include "supervisor/launcher.h"
#include "supervisor/outcome.h"
#include "supervisor/watch.h"

namespace warder::supervisor {

// Request to run a declared tool, or (command not empty) an operator's own command line.
struct CallRequest {
  std::string tool;
  std::string input = "{}";
  std::vector<std::string> command;
  std::string cwd;                         // for `command`; "" means the workspace root
  std::optional<std::string> policy;       // by name; absent: the bindings decide
  std::optional<std::int64_t> timeout_ms;  // may only shorten
  bool live_stdio = false;  // `exec`: the tool has this process's own stdin, stdout and stderr
  approval::Requester requester;
};

// What a call came to, and whether its end is in the audit log. The decision and the use of the
// ticket always are, before anything runs; only a log that fails later (a disk that fills up
// meanwhile) leaves `recorded` not ok.
struct CallResult {
  Outcome outcome;
  absl::Status recorded;
};

// The parts a supervisor is made from. It owns none of them; all outlive it.
struct SupervisorParts {
  const manifest::Config* config = nullptr;
  const manifest::Workspace* workspace = nullptr;
  AuditLog* audit = nullptr;     // may be null for Preview
  Launcher* launcher = nullptr;  // may be null for Preview
  // Chooses who decides, once the call's policy is known. A null result means that nobody can be
  // asked.
  std::function<absl::StatusOr<approval::Approver*>(const manifest::NamedPolicy&)> approver;
  std::vector<std::string> environment;  // inherited, "NAME=value"
};

class Supervisor {
 public:
  explicit Supervisor(SupervisorParts parts) : parts_(std::move(parts)) {}

  // Runs one call from start to end. Everything that can become of it is an Outcome; a Status is a
  // fault of Warder's own (exit code 125): a manifest, policy or rules file that cannot be used, or
  // a launcher that is gone.
  asio::awaitable<absl::StatusOr<CallResult>> Call(CallRequest request,
                                                   std::shared_ptr<Cancellation> cancel);

  // Steps 1 to 4 only: the ticket that would be put to the approver, or why there is none. Nothing
  // runs and nobody is asked.
  absl::StatusOr<std::variant<approval::Ticket, approval::Refusal>> Preview(
      const CallRequest& request);

 private:
  // Steps 5 and 6.
  asio::awaitable<std::variant<approval::ApprovedCall, approval::Refusal>> Admit(
      approval::Approver* approver, manifest::PreparedCall call, approval::Ticket ticket,
      std::shared_ptr<Cancellation> cancel);
  // Steps 7 to 9.
  asio::awaitable<absl::StatusOr<CallResult>> Run(approval::ApprovedCall approved, bool live_stdio,
                                                  std::shared_ptr<Cancellation> cancel);
  CallResult Record(const approval::Ticket& ticket, Outcome outcome);

  SupervisorParts parts_;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_SUPERVISOR_H_
