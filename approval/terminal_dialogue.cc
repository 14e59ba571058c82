#include "approval/terminal_dialogue.h"

#include <fcntl.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "approval/preview.h"
#include "manifest/digest.h"

namespace warder::approval {
namespace {

// Long enough that a key on its way to another program lands here; grows with what is to be read,
// up to a point where people stop waiting for it.
constexpr std::int64_t kMinArmingMs = 300;
constexpr std::int64_t kMaxArmingMs = 2'000;
constexpr std::int64_t kArmingMsPerLine = 5;
constexpr std::int64_t kTickMs = 1'000;  // the time that is left is shown in seconds
constexpr int kFooterRows = 2;           // status and prompt
constexpr int kWideColumns = 72;         // the long prompts fit
// Without letters that look alike, and without the two that have a meaning of their own (b, d).
constexpr std::string_view kCodeLetters = "acefghjkmnpqrstuvwxyz";
constexpr std::size_t kCodeLength = 4;  // 21^4: not typed by chance
constexpr char kInterruptKey = 0x03;
constexpr char kEndOfFileKey = 0x04;
constexpr char kBackspaceKey = 0x08;
constexpr char kDeleteKey = 0x7f;
constexpr const char* kName = "terminal";

std::string RandomCode() {
  // Bytes from here on would make the first letters likelier than the others.
  constexpr std::size_t kFair = 256 - 256 % kCodeLetters.size();
  std::string code;
  while (code.size() < kCodeLength) {
    const auto byte = static_cast<unsigned char>(manifest::RandomBytes(1)[0]);
    if (byte < kFair) code += kCodeLetters[byte % kCodeLetters.size()];
  }
  return code;
}

}  // namespace

TerminalDialogue::TerminalDialogue(const asio::any_io_executor& executor, const Terminal& terminal,
                                   const TerminalTraits& traits, const Ticket& ticket)
    : terminal_(terminal),
      traits_(traits),
      ticket_(ticket),
      stream_(executor, fcntl(terminal.fd(), F_DUPFD_CLOEXEC, 3)),
      signals_(executor, SIGHUP, SIGINT, SIGTERM) {
  signals_.add(SIGWINCH);
}

asio::awaitable<Decision> TerminalDialogue::Run() {
  Measure();
  while (true) {
    Next next;
    if (page_ + 1 < PageCount()) {
      next = co_await Page();
    } else {
      next = co_await Arm();
      if (!next.answer && next.step == Step::kForward) next = co_await AskForCode();
    }
    if (next.answer) co_return *std::move(next.answer);
    if (next.step == Step::kRedraw) Measure();
    if (next.step == Step::kForward) ++page_;
    if (next.step == Step::kBack && page_ > 0) --page_;
  }
}

asio::awaitable<TerminalDialogue::Next> TerminalDialogue::Page() {
  co_await Draw("Space: next page. b: page before. Enter, d or any other key: deny. ",
                "Space: next, d: deny");
  while (true) {
    const Event event = co_await Wait(BoottimeMs() + kTickMs);
    if (std::optional<Next> end = Ending(event)) co_return *std::move(end);
    if (event.what == Happened::kTime) {
      co_await DrawStatus();
    } else if (event.key == ' ') {
      co_return Next{std::nullopt, Step::kForward};
    } else if (event.key == 'b') {
      co_return Next{std::nullopt, Step::kBack};
    } else {
      co_return Deny("denied by key");
    }
  }
}

asio::awaitable<TerminalDialogue::Next> TerminalDialogue::Arm() {
  co_await Draw("Read this first: the question comes in a moment. ", "wait... ");
  const auto lines = static_cast<std::int64_t>(lines_.size());
  const std::int64_t armed =
      BoottimeMs() + std::min(kMinArmingMs + kArmingMsPerLine * lines, kMaxArmingMs);
  while (BoottimeMs() < armed) {
    const Event event = co_await Wait(armed);
    if (std::optional<Next> end = Ending(event)) co_return *std::move(end);
  }
  DropTyped();
  co_return Next{std::nullopt, Step::kForward};
}

asio::awaitable<TerminalDialogue::Next> TerminalDialogue::AskForCode() {
  const std::string code = RandomCode();
  const std::string wide =
      absl::StrCat("To allow, type ", code, " and Enter. Enter alone, or any other key, denies: ");
  const std::string narrow = absl::StrCat("type ", code, ": ");
  co_await Draw(wide, narrow);
  std::string typed;
  while (true) {
    const Event event = co_await Wait(BoottimeMs() + kTickMs);
    if (std::optional<Next> end = Ending(event)) co_return *std::move(end);
    if (event.what == Happened::kTime) {
      co_await DrawStatus();
      continue;
    }
    const std::size_t before = typed.size();
    if (std::optional<Next> end = Typed(event.key, code, typed)) co_return *std::move(end);
    std::string echo = typed.size() < before ? "\b \b" : typed.substr(before);
    co_await Write(std::move(echo));
  }
}

std::optional<TerminalDialogue::Next> TerminalDialogue::Typed(char key, const std::string& code,
                                                              std::string& typed) {
  if (key == '\r' || key == '\n') {
    if (typed.empty()) return Deny("denied by key");
    if (typed != code) return Deny("the code that was typed is wrong");
    Decision decision;
    decision.verdict = Verdict::kAllow;
    decision.approver = kName;
    decision.ticket_digest = TicketDigestHex(ticket_);
    return Next{std::move(decision)};
  }
  if (key == 'b' && typed.empty() && page_ > 0) return Next{std::nullopt, Step::kBack};
  if (key == kBackspaceKey || key == kDeleteKey) {
    if (!typed.empty()) typed.pop_back();
    return std::nullopt;
  }
  if (typed.size() == kCodeLength || kCodeLetters.find(key) == std::string_view::npos) {
    return Deny("denied by key");
  }
  typed += key;
  return std::nullopt;
}

std::optional<TerminalDialogue::Next> TerminalDialogue::Ending(const Event& event) const {
  if (BoottimeMs() > ticket_.ask_deadline_ms) {
    return Fail(RefusalCode::kAskTimeout, "no answer before the deadline");
  }
  switch (event.what) {
    case Happened::kTime:
      return std::nullopt;
    case Happened::kResized:
      return Next{std::nullopt, Step::kRedraw};
    case Happened::kGone:
      return Fail(RefusalCode::kApproverError, "the terminal was closed");
    case Happened::kStopped:
      return Deny("interrupted by a signal");
    case Happened::kKey:
      break;
  }
  if (event.key == kInterruptKey) return Deny("interrupted by Ctrl-C");
  if (event.key == kEndOfFileKey) {
    return Fail(RefusalCode::kApproverError, "end of file at the terminal");
  }
  return std::nullopt;
}

asio::awaitable<TerminalDialogue::Event> TerminalDialogue::Wait(std::int64_t until_boottime_ms) {
  using asio::experimental::awaitable_operators::operator||;
  if (used_ < buffered_) co_return Event{Happened::kKey, buffer_[used_++]};
  const std::int64_t until = std::min(until_boottime_ms, ticket_.ask_deadline_ms + 1);
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_after(
      std::chrono::milliseconds(std::clamp<std::int64_t>(until - BoottimeMs(), 0, kTickMs)));
  const auto first = co_await (ReadKey() || ReadSignal() || timer.async_wait(asio::use_awaitable));
  if (first.index() == 0) {
    co_return Event{gone_ ? Happened::kGone : Happened::kKey, std::get<0>(first)};
  }
  if (first.index() == 2) co_return Event{Happened::kTime, 0};
  const int number = std::get<1>(first);
  if (number == SIGWINCH) co_return Event{Happened::kResized, 0};
  co_return Event{number == SIGHUP ? Happened::kGone : Happened::kStopped, 0};
}

asio::awaitable<char> TerminalDialogue::ReadKey() {
  asio::error_code error;
  const std::size_t size = co_await stream_.async_read_some(
      asio::buffer(buffer_), asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) co_return '\0';  // another event came first
  gone_ = error || size == 0;
  buffered_ = gone_ ? 0 : size;
  used_ = gone_ ? 0 : 1;
  co_return gone_ ? '\0' : buffer_[0];
}

asio::awaitable<int> TerminalDialogue::ReadSignal() {
  co_return co_await signals_.async_wait(asio::use_awaitable);
}

asio::awaitable<void> TerminalDialogue::Write(std::string bytes) {
  // A terminal that is gone is noticed by the next read.
  asio::error_code error;
  co_await asio::async_write(stream_, asio::buffer(bytes),
                             asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> TerminalDialogue::Draw(std::string_view wide, std::string_view narrow) {
  std::string screen = ClearScreen(traits_);
  const std::size_t first = page_ * page_rows_;
  const std::size_t last = std::min(first + page_rows_, lines_.size());
  for (std::size_t i = first; i < last; ++i) absl::StrAppend(&screen, lines_[i], "\r\n");
  absl::StrAppend(&screen, Status(), "\r\n",
                  std::string(size_.columns >= kWideColumns ? wide : narrow));
  co_await Write(std::move(screen));
}

asio::awaitable<void> TerminalDialogue::DrawStatus() {
  if (!traits_.escapes) co_return;
  const std::size_t rows = std::min(page_rows_, lines_.size() - page_ * page_rows_);
  std::string bytes = absl::StrCat(
      "\x1b"
      "7\x1b[",
      rows + 1, ";1H\x1b[2K", Status(),
      "\x1b"
      "8");
  co_await Write(std::move(bytes));
}

void TerminalDialogue::Measure() {
  size_ = terminal_.Size();
  Style style;
  // One column less: some terminals begin a new line as soon as the last column is written.
  style.columns = size_.columns - 1;
  style.color = traits_.color;
  style.charset = traits_.charset;
  style.words = Words::kExpanded;
  lines_ = RenderPreview(ticket_, style);
  page_rows_ = static_cast<std::size_t>(std::max(1, size_.rows - kFooterRows));
  page_ = 0;
}

void TerminalDialogue::DropTyped() {
  terminal_.Flush();
  buffered_ = used_ = 0;
}

std::string TerminalDialogue::Status() const {
  const std::int64_t left = std::max<std::int64_t>(0, ticket_.ask_deadline_ms - BoottimeMs());
  return absl::StrCat(page_ + 1, "/", PageCount(), "  ", left / 1000, " s left");
}

std::size_t TerminalDialogue::PageCount() const {
  return std::max<std::size_t>(1, (lines_.size() + page_rows_ - 1) / page_rows_);
}

TerminalDialogue::Next TerminalDialogue::Deny(std::string reason) const {
  Decision decision;
  decision.approver = kName;
  decision.reason = std::move(reason);
  decision.ticket_digest = TicketDigestHex(ticket_);
  return Next{std::move(decision)};
}

TerminalDialogue::Next TerminalDialogue::Fail(RefusalCode code, std::string reason) const {
  return Next{FailedDecision(code, kName, std::move(reason))};
}

}  // namespace warder::approval
