// ApprovalGate: the only maker of ApprovedCall, and an ApprovedCall is the only thing that can be
// launched.
#ifndef WARDER_APPROVAL_GATE_H_
#define WARDER_APPROVAL_GATE_H_

#include <asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "approval/approver.h"
#include "approval/decision.h"
#include "approval/ticket.h"
#include "manifest/prepared_call.h"

namespace warder::approval {

// Where the gate writes before it lets anything happen. The audit log implements it.
class Journal {
 public:
  virtual ~Journal() = default;
  // Each is durable, in order, when it returns. The number is the record's sequence.
  virtual absl::StatusOr<std::uint64_t> RecordAsk(const Ticket& ticket) = 0;
  virtual absl::StatusOr<std::uint64_t> RecordDecision(const Ticket& ticket,
                                                       const Decision& decision) = 0;
  // The ticket is used from here on, whatever happens next.
  virtual absl::StatusOr<std::uint64_t> RecordUse(const Ticket& ticket) = 0;
  virtual absl::StatusOr<std::uint64_t> RecordRefusal(const Ticket& ticket,
                                                      const Refusal& refusal) = 0;
};

// A prepared call and the decision that allows it. Only the gate makes one; launching consumes it.
class ApprovedCall {
 public:
  ApprovedCall(ApprovedCall&&) = default;
  ApprovedCall& operator=(ApprovedCall&&) = default;
  const manifest::PreparedCall& call() const { return call_; }
  const Ticket& ticket() const { return ticket_; }
  const Decision& decision() const { return decision_; }
  std::uint64_t audit_sequence() const { return audit_sequence_; }

 private:
  friend class ApprovalGate;
  ApprovedCall(manifest::PreparedCall call, Ticket ticket, Decision decision,
               std::uint64_t sequence)
      : call_(std::move(call)),
        ticket_(std::move(ticket)),
        decision_(std::move(decision)),
        audit_sequence_(sequence) {}
  manifest::PreparedCall call_;
  Ticket ticket_;
  Decision decision_;
  std::uint64_t audit_sequence_;
};

class ApprovalGate {
 public:
  // `approver` null means that nobody can be asked: every call is refused with kNoApprover. Both
  // outlive the gate.
  ApprovalGate(Approver* approver, Journal* journal) : approver_(approver), journal_(journal) {}

  // Puts `call` to the approver and returns either the right to run it or why not. `ticket` is the
  // one that MakeTicket made of `call`; any other is refused with kChanged. Writes ask, decision
  // and use to the journal in that order; when the journal fails, the call is refused with
  // kAuditUnavailable. Cancelling this coroutine refuses with kWithdrawn.
  //
  // The launcher starts nothing after ticket().use_by_ms of what this returns.
  asio::awaitable<std::variant<ApprovedCall, Refusal>> Admit(manifest::PreparedCall call,
                                                             Ticket ticket);

 private:
  bool Claim(const Ticket& ticket);
  void ForgetOldTickets();

  Approver* approver_;
  Journal* journal_;
  // Ids of tickets that were put to an approver, each with its ask deadline: after that the ticket
  // is refused as late, so it can be forgotten. The journal keeps the rest.
  std::unordered_map<std::string, std::int64_t> claimed_;
  std::size_t forget_at_ =
      1024;  // size at which claimed_ is swept; bounds it to twice the tickets that wait
};

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_GATE_H_
