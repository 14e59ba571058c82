#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <functional>

#include "approval/approvers.h"
#include "tests/support/pseudo_terminal.h"
#include "tests/support/run_async.h"
#include "tests/support/sample_call.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temp_tree.h"

namespace warder::approval {
namespace {

using ::testing::HasSubstr;
using testing::PseudoTerminal;
using testing::RunAsync;
using testing::SampleTicket;

// Runs `body` in a session of its own, without a terminal, and returns what it returns.
int InNewSession(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int InNewProcessGroup(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// 0: a terminal; 1: kUnavailable because another job has it; 2: kUnavailable otherwise; 3: anything
// else.
int TryControllingTerminal() {
  const auto approver = MakeTerminalApprover("/dev/tty");
  if (approver.ok()) return 0;
  if (approver.status().code() != absl::StatusCode::kUnavailable) return 3;
  return approver.status().message().find("foreground") != absl::string_view::npos ? 1 : 2;
}

TEST(TerminalApprover, WithoutATerminalItIsUnavailable) {
  EXPECT_EQ(InNewSession(TryControllingTerminal), 2);
}

TEST(TerminalApprover, TheControllingTerminalIsUsedOnlyFromTheForeground) {
  asio::io_context loop;
  const PseudoTerminal terminal(loop, 24, 80);
  EXPECT_EQ(InNewSession([&] {
              const int fd = open(terminal.path().c_str(), O_RDWR | O_CLOEXEC);
              if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) != 0) return 100;
              if (TryControllingTerminal() != 0) return 101;
              return InNewProcessGroup(TryControllingTerminal);
            }),
            1);
}

TEST(TerminalApprover, AFileIsNoTerminal) {
  const testing::TempTree tree;
  const auto approver = MakeTerminalApprover(tree.Write("tty", ""));
  ASSERT_FALSE(approver.ok());
  EXPECT_EQ(approver.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(approver.status().message()), HasSubstr("is not a terminal"));
  EXPECT_FALSE(MakeTerminalApprover(tree.At("absent")).ok());
}

class AtATerminal : public ::testing::Test {
 protected:
  AtATerminal() : approver_(*MakeTerminalApprover(terminal_.path())) {}

  asio::awaitable<void> Ask(const Ticket& ticket, Decision* decision) {
    *decision = co_await approver_->Ask(ticket);
  }

  testing::ScopedEnvironment term_{"TERM", "xterm"};
  asio::io_context loop_;
  PseudoTerminal terminal_{loop_, 200, 100};
  std::unique_ptr<Approver> approver_;
};

TEST_F(AtATerminal, NamesItsDevice) {
  EXPECT_EQ(approver_->Name(), "terminal " + terminal_.path());
}

TEST_F(AtATerminal, ATerminalThatIsGoneByThenCannotBeAsked) {
  const testing::TempTree tree;
  const std::string link = tree.Link("tty", terminal_.path());
  const auto approver = *MakeTerminalApprover(link);
  ASSERT_EQ(unlink(link.c_str()), 0);
  const Decision decision = RunAsync(loop_, approver->Ask(SampleTicket()));
  EXPECT_TRUE(decision.failed);
  EXPECT_EQ(decision.failure, RefusalCode::kNoApprover);
}

TEST_F(AtATerminal, AnAskThatIsCancelledPutsTheTerminalBack) {
  using asio::experimental::awaitable_operators::operator||;
  const termios before = terminal_.Modes();
  Ticket ticket = SampleTicket();
  ticket.ask_deadline_ms = BoottimeMs() + 60'000;
  const auto race = [&]() -> asio::awaitable<std::size_t> {
    const auto first = co_await (approver_->Ask(ticket) || terminal_.Until("Read this first"));
    co_return first.index();
  };
  EXPECT_EQ(RunAsync(loop_, race()), 1u);
  EXPECT_EQ(terminal_.Modes().c_lflag, before.c_lflag);
  terminal_.Drain();
  EXPECT_THAT(terminal_.history(), HasSubstr("\x1b[?1049l"));
}

TEST_F(AtATerminal, OneTicketIsShownAtATimeInTheOrderOfTheAsks) {
  using asio::experimental::awaitable_operators::operator&&;
  Ticket first = SampleTicket();
  first.ask_deadline_ms = BoottimeMs() + 60'000;
  Ticket second = first;
  Ticket third = first;
  second.id[0] = third.id[1] = '!';
  const auto person = [&]() -> asio::awaitable<void> {
    for (const Ticket* ticket : {&first, &second, &third}) {
      EXPECT_TRUE(co_await terminal_.Until("Read this first"));
      EXPECT_THAT(terminal_.screen(), HasSubstr(TicketDigestHex(*ticket)));
      terminal_.Forget();
      terminal_.Type("\x03");
    }
  };
  Decision a, b, c;
  const auto all = [&]() -> asio::awaitable<int> {
    co_await (Ask(first, &a) && Ask(second, &b) && Ask(third, &c) && person());
    co_return 0;
  };
  RunAsync(loop_, all());
  EXPECT_EQ(a.ticket_digest, TicketDigestHex(first));
  EXPECT_EQ(b.ticket_digest, TicketDigestHex(second));
  EXPECT_EQ(c.ticket_digest, TicketDigestHex(third));
}

TEST_F(AtATerminal, ATicketThatIsCancelledInTheQueueLeavesItToTheNext) {
  using asio::experimental::awaitable_operators::operator&&;
  using asio::experimental::awaitable_operators::operator||;
  Ticket ticket = SampleTicket();
  ticket.ask_deadline_ms = BoottimeMs() + 60'000;
  std::size_t gave_up = 0;
  const auto impatient = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(loop_, std::chrono::milliseconds(20));
    const auto first = co_await (approver_->Ask(ticket) || timer.async_wait(asio::use_awaitable));
    gave_up = first.index();
  };
  const auto person = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(loop_, std::chrono::milliseconds(40));
    co_await timer.async_wait(asio::use_awaitable);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(co_await terminal_.Until("Read this first"));
      terminal_.Forget();
      terminal_.Type("\x03");
    }
  };
  Decision a, b;
  const auto all = [&]() -> asio::awaitable<int> {
    co_await (Ask(ticket, &a) && impatient() && Ask(ticket, &b) && person());
    co_return 0;
  };
  RunAsync(loop_, all());
  EXPECT_EQ(gave_up, 1u);
  EXPECT_THAT(a.reason, HasSubstr("Ctrl-C"));
  EXPECT_THAT(b.reason, HasSubstr("Ctrl-C"));
}

}  // namespace
}  // namespace warder::approval
