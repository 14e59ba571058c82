#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>

#include "approval/approvers.h"
#include "tests/support/pseudo_terminal.h"
#include "tests/support/run_async.h"
#include "tests/support/sample_call.h"
#include "tests/support/scoped_environment.h"

namespace warder::approval {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::PseudoTerminal;
using testing::RunAsync;
using testing::ScopedEnvironment;

constexpr const char* kQuestion = " and Enter.";

Ticket SmallTicket() {
  Ticket ticket;
  ticket.id = "0123456789abcdef";
  ticket.tool = "small";
  ticket.shown_argv = ticket.argv = {"/bin/true"};
  ticket.asked_at_ms = BoottimeMs();
  ticket.ask_deadline_ms = ticket.asked_at_ms + 60'000;
  return ticket;
}

bool SameModes(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
         a.c_lflag == b.c_lflag && std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

std::string WordAfter(const std::string& text, const std::string& mark, std::size_t size = 4) {
  const std::size_t at = text.rfind(mark);
  return at == std::string::npos ? "" : text.substr(at + mark.size(), size);
}

class Dialogue : public ::testing::Test {
 protected:
  using Person = std::function<asio::awaitable<void>()>;

  Decision Ask(const Ticket& ticket, Person person) {
    terminal_.Drain();
    terminal_.Forget();
    const termios before = terminal_.Modes();
    const absl::StatusOr<std::unique_ptr<Approver>> approver =
        MakeTerminalApprover(terminal_.path());
    EXPECT_TRUE(approver.ok()) << approver.status();
    Decision decision = RunAsync(loop_, Both(**approver, ticket, std::move(person)));
    EXPECT_TRUE(SameModes(terminal_.Modes(), before));
    return decision;
  }

  static asio::awaitable<Decision> Both(Approver& approver, const Ticket& ticket, Person person) {
    using asio::experimental::awaitable_operators::operator&&;
    co_return co_await (approver.Ask(ticket) && person());
  }

  // Waits for the question, then types what `keys` makes of the code.
  Person Answer(std::function<std::string(const std::string&)> keys) {
    return [this, keys]() -> asio::awaitable<void> {
      EXPECT_TRUE(co_await terminal_.Until(kQuestion));
      code_ = WordAfter(terminal_.screen(), "type ");
      terminal_.Type(keys(code_));
    };
  }
  Person Keys(const std::string& keys) {
    return Answer([keys](const std::string&) { return keys; });
  }

  ScopedEnvironment term_{"TERM", "xterm"}, locale_{"LC_ALL", "C.UTF-8"}, color_{"NO_COLOR", ""};
  asio::io_context loop_;
  PseudoTerminal terminal_{loop_, 100, 100};
  std::string code_;
};

TEST_F(Dialogue, TheRightCodeAllows) {
  const Ticket ticket = SmallTicket();
  const Decision decision =
      Ask(ticket, Answer([](const std::string& code) { return code + "\r"; }));
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_FALSE(decision.failed);
  EXPECT_EQ(decision.approver, "terminal");
  EXPECT_EQ(decision.ticket_digest, TicketDigestHex(ticket));
  EXPECT_EQ(code_.find_first_not_of("acefghjkmnpqrstuvwxyz"), std::string::npos) << code_;
}

TEST_F(Dialogue, ATypingMistakeCanBeTakenBack) {
  const Decision decision =
      Ask(SmallTicket(), Answer([](const std::string& code) { return "z\x7f" + code + "\r"; }));
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
}

TEST_F(Dialogue, EnterAloneDenies) {
  const Decision decision = Ask(SmallTicket(), Keys("\r"));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_FALSE(decision.failed);
}

TEST_F(Dialogue, TheKeyForDenyDenies) {
  EXPECT_EQ(Ask(SmallTicket(), Keys("d")).verdict, Verdict::kDeny);
}

TEST_F(Dialogue, AWrongCodeDenies) {
  const Decision decision = Ask(SmallTicket(), Answer([](std::string code) {
                                  code[3] = code[3] == 'a' ? 'c' : 'a';
                                  return code + "\r";
                                }));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_THAT(decision.reason, HasSubstr("wrong"));
}

TEST_F(Dialogue, AnUnfinishedCodeDenies) {
  EXPECT_EQ(
      Ask(SmallTicket(), Answer([](const std::string& code) { return code.substr(0, 3) + "\r"; }))
          .verdict,
      Verdict::kDeny);
}

TEST_F(Dialogue, WhatFollowsTheCodeDenies) {
  EXPECT_EQ(
      Ask(SmallTicket(), Answer([](const std::string& code) { return code + "a\r"; })).verdict,
      Verdict::kDeny);
}

TEST_F(Dialogue, YesIsNoAnswer) {
  const Decision decision = Ask(SmallTicket(), Keys("yes\r"));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_FALSE(decision.failed) << decision.reason;
}

TEST_F(Dialogue, ALetterThatNoCodeHoldsDenies) {
  const Decision decision = Ask(SmallTicket(), Keys("Y"));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_FALSE(decision.failed) << decision.reason;
}

TEST_F(Dialogue, WhatWasTypedAheadNeitherAllowsNorDenies) {
  terminal_.Type("acef\r");
  const Decision decision = Ask(SmallTicket(), [this]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await terminal_.Until("Read this first"));
    terminal_.Type("y\racef\rd \r");
    EXPECT_TRUE(co_await terminal_.Until(kQuestion));
    EXPECT_THAT(WordAfter(terminal_.screen(), "denies: ", 9), "");
    terminal_.Type(WordAfter(terminal_.screen(), "type ") + "\r");
  });
  EXPECT_EQ(decision.verdict, Verdict::kAllow) << decision.reason;
}

