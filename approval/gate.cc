#include "approval/gate.h"

#include <algorithm>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "approval/preview.h"

namespace warder::approval {
namespace {

using Admission = std::variant<ApprovedCall, Refusal>;

// What an approver may say at length; the rest is counted. A screen of text, and too little to
// flood a log.
constexpr std::size_t kMaxReasonBytes = 1000;
// The timer below runs on a clock that stands still while the machine sleeps; the deadline's clock
// does not.
constexpr std::int64_t kMaxTimerMs = 30'000;

asio::awaitable<void> SleepUntil(std::int64_t boottime_ms) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (std::int64_t left = boottime_ms - BoottimeMs(); left >= 0;
       left = boottime_ms - BoottimeMs()) {
    timer.expires_after(std::chrono::milliseconds(std::min(left + 1, kMaxTimerMs)));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

// Never throws: a crash is an answer too, and it must not leave the deadline as the only way out.
asio::awaitable<Decision> AskOnce(Approver& approver, const Ticket& ticket) {
  std::string what;
  try {
    co_return co_await approver.Ask(ticket);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "an exception of unknown type";
  }
  co_return FailedDecision(RefusalCode::kApproverError, approver.Name(),
                           absl::StrCat("the approver failed: ", what));
}

// The approver's answer, or a failure: late, or the caller of the gate went away.
asio::awaitable<Decision> AskInTime(Approver& approver, const Ticket& ticket) {
  using asio::experimental::awaitable_operators::operator||;
  const Decision withdrawn =
      FailedDecision(RefusalCode::kWithdrawn, approver.Name(), "the caller went away");
  const Decision late =
      FailedDecision(RefusalCode::kAskTimeout, approver.Name(), "no answer before the deadline");
  std::optional<Decision> answer;
  try {
    auto first = co_await (AskOnce(approver, ticket) || SleepUntil(ticket.ask_deadline_ms));
    if (first.index() == 0) answer = std::move(std::get<0>(first));
  } catch (const std::exception&) {
    co_return withdrawn;  // cancelled before anybody was asked
  }
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) co_return withdrawn;
  if (!answer || BoottimeMs() > ticket.ask_deadline_ms) co_return late;
  co_return *std::move(answer);
}

// Takes as long for any two texts of one length, so that an answer cannot be found by its timing.
bool SameText(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

// An approver's words, fit to be shown and stored.
std::string Spoken(std::string_view text) {
  if (text.size() <= kMaxReasonBytes) return Visible(text);
  std::size_t kept = kMaxReasonBytes;
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xc0) == 0x80) --kept;
  return absl::StrCat(Visible(text.substr(0, kept)), " [", text.size() - kept, " bytes more]");
}

std::string Because(std::string_view what, const Decision& decision) {
  std::string sentence = absl::StrCat(std::string(what), " by ", decision.approver);
  if (!decision.reason.empty()) absl::StrAppend(&sentence, ": ", decision.reason);
  return sentence;
}

std::optional<Refusal> JudgeFailure(const Decision& decision) {
  if (!decision.failed) return std::nullopt;
  switch (decision.failure) {
    case RefusalCode::kNoApprover:
    case RefusalCode::kAskTimeout:
    case RefusalCode::kWithdrawn:
      return Refusal{decision.failure, decision.reason};
    default:
      return Refusal{RefusalCode::kApproverError, decision.reason};
  }
}

// Why `decision` does not allow the ticket of `digest`; nullopt when it does. The only reader of
// verdicts.
std::optional<Refusal> Judge(const Decision& decision, std::string_view digest,
                             const manifest::ApprovalPolicy& policy) {
  if (std::optional<Refusal> failure = JudgeFailure(decision)) return failure;
  if (!SameText(decision.ticket_digest, digest)) {
    return Refusal{RefusalCode::kApproverError,
                   absl::StrCat("the answer of ", decision.approver, " is for another ticket")};
  }
  switch (decision.verdict) {
    case Verdict::kAllow:
      return std::nullopt;
    case Verdict::kAllowForSession:
      if (policy.session_grants) return std::nullopt;
      return Refusal{RefusalCode::kApproverError,
                     absl::StrCat("the answer of ", decision.approver,
                                  ": session grants are not allowed by policy")};
    case Verdict::kDeny:
      return Refusal{RefusalCode::kDenied, Because("denied", decision)};
    case Verdict::kDenyForSession:
      return Refusal{RefusalCode::kDeniedForSession, Because("denied for the session", decision)};
  }
  return Refusal{RefusalCode::kApproverError,
                 absl::StrCat("the answer of ", decision.approver, " is no verdict")};
}

template <typename Record>
absl::Status Journaled(Record record, std::uint64_t* sequence = nullptr) {
  try {
    const absl::StatusOr<std::uint64_t> written = record();
    if (written.ok() && sequence != nullptr) *sequence = *written;
    return written.status();
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  } catch (...) {
    return absl::InternalError("an exception of unknown type");
  }
}

Refusal AuditFailure(const absl::Status& status) {
  return {RefusalCode::kAuditUnavailable,
          absl::StrCat("the audit log cannot be written: ", Spoken(std::string(status.message())))};
}

Refusal Recorded(Journal& journal, const Ticket& ticket, Refusal refusal) {
  const absl::Status written = Journaled([&] { return journal.RecordRefusal(ticket, refusal); });
  return written.ok() ? refusal : AuditFailure(written);
}

bool IsTicketOf(const Ticket& ticket, const manifest::PreparedCall& call) {
  Ticket made = MakeTicket(call, ticket.requester, ticket.asked_at_ms);
  if (made.id.size() != ticket.id.size()) return false;
  made.id = ticket.id;
  return TicketDigest(made) == TicketDigest(ticket);
}

std::int64_t UseBy(const manifest::ApprovalPolicy& policy) {
  const std::int64_t now = BoottimeMs();
  const auto room = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - now);
  return now + static_cast<std::int64_t>(std::min(policy.use_by_ms, room));
}

}  // namespace

