// GateTest: a gate between a scripted approver and a scripted journal.
#ifndef WARDER_TESTS_SUPPORT_GATE_FIXTURE_H_
#define WARDER_TESTS_SUPPORT_GATE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "approval/gate.h"
#include "tests/support/run_async.h"
#include "tests/support/sample_call.h"

namespace warder::testing {

using approval::ApprovalGate;
using approval::ApprovedCall;
using approval::Approver;
using approval::BoottimeMs;
using approval::Decision;
using approval::Journal;
using approval::Refusal;
using approval::RefusalCode;
using approval::RefusalCodeName;
using approval::Ticket;
using approval::TicketDigestHex;
using approval::Verdict;

using Admission = std::variant<ApprovedCall, Refusal>;
using Script = std::function<asio::awaitable<Decision>(const Ticket&)>;

class ScriptedApprover : public Approver {
 public:
  explicit ScriptedApprover(Script script) : script_(std::move(script)) {}
  asio::awaitable<Decision> Ask(const Ticket& ticket) override { return script_(ticket); }
  std::string Name() const override { return "scripted"; }

 private:
  Script script_;
};

class ScriptedJournal : public Journal {
 public:
  absl::StatusOr<std::uint64_t> RecordAsk(const Ticket&) override { return Record("ask"); }
  absl::StatusOr<std::uint64_t> RecordDecision(const Ticket&, const Decision& decision) override {
    reasons.push_back(decision.reason);
    return Record("decision");
  }
  absl::StatusOr<std::uint64_t> RecordUse(const Ticket&) override { return Record("use"); }
  absl::StatusOr<std::uint64_t> RecordRefusal(const Ticket&, const Refusal& refusal) override {
    return Record(std::string("refusal ") + RefusalCodeName(refusal.code));
  }

  std::string fail_at, throw_at;
  std::vector<std::string> records, reasons;

 private:
  absl::StatusOr<std::uint64_t> Record(const std::string& what) {
    if (what == fail_at) return absl::ResourceExhaustedError("no space");
    if (what == throw_at) throw std::runtime_error("journal crashed");
    records.push_back(what);
    return records.size();
  }
};

inline Decision Allow(const Ticket& ticket) {
  Decision decision;
  decision.verdict = Verdict::kAllow;
  decision.approver = "scripted";
  decision.ticket_digest = TicketDigestHex(ticket);
  return decision;
}

// An approver that gives at once what `answer` makes of the ticket.
inline Script Answers(std::function<Decision(const Ticket&)> answer) {
  return [answer](const Ticket& ticket) -> asio::awaitable<Decision> { co_return answer(ticket); };
}

inline asio::awaitable<Decision> Never(const Ticket&) {
  asio::steady_timer timer(co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max());
  co_await timer.async_wait(asio::use_awaitable);
  throw std::logic_error("the end of time");
}

struct Admitted {
  std::optional<Refusal> refusal;
  std::optional<ApprovedCall> approved;
};

class GateTest : public ::testing::Test {
 protected:
  Admitted Admit(ApprovalGate& gate, manifest::PreparedCall call, Ticket ticket) {
    return RunAsync(Admitting(gate, std::move(call), std::move(ticket)));
  }
  static asio::awaitable<Admitted> Admitting(ApprovalGate& gate, manifest::PreparedCall call,
                                             Ticket ticket) {
    Admission admission = co_await gate.Admit(std::move(call), std::move(ticket));
    Admitted result;
    if (std::holds_alternative<Refusal>(admission)) {
      result.refusal = std::get<Refusal>(admission);
    } else {
      result.approved.emplace(std::get<ApprovedCall>(std::move(admission)));
    }
    co_return result;
  }
  Admitted AdmitWith(Script script) {
    ScriptedApprover approver(std::move(script));
    ApprovalGate gate(&approver, &journal_);
    manifest::PreparedCall call = SampleCall();
    call.policy.approval = policy_;
    Ticket ticket = approval::MakeTicket(call, {}, approval::BoottimeMs());
    return Admit(gate, std::move(call), std::move(ticket));
  }
  // Refused with `code`, and nothing was used.
  void ExpectRefused(const Admitted& result, RefusalCode code) {
    ASSERT_TRUE(result.refusal);
    EXPECT_FALSE(result.approved);
    EXPECT_STREQ(RefusalCodeName(result.refusal->code), RefusalCodeName(code))
        << result.refusal->reason;
    EXPECT_THAT(journal_.records, ::testing::Not(::testing::Contains("use")));
  }

  ScriptedJournal journal_;
  manifest::ApprovalPolicy policy_;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_GATE_FIXTURE_H_