TEST_F(Dialogue, EachAskHasACodeOfItsOwn) {
  Ask(SmallTicket(), Keys("\r"));
  const std::string first = code_;
  EXPECT_EQ(Ask(SmallTicket(), Keys(first + "\r")).verdict, Verdict::kDeny);
}

TEST_F(Dialogue, ControlCDeniesEvenBeforeTheQuestion) {
  const Decision decision = Ask(SmallTicket(), [this]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await terminal_.Until("Read this first"));
    terminal_.Type("\x03");
  });
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_THAT(decision.reason, HasSubstr("Ctrl-C"));
}

TEST_F(Dialogue, EndOfFileFails) {
  const Decision decision = Ask(SmallTicket(), Keys("\x04"));
  EXPECT_TRUE(decision.failed);
  EXPECT_EQ(decision.failure, RefusalCode::kApproverError);
}

TEST_F(Dialogue, ALineThatGoesDeadFails) {
  const absl::StatusOr<std::unique_ptr<Approver>> approver = MakeTerminalApprover(terminal_.path());
  ASSERT_TRUE(approver.ok());
  const Ticket ticket = SmallTicket();
  const Decision decision =
      RunAsync(loop_, Both(**approver, ticket, [this]() -> asio::awaitable<void> {
                 EXPECT_TRUE(co_await terminal_.Until("Read this first"));
                 terminal_.HangUp();
               }));
  EXPECT_TRUE(decision.failed);
  EXPECT_EQ(decision.failure, RefusalCode::kApproverError);
  EXPECT_THAT(decision.reason, HasSubstr("closed"));
}

TEST_F(Dialogue, SignalsDeny) {
  for (const int number : {SIGINT, SIGTERM}) {
    const Decision decision = Ask(SmallTicket(), [this, number]() -> asio::awaitable<void> {
      EXPECT_TRUE(co_await terminal_.Until("Read this first"));
      std::raise(number);
    });
    EXPECT_EQ(decision.verdict, Verdict::kDeny);
    EXPECT_FALSE(decision.failed);
  }
}

TEST_F(Dialogue, AHangupFails) {
  const Decision decision = Ask(SmallTicket(), [this]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await terminal_.Until("Read this first"));
    std::raise(SIGHUP);
  });
  EXPECT_TRUE(decision.failed);
}

TEST_F(Dialogue, TheDeadlineFailsWithItsOwnCode) {
  Ticket ticket = SmallTicket();
  ticket.ask_deadline_ms = BoottimeMs() + 50;
  const Decision decision = Ask(ticket, [this]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await terminal_.Until("Read this first"));
  });
  EXPECT_TRUE(decision.failed);
  EXPECT_EQ(decision.failure, RefusalCode::kAskTimeout);
}

TEST_F(Dialogue, TheTimeThatIsLeftIsShown) {
  Ask(SmallTicket(), Keys("d"));
  EXPECT_THAT(terminal_.screen(), ::testing::ContainsRegex("1/1  5[0-9] s left"));
}

