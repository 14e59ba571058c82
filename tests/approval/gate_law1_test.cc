// Law 1: only an explicit, valid, in-time allow for this ticket allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "approval/gate.h"
#include "tests/support/gate_fixture.h"
#include "tests/support/run_async.h"
#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using testing::Admitted;
using testing::Allow;
using testing::Answers;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Never;
using testing::RunAsync;
using testing::SampleCall;
using testing::Script;
using testing::ScriptedApprover;

using Law1 = testing::GateTest;

TEST_F(Law1, AnExplicitValidInTimeAllowForThisTicketAllows) {
  const Admitted result = AdmitWith(Answers(Allow));
  ASSERT_TRUE(result.approved) << result.refusal->reason;
  EXPECT_THAT(journal_.records, ElementsAre("ask", "decision", "use"));
  EXPECT_EQ(result.approved->audit_sequence(), 3u);
  EXPECT_EQ(result.approved->call().tool.name, "report");
  EXPECT_EQ(result.approved->decision().approver, "scripted");
  EXPECT_GT(result.approved->ticket().use_by_ms, BoottimeMs());
  EXPECT_LE(result.approved->ticket().use_by_ms,
            BoottimeMs() + static_cast<std::int64_t>(policy_.use_by_ms));
}

TEST_F(Law1, ADenyDeniesAndItsReasonReachesTheCaller) {
  const Admitted result = AdmitWith(Answers([](const Ticket& ticket) {
    Decision decision = Allow(ticket);
    decision.verdict = Verdict::kDeny;
    decision.reason = "not today";
    return decision;
  }));
  ExpectRefused(result, RefusalCode::kDenied);
  EXPECT_EQ(result.refusal->reason, "denied by scripted: not today");
  EXPECT_THAT(journal_.records, ElementsAre("ask", "decision", "refusal denied"));
}

TEST_F(Law1, ADenyForTheSessionHasItsOwnCode) {
  ExpectRefused(AdmitWith(Answers([](const Ticket& ticket) {
                  Decision decision = Allow(ticket);
                  decision.verdict = Verdict::kDenyForSession;
                  return decision;
                })),
                RefusalCode::kDeniedForSession);
}

TEST_F(Law1, ADefaultDecisionDenies) {
  ExpectRefused(AdmitWith(Answers([](const Ticket&) { return Decision{}; })),
                RefusalCode::kApproverError);
}

TEST_F(Law1, NobodyToAskDenies) {
  ApprovalGate gate(nullptr, &journal_);
  manifest::PreparedCall call = SampleCall();
  Ticket ticket = MakeTicket(call, {}, BoottimeMs());
  ExpectRefused(Admit(gate, std::move(call), std::move(ticket)), RefusalCode::kNoApprover);
  EXPECT_THAT(journal_.records, ElementsAre("ask", "refusal no_approver"));
}

TEST_F(Law1, ACrashDenies) {
  const Admitted result = AdmitWith([](const Ticket&) -> asio::awaitable<Decision> {
    throw std::runtime_error("approver \x1b[2K crashed");
    co_return Decision{};
  });
  ExpectRefused(result, RefusalCode::kApproverError);
  EXPECT_THAT(result.refusal->reason, HasSubstr("\\x1b[2K crashed"));
  EXPECT_THAT(journal_.records, ElementsAre("ask", "refusal approver_error"));
}

TEST_F(Law1, AnExceptionOfUnknownTypeDenies) {
  ExpectRefused(AdmitWith([](const Ticket&) -> asio::awaitable<Decision> {
                  throw 7;  // NOLINT: that is the point
                  co_return Decision{};
                }),
                RefusalCode::kApproverError);
}

TEST_F(Law1, AnExceptionBeforeTheCoroutineBeginsDenies) {
  ExpectRefused(AdmitWith([](const Ticket&) -> asio::awaitable<Decision> {
                  throw std::runtime_error("not even started");
                }),
                RefusalCode::kApproverError);
}

TEST_F(Law1, AFailureDeniesWithItsOwnCodeEvenIfItAlsoAllows) {
  for (const RefusalCode code : {RefusalCode::kNoApprover, RefusalCode::kAskTimeout,
                                 RefusalCode::kApproverError, RefusalCode::kWithdrawn}) {
    ExpectRefused(AdmitWith(Answers([code](const Ticket& ticket) {
                    Decision decision = Allow(ticket);
                    decision.failed = true;
                    decision.failure = code;
                    decision.reason = "end of file";
                    return decision;
                  })),
                  code);
  }
}

