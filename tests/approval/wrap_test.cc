#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "approval/preview.h"
#include "approval/visible_units.h"

namespace warder::approval {
namespace {

using ::testing::ElementsAre;

std::string Joined(const std::vector<std::string>& lines, std::size_t prefix) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t skip = i == 0 ? std::min(prefix, lines[0].size()) : kContinuation.size();
    text += lines[i].substr(skip);
  }
  return text;
}

TEST(Wrap, ShortTextIsOneLine) {
  EXPECT_THAT(Wrap("cwd: ", "\"/ws\"", 20), ElementsAre("cwd: \"/ws\""));
  EXPECT_THAT(Wrap("cwd: ", "", 20), ElementsAre("cwd:"));
}

TEST(Wrap, BreaksBeforeASpaceWhereOneIsNear) {
  EXPECT_THAT(Wrap("", "one two three four five", 20),
              ElementsAre("one two three four", "  | five"));
}

TEST(Wrap, BreaksAWordThatIsLongerThanTheLine) {
  EXPECT_THAT(Wrap("x: ", "abcdefghijklmnopqrstuvwxyz", 20),
              ElementsAre("x: abcdefghijklmnopq", "  |rstuvwxyz"));
}

TEST(Wrap, EscapesStayWhole) {
  EXPECT_THAT(Wrap("", "abcdefghijklmnop\\u{202e}z", 20),
              ElementsAre("abcdefghijklmnop", "  |\\u{202e}z"));
  EXPECT_THAT(Wrap("", "abcdefghijklmnopqrs\\\\", 20),
              ElementsAre("abcdefghijklmnopqrs", "  |\\\\"));
}

TEST(Wrap, ALineNeverEndsInASpace) {
  EXPECT_THAT(Wrap("", "abcdefghijklmnopqrs tuv", 20),
              ElementsAre("abcdefghijklmnopqrs", "  | tuv"));
}

TEST(Wrap, WideCharactersDoNotOverflow) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "\xe6\x97\xa5";
  for (const std::string& line : Wrap("  ", text, 21)) EXPECT_LE(DisplayWidth(line), 21u);
}

TEST(Wrap, NothingIsDroppedOrAddedAtAnyWidth) {
  const std::string raw =
      "rm \x1b[2K  -rf   /  a b c d e f\xe2\x80\xae \xe6\x97\xa5\xe6\x9c\xac [3 spaces] "
      "verylongwordverylongwordverylongword \\ \xff" +
      std::string(70'000, ' ') + "tail";
  const std::string text = Quoted(raw);
  for (std::size_t columns = 20; columns < 120; ++columns) {
    const std::vector<std::string> lines = Wrap("  [12] ", text, columns);
    EXPECT_EQ(Joined(lines, 7), text) << columns;
    for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), columns) << line;
  }
}

}  // namespace
}  // namespace warder::approval