TEST_F(Dialogue, NoEscapeOnTheScreenComesFromTheTicket) {
  Ticket ticket = SmallTicket();
  const std::string attack =
      "\x1b[2K\r\x1b[1A\x1b]52;c;aGk=\x07\n\xc2\x9b"
      "2J\x7f";
  for (std::string* text :
       {&ticket.tool, &ticket.description, &ticket.cwd_path, &ticket.input, &ticket.shown_argv[0],
        &ticket.argv[0], &ticket.tool_source, &ticket.workspace_path, &ticket.requester.via}) {
    *text += attack;
  }
  Ask(ticket, Keys("d"));
  terminal_.Drain();
  std::string screen = terminal_.history();
  EXPECT_THAT(screen, HasSubstr("\\x1b[2K"));
  for (const std::string own :
       {"\x1b[0m", "\x1b[1m", "\x1b[33m", "\x1b(B", "\x0f", "\x1b[?7h", "\x1b[?25h", "\x1b[?1000l",
        "\x1b[?2004l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[2J", "\x1b[H", "\r", "\n"}) {
    for (std::size_t at; (at = screen.find(own)) != std::string::npos;)
      screen.erase(at, own.size());
  }
  EXPECT_TRUE(
      std::all_of(screen.begin(), screen.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
}

TEST_F(Dialogue, TheValuesOfVariablesAreShownToWhoeverDecides) {
  Ticket ticket = SmallTicket();
  ticket.stored_argv = {"${PROGRAM}"};
  ticket.argv_holds_variables = true;
  Ask(ticket, Keys("d"));
  EXPECT_THAT(terminal_.screen(), HasSubstr("\"/bin/true\""));
  EXPECT_THAT(terminal_.screen(), HasSubstr("\"${PROGRAM}\""));
}

TEST_F(Dialogue, ColourIsLeftOutWhereTheOperatorDoesNotWantIt) {
  Ask(SmallTicket(), Keys("d"));
  EXPECT_THAT(terminal_.screen(), HasSubstr("\x1b[1m"));
  const ScopedEnvironment no_color("NO_COLOR", "1");
  Ask(SmallTicket(), Keys("d"));
  EXPECT_THAT(terminal_.screen(), Not(HasSubstr("\x1b[1m")));
}

TEST_F(Dialogue, ADumbTerminalGetsNoEscapesAtAll) {
  const ScopedEnvironment dumb("TERM", "dumb");
  Ask(SmallTicket(), Keys("d"));
  terminal_.Drain();
  EXPECT_THAT(terminal_.history(), Not(HasSubstr("\x1b")));
}

class SmallScreen : public Dialogue {
 protected:
  SmallScreen() { terminal_.Resize(12, 80); }
};

TEST_F(SmallScreen, TheQuestionIsNotThereBeforeTheLastPageWasShown) {
  const Ticket ticket = SmallTicket();
  int pages = 0;
  const Decision decision = Ask(ticket, [&]() -> asio::awaitable<void> {
    while (true) {
      EXPECT_TRUE(co_await terminal_.Until(" s left\r\n"));
      ++pages;
      const bool more = co_await terminal_.Until(": ");
      EXPECT_TRUE(more);
      if (terminal_.screen().find("Space: next") == std::string::npos) break;
      EXPECT_THAT(terminal_.screen(), Not(HasSubstr("To allow")));
      terminal_.Forget();
      terminal_.Type(" ");
    }
    EXPECT_TRUE(co_await terminal_.Until(kQuestion));
    terminal_.Type(WordAfter(terminal_.screen(), "type ") + "\r");
  });
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_GE(pages, 3);
  EXPECT_THAT(terminal_.history(), HasSubstr(TicketDigestHex(ticket)));
  EXPECT_THAT(terminal_.history(), HasSubstr("\"small\""));
}

TEST_F(SmallScreen, AKeyWithoutAMeaningDenies) {
  for (const char* key : {"\r", "d", "y", "\x1b[B"}) {
    const Decision decision = Ask(SmallTicket(), [&]() -> asio::awaitable<void> {
      EXPECT_TRUE(co_await terminal_.Until("Space: next"));
      terminal_.Type(key);
    });
    EXPECT_EQ(decision.verdict, Verdict::kDeny);
    EXPECT_FALSE(decision.failed);
  }
}

TEST_F(SmallScreen, PagesGoBack) {
  Ask(SmallTicket(), [&]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await terminal_.Until("1/"));
    EXPECT_TRUE(co_await terminal_.Until("Space: next"));
    terminal_.Type(" ");
    EXPECT_TRUE(co_await terminal_.Until("2/"));
    terminal_.Forget();
    terminal_.Type("b");
    EXPECT_TRUE(co_await terminal_.Until("1/"));
    terminal_.Type("d");
  });
}

TEST_F(SmallScreen, AResizeBeginsAgainAtTheFirstPage) {
  const Decision decision = Ask(SmallTicket(), [&]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await terminal_.Until("Space: next"));
    terminal_.Type(" ");
    EXPECT_TRUE(co_await terminal_.Until("2/"));
    terminal_.Forget();
    terminal_.Resize(100, 100);
    std::raise(SIGWINCH);
    EXPECT_TRUE(co_await terminal_.Until("1/1"));
    EXPECT_TRUE(co_await terminal_.Until(kQuestion));
    terminal_.Type("d");
  });
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
}

TEST_F(SmallScreen, FiveRowsOfTwentyColumnsAreEnough) {
  terminal_.Resize(5, 20);
  const ScopedEnvironment dumb("TERM", "dumb");
  const Decision decision = Ask(SmallTicket(), [&]() -> asio::awaitable<void> {
    while (true) {
      EXPECT_TRUE(co_await terminal_.Until(" s left\r\n"));
      EXPECT_TRUE(co_await terminal_.Until("t"));
      terminal_.Drain();
      if (terminal_.screen().find("d: deny") == std::string::npos) break;
      terminal_.Forget();
      terminal_.Type(" ");
    }
    EXPECT_TRUE(co_await terminal_.Until("type "));
    EXPECT_TRUE(co_await terminal_.Until(": "));
    terminal_.Type(WordAfter(terminal_.screen(), "type ") + "\r");
  });
  EXPECT_EQ(decision.verdict, Verdict::kAllow) << decision.reason;
  std::size_t start = 0;
  const std::string& all = terminal_.history();
  for (std::size_t end; (end = all.find("\r\n", start)) != std::string::npos; start = end + 2) {
    EXPECT_LE(end - start, 20u) << all.substr(start, end - start);
  }
}

}  // namespace
}  // namespace warder::approval
