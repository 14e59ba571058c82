// Embedded: a supervisor and a launcher for the life of one command, without a daemon.
#ifndef WARDER_SUPERVISOR_EMBEDDED_H_
#define WARDER_SUPERVISOR_EMBEDDED_H_

#include <asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "approval/approver.h"
#include "approval/ticket.h"
#include "sandbox/attestation.h"
#include "supervisor/audit_log.h"
#include "supervisor/choose_approver.h"
#include "supervisor/commands.h"
#include "supervisor/launcher.h"
#include "supervisor/supervisor.h"

namespace warder::supervisor {

// This process as the one that asks. `via` is "cli call" or "cli exec". Errors: kInternal (/proc is
// not there).
absl::StatusOr<approval::Requester> ThisRequester(const std::string& via);

// This process's environment, "NAME=value".
std::vector<std::string> ThisEnvironment();

class Embedded {
 public:
  // Starts the launcher, gives this process's privileges up, and only then opens workspace and
  // audit log. Errors: those of StartLauncher, DropSupervisorPrivileges, OpenWorkspace and
  // AuditLog::Open.
  static absl::StatusOr<std::unique_ptr<Embedded>> Start(const Options& options);

  // Runs one call to its end. SIGINT, SIGTERM and SIGHUP end it early, unless they were ignored
  // when this process started.
  absl::StatusOr<CallResult> Call(CallRequest request);
  // What this host can do for each layer.
  absl::StatusOr<std::vector<sandbox::Layer>> Probe();

  const Places& places() const { return places_; }
  // The first signal that ended a call early; 0 when there was none.
  int signal() const { return signal_; }
  // Decides the calls that follow, whatever flag and policy say. For calls that Warder makes up
  // itself.
  void DecideBy(std::unique_ptr<approval::Approver> approver) { fixed_ = std::move(approver); }

 private:
  Embedded() = default;
  absl::StatusOr<approval::Approver*> Approver(const manifest::NamedPolicy& policy);

  // First, so that it is destroyed last: everything below may have work waiting in it.
  asio::io_context io_{1};
  std::unique_ptr<Launcher> launcher_;
  Places places_;
  std::unique_ptr<AuditLog> audit_;  // null: every call is refused, with `no_audit_` as the reason
  absl::Status no_audit_;
  std::optional<ApproveFlag> approve_;
  std::unique_ptr<approval::Approver> fixed_, chosen_;
  int signal_ = 0;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_EMBEDDED_H_