bool ApprovalGate::Claim(const Ticket& ticket) {
  if (claimed_.size() >= forget_at_) ForgetOldTickets();
  return claimed_.emplace(ticket.id, ticket.ask_deadline_ms).second;
}

void ApprovalGate::ForgetOldTickets() {
  const std::int64_t now = BoottimeMs();
  std::erase_if(claimed_, [now](const auto& entry) { return entry.second < now; });
  forget_at_ = std::max<std::size_t>(1024, 2 * claimed_.size());
}

asio::awaitable<Admission> ApprovalGate::Admit(manifest::PreparedCall call, Ticket ticket) {
  const auto refuse = [&](RefusalCode code, std::string reason) -> Admission {
    return Recorded(*journal_, ticket, {code, std::move(reason)});
  };
  if (!IsTicketOf(ticket, call)) {
    co_return refuse(RefusalCode::kChanged, "the ticket is not the ticket of this call");
  }
  if (!Claim(ticket)) {
    co_return refuse(RefusalCode::kAlreadyUsed, "this ticket was put to an approver before");
  }
  const absl::Status asked = Journaled([&] { return journal_->RecordAsk(ticket); });
  if (!asked.ok()) co_return AuditFailure(asked);
  if (approver_ == nullptr) {
    co_return refuse(RefusalCode::kNoApprover, "nobody can be asked");
  }

  Decision decision = co_await AskInTime(*approver_, ticket);
  if (decision.approver.empty()) decision.approver = approver_->Name();
  decision.approver = Spoken(decision.approver);
  decision.reason = Spoken(decision.reason);
  ticket.use_by_ms = UseBy(call.policy.approval);
  const std::optional<Refusal> refusal =
      Judge(decision, TicketDigestHex(ticket), call.policy.approval);
  // Answers that are no decision are not recorded as one: only the refusal is.
  const bool decided = !refusal || refusal->code == RefusalCode::kDenied ||
                       refusal->code == RefusalCode::kDeniedForSession;
  if (decided) {
    const absl::Status recorded =
        Journaled([&] { return journal_->RecordDecision(ticket, decision); });
    if (!recorded.ok()) co_return AuditFailure(recorded);
  }
  if (refusal) co_return Recorded(*journal_, ticket, *refusal);

  if (BoottimeMs() >= ticket.use_by_ms) {
    co_return refuse(RefusalCode::kExpired, "allowed, but not started before its use-by time");
  }
  std::uint64_t sequence = 0;
  const absl::Status used = Journaled([&] { return journal_->RecordUse(ticket); }, &sequence);
  if (!used.ok()) co_return AuditFailure(used);
  co_return ApprovedCall(std::move(call), std::move(ticket), std::move(decision), sequence);
}

}  // namespace warder::approval