TEST_F(Law1, AFailureWithACodeThatIsNoneIsAnApproverError) {
  ExpectRefused(AdmitWith(Answers([](const Ticket& ticket) {
                  Decision decision = Allow(ticket);
                  decision.failed = true;
                  decision.failure = static_cast<RefusalCode>(0);
                  return decision;
                })),
                RefusalCode::kApproverError);
}

TEST_F(Law1, AValueThatIsNoVerdictDenies) {
  for (int bit = 0; bit < 32; ++bit) {
    ExpectRefused(AdmitWith(Answers([bit](const Ticket& ticket) {
                    Decision decision = Allow(ticket);
                    decision.verdict = static_cast<Verdict>(
                        static_cast<std::uint32_t>(Verdict::kAllow) ^ (1u << bit));
                    return decision;
                  })),
                  RefusalCode::kApproverError);
  }
}

TEST_F(Law1, AnAllowForAnotherTicketDenies) {
  for (const std::string& digest : {std::string(), std::string(64, '0'), std::string("x")}) {
    const Admitted result = AdmitWith(Answers([&](const Ticket& ticket) {
      Decision decision = Allow(ticket);
      decision.ticket_digest = digest;
      return decision;
    }));
    ExpectRefused(result, RefusalCode::kApproverError);
    EXPECT_THAT(result.refusal->reason, HasSubstr("another ticket"));
  }
  ExpectRefused(AdmitWith(Answers([](const Ticket& ticket) {
                  Ticket other = ticket;
                  other.id[0] ^= 1;
                  return Allow(other);
                })),
                RefusalCode::kApproverError);
}

TEST_F(Law1, NoAnswerBeforeTheDeadlineDenies) {
  policy_.ask_timeout_ms = 20;
  ExpectRefused(AdmitWith(Never), RefusalCode::kAskTimeout);
  EXPECT_THAT(journal_.records, ElementsAre("ask", "refusal ask_timeout"));
}

TEST_F(Law1, AnAnswerThatComesLateDenies) {
  policy_.ask_timeout_ms = 5;
  // Blocks the loop, so that the answer is there before the gate's own timer can run.
  ExpectRefused(AdmitWith(Answers([](const Ticket& ticket) {
                  while (BoottimeMs() <= ticket.ask_deadline_ms) {
                  }
                  return Allow(ticket);
                })),
                RefusalCode::kAskTimeout);
}

TEST_F(Law1, ADeadlineThatIsOverBeforeTheAskDenies) {
  ScriptedApprover approver(Answers(Allow));
  ApprovalGate gate(&approver, &journal_);
  manifest::PreparedCall call = SampleCall();
  Ticket ticket = MakeTicket(call, {}, BoottimeMs());
  ticket.ask_deadline_ms = BoottimeMs() - 1;
  ExpectRefused(Admit(gate, std::move(call), std::move(ticket)), RefusalCode::kAskTimeout);
}

TEST_F(Law1, AnAllowForTheSessionIsRefusedWherePolicyDoesNotGrantOne) {
  const Script script = Answers([](const Ticket& ticket) {
    Decision decision = Allow(ticket);
    decision.verdict = Verdict::kAllowForSession;
    return decision;
  });
  const Admitted result = AdmitWith(script);
  ExpectRefused(result, RefusalCode::kApproverError);
  EXPECT_THAT(result.refusal->reason, HasSubstr("session grants are not allowed by policy"));
  policy_.session_grants = true;
  EXPECT_TRUE(AdmitWith(script).approved);
}

TEST_F(Law1, ATicketIsGoodForOneAskOnly) {
  ScriptedApprover approver(Answers(Allow));
  ApprovalGate gate(&approver, &journal_);
  manifest::PreparedCall call = SampleCall();
  const Ticket ticket = MakeTicket(call, {}, BoottimeMs());
  EXPECT_TRUE(Admit(gate, std::move(call), ticket).approved);
  journal_.records.clear();
  ExpectRefused(Admit(gate, SampleCall(), ticket), RefusalCode::kAlreadyUsed);
  EXPECT_THAT(journal_.records, ElementsAre("refusal already_used"));
}

