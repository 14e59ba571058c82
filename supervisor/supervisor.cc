#include "supervisor/supervisor.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <exception>
#include <utility>

#include "absl/strings/str_format.h"
#include "supervisor/denials.h"
#include "supervisor/resolve.h"

namespace warder::supervisor {
namespace {

using approval::ApprovedCall;
using approval::Refusal;
using approval::RefusalCode;
using approval::Ticket;
using Admission = std::variant<ApprovedCall, Refusal>;

Outcome NewOutcome(const Ticket& ticket, Ending ending) {
  Outcome outcome;
  outcome.tool = ticket.tool;
  outcome.ending = std::move(ending);
  outcome.ticket_digest = approval::TicketDigestHex(ticket);
  return outcome;
}

asio::awaitable<void> WaitForCancel(std::shared_ptr<Cancellation> cancel) {
  asio::error_code ignored;  // the wait ends by being cancelled, which is what it is for
  if (!cancel->cancelled()) {
    co_await cancel->timer().async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

// Keeps what the gate said even when the race was won by a cancel in the same turn of the loop: a
// used ticket must not be forgotten. An exception leaves `admission` empty: letting it out would
// leave the race waiting for a cancel.
asio::awaitable<void> AdmitInto(approval::ApprovalGate* gate, manifest::PreparedCall call,
                                Ticket ticket, std::optional<Admission>* admission) {
  try {
    admission->emplace(co_await gate->Admit(std::move(call), std::move(ticket)));
  } catch (const std::exception&) {
    admission->reset();
  }
}

// This process's own standard streams, for a tool that runs live. A closed one becomes /dev/null.
absl::StatusOr<CapturePipes> LiveStreams() {
  CapturePipes streams;
  const std::array<sandbox::UniqueFd*, 3> ends{&streams.child.in, &streams.child.out,
                                               &streams.child.err};
  for (int fd = 0; fd < 3; ++fd) {
    int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0 && errno == EBADF) copy = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (copy < 0) return absl::ErrnoToStatus(errno, "cannot pass the standard streams on");
    ends[static_cast<std::size_t>(fd)]->Reset(copy);
  }
  return streams;
}

void TakeWatched(Watched watched, Outcome* outcome) {
  outcome->ending = std::move(watched.ending);
  outcome->out = std::move(watched.out);
  outcome->err = std::move(watched.err);
  outcome->duration_ms = watched.duration_ms;
  outcome->usage = watched.usage;
  outcome->denials = std::move(watched.denials);
}

// After a call in a workspace that it could write. One directory a turn: other calls go on.
asio::awaitable<SensitiveChanges> LookAtWorkspace(SensitiveScan scan, const RunningTool& tool) {
  while (scan.Step()) co_await asio::post(asio::use_awaitable);
  co_return scan.Take(tool.end().quarantined);
}

Ending EndingOf(LaunchFailure failure) {
  if (!failure.refused) return std::move(failure.could_not_start);
  return Refusal{failure.refusal, std::move(failure.could_not_start.detail)};
}

}  // namespace

absl::StatusOr<std::variant<Ticket, Refusal>> Supervisor::Preview(const CallRequest& request) {
  auto prepared = PrepareRequest(parts_, request);
  if (!prepared.ok()) return prepared.status();
  if (auto* rejection = std::get_if<Rejection>(&*prepared)) return std::move(rejection->refusal);
  return approval::MakeTicket(std::get<manifest::PreparedCall>(*prepared), request.requester,
                              approval::BoottimeMs());
}

asio::awaitable<absl::StatusOr<CallResult>> Supervisor::Call(CallRequest request,
                                                             std::shared_ptr<Cancellation> cancel) {
  auto prepared = PrepareRequest(parts_, request);
  if (!prepared.ok()) co_return prepared.status();
  if (auto* rejection = std::get_if<Rejection>(&*prepared)) {
    CallResult result;
    result.outcome.tool = request.command.empty() ? request.tool : kExecTool;
    result.outcome.ending = std::move(rejection->ending);
    const auto sequence = parts_.audit->RecordRejected(result.outcome.tool, parts_.workspace->path,
                                                       rejection->refusal);
    result.recorded = sequence.status();
    result.outcome.audit_sequence = sequence.ok() ? *sequence : 0;
    co_return result;
  }
  auto& call = std::get<manifest::PreparedCall>(*prepared);
  const auto approver = parts_.approver(call.policy);
  if (!approver.ok()) co_return approver.status();

  const Ticket ticket = approval::MakeTicket(call, request.requester, approval::BoottimeMs());
  auto admission = co_await Admit(*approver, std::move(call), ticket, cancel);
  if (auto* refusal = std::get_if<Refusal>(&admission)) {
    co_return CallResult{NewOutcome(ticket, std::move(*refusal)), absl::OkStatus()};
  }
  if (cancel->cancelled()) co_return Record(ticket, NewOutcome(ticket, Cancelled{}));
  co_return co_await Run(std::get<ApprovedCall>(std::move(admission)), request.live_stdio, cancel);
}

asio::awaitable<Admission> Supervisor::Admit(approval::Approver* approver,
                                             manifest::PreparedCall call, Ticket ticket,
                                             std::shared_ptr<Cancellation> cancel) {
  using asio::experimental::awaitable_operators::operator||;
  approval::ApprovalGate gate(approver, parts_.audit);
  std::optional<Admission> admission;
  co_await (AdmitInto(&gate, std::move(call), ticket, &admission) || WaitForCancel(cancel));
  if (admission) co_return *std::move(admission);

  Refusal refusal{RefusalCode::kApproverError, "the approver failed"};
  if (cancel->cancelled()) refusal = {RefusalCode::kWithdrawn, "cancelled before anyone decided"};
  const auto sequence = parts_.audit->RecordRefusal(ticket, refusal);
  if (!sequence.ok()) refusal.reason += "; this is not in the audit log, which cannot be written";
  co_return refusal;
}

asio::awaitable<absl::StatusOr<CallResult>> Supervisor::Run(ApprovedCall approved, bool live_stdio,
                                                            std::shared_ptr<Cancellation> cancel) {
  Ticket ticket = approved.ticket();
  const std::optional<std::uint64_t> output_bytes =
      approved.call().policy.confinement.limits.output_bytes;
  auto streams = live_stdio ? LiveStreams() : MakeCapturePipes();
  if (!streams.ok()) {
    CouldNotStart failure{"open the streams", EMFILE, std::string(streams.status().message())};
    co_return Record(ticket, NewOutcome(ticket, std::move(failure)));
  }
  const std::vector<manifest::Variable> environment = approved.call().environment;
  CapturePipes pipes = *std::move(streams);
  ChildStdio child = std::move(pipes.child);
  const sandbox::FilesystemPolicy& filesystem = approved.call().policy.confinement.filesystem;
  std::optional<SensitiveScan> scan;
  if (filesystem.workspace == sandbox::WorkspaceMode::kReadWrite) {
    scan.emplace(*parts_.workspace, filesystem);
  }
  auto launched = co_await parts_.launcher->Launch(std::move(approved), std::move(child));
  if (!launched.ok()) co_return launched.status();
  if (auto* failure = std::get_if<LaunchFailure>(&*launched)) {
    Outcome outcome = NewOutcome(ticket, Cancelled{});
    outcome.attestation = std::move(failure->attestation);
    outcome.ending = EndingOf(std::move(*failure));
    co_return Record(ticket, std::move(outcome));
  }
  const auto& tool = std::get<std::unique_ptr<RunningTool>>(*launched);
  Outcome outcome = NewOutcome(ticket, Cancelled{});
  outcome.attestation = tool->attestation();
  const WatchLimits limits{ticket.timeout_ms, ticket.stdout_bytes, ticket.stderr_bytes,
                           output_bytes};
  absl::StatusOr<Watched> watched;
  if (live_stdio) {
    watched = co_await WatchLive(*tool, limits, cancel);
  } else {
    watched =
        co_await WatchCaptured(*tool, std::move(pipes), std::move(ticket.input), limits, cancel);
  }
  // The launcher is gone and with it the cell: the log shows a used ticket without an end, which is
  // the truth.
  if (!watched.ok()) co_return watched.status();
  TakeWatched(*std::move(watched), &outcome);
  if (scan) outcome.sensitive = co_await LookAtWorkspace(*std::move(scan), *tool);
  // The caller gets the objects as they are, the log without what may be a secret.
  sandbox::DenialReport denials = outcome.denials;
  RedactObjects(environment, outcome.denials);
  CallResult result = Record(ticket, std::move(outcome));
  result.outcome.denials = std::move(denials);
  co_return result;
}

CallResult Supervisor::Record(const Ticket& ticket, Outcome outcome) {
  const auto sequence = parts_.audit->RecordOutcome(ticket, outcome);
  if (sequence.ok()) outcome.audit_sequence = *sequence;
  return CallResult{std::move(outcome), sequence.status()};
}

}  // namespace warder::supervisor
