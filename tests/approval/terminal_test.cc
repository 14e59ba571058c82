#include "approval/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <asio/io_context.hpp>

#include "tests/support/pseudo_terminal.h"
#include "tests/support/scoped_environment.h"

namespace warder::approval {
namespace {

using testing::PseudoTerminal;
using testing::ScopedEnvironment;

TEST(TerminalTraits, AreReadFromTheEnvironment) {
  const ScopedEnvironment term("TERM", "xterm-256color");
  const ScopedEnvironment color("NO_COLOR", nullptr);
  const ScopedEnvironment all("LC_ALL", nullptr);
  const ScopedEnvironment ctype("LC_CTYPE", nullptr);
  const ScopedEnvironment lang("LANG", "de_DE.utf8");
  EXPECT_TRUE(ReadTerminalTraits().escapes);
  EXPECT_TRUE(ReadTerminalTraits().color);
  EXPECT_EQ(ReadTerminalTraits().charset, Charset::kUtf8);
  const ScopedEnvironment latin("LC_ALL", "de_DE.ISO-8859-1");
  EXPECT_EQ(ReadTerminalTraits().charset, Charset::kAscii);
  const ScopedEnvironment plain("NO_COLOR", "1");
  EXPECT_FALSE(ReadTerminalTraits().color);
  EXPECT_TRUE(ReadTerminalTraits().escapes);
}

TEST(TerminalTraits, AnUnknownTerminalGetsTheLeast) {
  const ScopedEnvironment term("TERM", nullptr);
  const ScopedEnvironment all("LC_ALL", nullptr);
  const ScopedEnvironment ctype("LC_CTYPE", nullptr);
  const ScopedEnvironment lang("LANG", nullptr);
  EXPECT_FALSE(ReadTerminalTraits().escapes);
  EXPECT_FALSE(ReadTerminalTraits().color);
  EXPECT_EQ(ReadTerminalTraits().charset, Charset::kAscii);
  EXPECT_EQ(ClearScreen(ReadTerminalTraits()).find('\x1b'), std::string::npos);
}

TEST(Terminal, TakesKeysOneByOneAndPutsTheModesBack) {
  asio::io_context loop;
  const PseudoTerminal pseudo(loop, 30, 90);
  const termios before = pseudo.Modes();
  {
    absl::StatusOr<sandbox::UniqueFd> fd = OpenTerminal(pseudo.path());
    ASSERT_TRUE(fd.ok()) << fd.status();
    const absl::StatusOr<Terminal> terminal = Terminal::Take(*std::move(fd), {});
    ASSERT_TRUE(terminal.ok()) << terminal.status();
    EXPECT_EQ(pseudo.Modes().c_lflag & static_cast<tcflag_t>(ICANON | ECHO | ISIG), 0u);
    EXPECT_EQ(terminal->Size().rows, 30);
    EXPECT_EQ(terminal->Size().columns, 90);
  }
  EXPECT_EQ(pseudo.Modes().c_lflag, before.c_lflag);
  EXPECT_EQ(pseudo.Modes().c_iflag, before.c_iflag);
}

TEST(Terminal, SizesThatATerminalCannotHaveAreBounded) {
  asio::io_context loop;
  PseudoTerminal pseudo(loop, 0, 0);
  absl::StatusOr<sandbox::UniqueFd> fd = OpenTerminal(pseudo.path());
  ASSERT_TRUE(fd.ok());
  const absl::StatusOr<Terminal> terminal = Terminal::Take(*std::move(fd), {});
  ASSERT_TRUE(terminal.ok());
  EXPECT_EQ(terminal->Size().rows, 24);
  EXPECT_EQ(terminal->Size().columns, 80);
  pseudo.Resize(60'000, 60'000);
  EXPECT_EQ(terminal->Size().rows, 1'000);
  EXPECT_EQ(terminal->Size().columns, 400);
  pseudo.Resize(1, 1);
  EXPECT_EQ(terminal->Size().rows, 1);
  EXPECT_EQ(terminal->Size().columns, 20);
}

TEST(Terminal, TheBytesOfANullDeviceAreNoTerminal) {
  EXPECT_EQ(OpenTerminal("/dev/null").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(Terminal::Take(sandbox::UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC)), {}).ok());
}

}  // namespace
}  // namespace warder::approval