TEST_F(Law1, ATicketThatWasDeniedIsNotAskedAgain) {
  bool allow = false;
  ScriptedApprover approver(Answers([&](const Ticket& ticket) {
    return std::exchange(allow, true) ? Allow(ticket) : Decision{};
  }));
  ApprovalGate gate(&approver, &journal_);
  manifest::PreparedCall call = SampleCall();
  const Ticket ticket = MakeTicket(call, {}, BoottimeMs());
  ExpectRefused(Admit(gate, std::move(call), ticket), RefusalCode::kApproverError);
  ExpectRefused(Admit(gate, SampleCall(), ticket), RefusalCode::kAlreadyUsed);
}

TEST_F(Law1, AnAllowThatIsNotUsedInTimeExpires) {
  policy_.use_by_ms = 0;
  ExpectRefused(AdmitWith(Answers(Allow)), RefusalCode::kExpired);
  EXPECT_THAT(journal_.records, ElementsAre("ask", "decision", "refusal expired"));
}

TEST_F(Law1, AUseByTimeBeyondAllTimeDoesNotOverflow) {
  policy_.use_by_ms = ~std::uint64_t{0};
  EXPECT_TRUE(AdmitWith(Answers(Allow)).approved);
}

TEST_F(Law1, AnAuditLogThatCannotBeWrittenDeniesAtEveryStep) {
  for (const char* step : {"ask", "decision", "use"}) {
    for (const bool throws : {false, true}) {
      journal_ = {};
      (throws ? journal_.throw_at : journal_.fail_at) = step;
      const Admitted result = AdmitWith(Answers(Allow));
      ExpectRefused(result, RefusalCode::kAuditUnavailable);
      EXPECT_THAT(result.refusal->reason, HasSubstr("audit log"));
    }
  }
}

TEST_F(Law1, NobodyIsAskedWhatCannotBeRecorded) {
  journal_.fail_at = "ask";
  bool asked = false;
  ExpectRefused(AdmitWith(Answers([&](const Ticket& ticket) {
                  asked = true;
                  return Allow(ticket);
                })),
                RefusalCode::kAuditUnavailable);
  EXPECT_FALSE(asked);
  EXPECT_THAT(journal_.records, IsEmpty());
}

TEST_F(Law1, ARefusalThatCannotBeRecordedIsStillARefusal) {
  journal_.fail_at = "refusal denied";
  ExpectRefused(AdmitWith(Answers([](const Ticket& ticket) {
                  Decision decision = Allow(ticket);
                  decision.verdict = Verdict::kDeny;
                  return decision;
                })),
                RefusalCode::kAuditUnavailable);
}

TEST_F(Law1, ACallerThatGoesAwayWithdrawsItsTicket) {
  using asio::experimental::awaitable_operators::operator||;
  ScriptedApprover approver(Never);
  ApprovalGate gate(&approver, &journal_);
  manifest::PreparedCall call = SampleCall();
  Ticket ticket = MakeTicket(call, {}, BoottimeMs());
  const auto short_time = []() -> asio::awaitable<int> {
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(5));
    co_await timer.async_wait(asio::use_awaitable);
    co_return 1;
  };
  const auto both = [&]() -> asio::awaitable<std::size_t> {
    const auto first =
        co_await (Admitting(gate, std::move(call), std::move(ticket)) || short_time());
    co_return first.index();
  };
  EXPECT_EQ(RunAsync(both()), 1u);
  EXPECT_THAT(journal_.records, ElementsAre("ask", "refusal withdrawn"));
}

TEST_F(Law1, ManyTicketsAreForgottenOnlyAfterTheirDeadline) {
  ScriptedApprover approver(Answers(Allow));
  ApprovalGate gate(&approver, &journal_);
  manifest::PreparedCall first = SampleCall();
  const Ticket ticket = MakeTicket(first, {}, BoottimeMs());
  EXPECT_TRUE(Admit(gate, std::move(first), ticket).approved);
  const auto many = [&]() -> asio::awaitable<int> {
    for (int i = 0; i < 1'100; ++i) {
      manifest::PreparedCall call;
      Ticket other = MakeTicket(call, {}, BoottimeMs() - 1'000'000);
      const Admitted late = co_await Admitting(gate, std::move(call), std::move(other));
      EXPECT_TRUE(late.refusal);
    }
    co_return 0;
  };
  RunAsync(many());
  const Admitted again = Admit(gate, SampleCall(), ticket);
  ASSERT_TRUE(again.refusal);
  EXPECT_EQ(again.refusal->code, RefusalCode::kAlreadyUsed);
}

}  // namespace
}  // namespace warder::approval
