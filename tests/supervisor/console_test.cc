#include "supervisor/console.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "sandbox/unique_fd.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read.Reset(ends[0]);
    write.Reset(ends[1]);
  }
  UniqueFd read, write;
};

TEST(WriteAll, WritesEverythingToASlowReaderOfANonBlockingPipe) {
  Pipe pipe;
  ASSERT_GT(::fcntl(pipe.write.get(), F_SETPIPE_SZ, 4096), 0);
  ASSERT_EQ(::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string sent(200'141, 'x');
  std::string received;
  std::thread reader([&] { received = *ReadUpTo(pipe.read.get(), 1u << 20); });
  EXPECT_TRUE(WriteAll(pipe.write.get(), sent).ok());
  pipe.write.Reset();
  reader.join();
  EXPECT_EQ(received, sent);
}

TEST(WriteAll, TellsThatItsReaderIsGone) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.read.Reset();
  EXPECT_TRUE(absl::IsCancelled(WriteAll(pipe.write.get(), "x")));
}

TEST(WriteAll, TellsThatNoSpaceIsLeft) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(absl::IsResourceExhausted(WriteAll(full.get(), "x")));
}

TEST(ReadUpTo, ReadsOneByteMoreThanTheLimitSoThatMoreCanBeSeen) {
  Pipe pipe;
  ASSERT_TRUE(WriteAll(pipe.write.get(), "0123456789").ok());
  EXPECT_EQ(*ReadUpTo(pipe.read.get(), 4), "01234");
}

TEST(ReadUpTo, AnUnreadableDescriptorIsAnError) {
  const UniqueFd directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(ReadUpTo(directory.get(), 4).ok());
}

TEST(SafeText, KeepsTheLayoutOfHarmlessText) {
  const std::string text = "File \"x.py\", line 3\n    raise C:\\dir\\name\n\tdone \xc3\xa9\n";
  EXPECT_EQ(SafeText(text), text);
}

TEST(SafeText, ShowsWhatATerminalWouldActOn) {
  const std::string safe = SafeText(
      "a\x1b[2Jb \x07 \xc2\x9b"
      "c\x7f \xe2\x80\xae");
  for (const char c : safe) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
  EXPECT_THAT(safe, HasSubstr("[2Jb"));
}

TEST(SafeText, DoesNothingTheSecondTime) {
  const std::string once = SafeText("a\x1b[2J\\b\n");
  EXPECT_EQ(SafeText(once), once);
}

TEST(SafeLine, StaysOneLine) {
  const std::string line = SafeLine("bad\nwarder: all is well\t");
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\t'), std::string::npos);
}

TEST(Wrap, BreaksAtSpacesAndDividesLongWords) {
  EXPECT_THAT(Wrap("aa bb cc", 5), ElementsAre("aa bb", "cc"));
  EXPECT_THAT(Wrap("abcdefgh ij", 5), ElementsAre("abcde", "fgh", "ij"));
  EXPECT_THAT(Wrap("", 5), ElementsAre(""));
}

TEST(Table, AlignsColumnsAndWrapsTheLast) {
  Table table({"A", "LONGER", "TEXT"});
  table.Add({"one", "x", "some words that do not fit into what is left of forty columns"});
  EXPECT_EQ(table.Render(40),
            "A    LONGER  TEXT\n"
            "one  x       some words that do not fit\n"
            "             into what is left of forty\n"
            "             columns\n");
}

TEST(Table, AHostileCellCannotDrawARowOfItsOwn) {
  Table table({"TOOL", "DESCRIPTION"});
  table.Add({"t", "harmless\r\n\x1b[1Aforged"});
  const std::string text = table.Render(80);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(Terminal, APipeHasEightyColumnsAndNoColour) {
  const Pipe pipe;
  EXPECT_EQ(TerminalColumns(pipe.write.get()), 80);
  EXPECT_FALSE(WantsColor(pipe.write.get()));
}

TEST(Terminal, NoColorTurnsColoursOff) {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(master.ok());
  ASSERT_EQ(::setenv("TERM", "xterm", 1), 0);
  ASSERT_EQ(::unsetenv("NO_COLOR"), 0);
  EXPECT_TRUE(WantsColor(master.get()));
  ASSERT_EQ(::setenv("NO_COLOR", "1", 1), 0);
  EXPECT_FALSE(WantsColor(master.get()));
  ASSERT_EQ(::setenv("NO_COLOR", "", 1), 0);
  ASSERT_EQ(::setenv("TERM", "dumb", 1), 0);
  EXPECT_FALSE(WantsColor(master.get()));
}

}  // namespace
}  // namespace warder::supervisor
