#include "supervisor/approver_program.h"

#include <asio/this_coro.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "approval/preview.h"
#include "manifest/json.h"
#include "supervisor/audit_record.h"
#include "supervisor/operator_program.h"
#include "supervisor/watch.h"

namespace warder::supervisor {
namespace {

using approval::Decision;
using approval::RefusalCode;
using approval::Ticket;
using approval::Verdict;
using manifest::Json;

// An answer is four short members; 64 KiB leaves room for a reason of any sensible length.
constexpr std::uint64_t kAnswerBytes = 64u << 10;
constexpr std::size_t kAnswerDepth = 2;
constexpr std::size_t kAnswerValues = 16;
// Of what the program wrote to stderr: enough for the line that says why it failed.
constexpr std::uint64_t kStderrBytes = 4096;
constexpr std::size_t kStderrShownBytes = 400;

std::string AskText(const Ticket& ticket, std::int64_t remaining_ms) {
  Json ask;
  ask["ticket"] = TicketIdHex(ticket);
  ask["digest"] = approval::TicketDigestHex(ticket);
  ask["deadline_ms"] = remaining_ms;
  ask["preview"] = approval::PreviewJson(ticket);
  return manifest::WriteJson(ask) + "\n";
}

std::optional<Verdict> VerdictOf(std::string_view word) {
  for (const Verdict verdict :
       {Verdict::kDeny, Verdict::kAllow, Verdict::kDenyForSession, Verdict::kAllowForSession}) {
    if (word == approval::VerdictName(verdict)) return verdict;
  }
  return std::nullopt;
}

// A member of the answer as text; "" when it is absent or not text, which equals no ticket, digest
// or verdict.
std::string TextMember(const Json& answer, const char* name) {
  const auto member = answer.find(name);
  return member != answer.end() && member->is_string() ? member->get<std::string>() : "";
}

// Reads the one object of `out` into `decision`. Every message says what is wrong with the answer,
// for the operator.
absl::Status ReadAnswer(const Ticket& ticket, const std::string& out, Decision& decision) {
  const auto answer = manifest::ParseStrictJson(
      out, "answer", {.bytes = kAnswerBytes, .depth = kAnswerDepth, .values = kAnswerValues});
  if (!answer.ok()) return answer.status();
  if (!answer->is_object()) return absl::InvalidArgumentError("answer: it is not an object");
  for (const auto& [name, value] : answer->items()) {
    if (name != "ticket" && name != "digest" && name != "decision" && name != "reason") {
      return absl::InvalidArgumentError(
          absl::StrCat("answer: unknown member ", approval::Quoted(name)));
    }
    if (!value.is_string()) {
      return absl::InvalidArgumentError(absl::StrCat("answer: `", name, "` is not a string"));
    }
  }
  if (TextMember(*answer, "ticket") != TicketIdHex(ticket)) {
    return absl::InvalidArgumentError("answer: `ticket` is not the ticket that was asked about");
  }
  if (TextMember(*answer, "digest") != approval::TicketDigestHex(ticket)) {
    return absl::InvalidArgumentError("answer: `digest` is not the ticket's digest");
  }
  const std::optional<Verdict> verdict = VerdictOf(TextMember(*answer, "decision"));
  if (!verdict) {
    return absl::InvalidArgumentError(
        "answer: `decision` must be allow, deny, allow-for-session or deny-for-session");
  }
  decision.verdict = *verdict;
  decision.reason = TextMember(*answer, "reason");
  decision.ticket_digest = TextMember(*answer, "digest");
  return absl::OkStatus();
}

// What the program itself said about its failure, for the operator.
std::string StderrNote(const Captured& err) {
  std::string_view text = err.head;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.empty()) return "";
  return absl::StrCat("; its stderr: ", approval::Visible(text.substr(0, kStderrShownBytes)));
}

class ProgramApprover : public approval::Approver {
 public:
  explicit ProgramApprover(std::vector<std::string> argv) : argv_(std::move(argv)) {}

  std::string Name() const override {
    return "program " + approval::Visible(argv_.empty() ? "(none)" : argv_.front());
  }

  asio::awaitable<Decision> Ask(const Ticket& ticket) override {
    const std::int64_t remaining_ms = ticket.ask_deadline_ms - approval::BoottimeMs();
    if (remaining_ms <= 0) co_return Failed(RefusalCode::kAskTimeout, "the deadline has passed");

    const absl::StatusOr<Watched> watched = co_await RunProgram(ticket, remaining_ms);
    if (!watched.ok()) {
      co_return Failed(RefusalCode::kApproverError, std::string(watched.status().message()));
    }
    if (approval::BoottimeMs() > ticket.ask_deadline_ms ||
        std::holds_alternative<TimedOut>(watched->ending)) {
      co_return Failed(RefusalCode::kAskTimeout,
                       absl::StrFormat("it gave no answer within %d ms", remaining_ms));
    }
    co_return Judge(ticket, *watched);
  }

 private:
  asio::awaitable<absl::StatusOr<Watched>> RunProgram(const Ticket& ticket,
                                                      std::int64_t remaining_ms) const {
    const auto executor = co_await asio::this_coro::executor;
    auto pipes = MakeCapturePipes();
    if (!pipes.ok()) co_return pipes.status();
    const auto program = StartOperatorProgram(executor, argv_, std::move(pipes->child));
    if (!program.ok()) co_return program.status();
    WatchLimits limits;
    limits.timeout_ms = remaining_ms;
    limits.stdout_bytes = kAnswerBytes;
    limits.stderr_bytes = kStderrBytes;
    co_return co_await WatchCaptured(**program, *std::move(pipes), AskText(ticket, remaining_ms),
                                     limits, std::make_shared<Cancellation>(executor));
  }

  Decision Judge(const Ticket& ticket, const Watched& watched) const {
    const auto* exited = std::get_if<Exited>(&watched.ending);
    if (exited == nullptr || exited->code != 0) {
      const std::string how =
          exited != nullptr ? absl::StrCat("it exited with code ", exited->code)
                            : absl::StrCat("it did not exit (", EndingName(watched.ending), ")");
      return Failed(RefusalCode::kApproverError, how + StderrNote(watched.err));
    }
    if (watched.out.truncated()) {
      return Failed(RefusalCode::kApproverError,
                    absl::StrFormat("its answer is longer than %d bytes", kAnswerBytes));
    }
    Decision decision;
    decision.approver = Name();
    const absl::Status read = ReadAnswer(ticket, watched.out.head + watched.out.tail, decision);
    if (!read.ok()) return Failed(RefusalCode::kApproverError, std::string(read.message()));
    return decision;
  }

  Decision Failed(RefusalCode code, const std::string& what) const {
    Decision decision;
    decision.approver = Name();
    decision.failed = true;
    decision.failure = code;
    decision.reason = absl::StrCat("approver ", Name(), ": ", what);
    return decision;
  }

  std::vector<std::string> argv_;
};

}  // namespace

std::unique_ptr<approval::Approver> MakeProgramApprover(std::vector<std::string> argv) {
  return std::make_unique<ProgramApprover>(std::move(argv));
}

}  // namespace warder::supervisor
