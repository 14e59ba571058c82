#include <gtest/gtest.h>
#include <unicode/utf8.h>

#include <map>
#include <random>
#include <string>

#include "approval/preview.h"
#include "approval/visible_units.h"

namespace warder::approval {
namespace {

using std::string_literals::operator""s;

std::string Encode(UChar32 c) {
  std::string text(4, '\0');
  std::int32_t size = 0;
  auto* bytes = reinterpret_cast<std::uint8_t*>(text.data());
  U8_APPEND_UNSAFE(bytes, size, c);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

bool HasTerminalByte(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    UChar32 c = 0;
    U8_NEXT(reinterpret_cast<const std::uint8_t*>(text.data()), at, text.size(), c);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return true;  // negative: not UTF-8
  }
  return false;
}

TEST(Visible, PlainTextStaysAsItIs) {
  EXPECT_EQ(Visible("git log --oneline -- src/a.cc"), "git log --oneline -- src/a.cc");
  EXPECT_EQ(Visible("na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac \xce\xb1\xce\xb2"),
            "na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac \xce\xb1\xce\xb2");
  EXPECT_EQ(Visible(""), "");
}

TEST(Visible, EscapeSequencesAreShownAndNotSent) {
  EXPECT_EQ(Visible("ok\x1b[2K\r\x1b[1A"), "ok\\x1b[2K\\r\\x1b[1A");
  EXPECT_EQ(Visible("\x1b]52;c;aGk=\x07"), "\\x1b]52;c;aGk=\\x07");
  EXPECT_EQ(Visible("a\0b\x7f"s), "a\\x00b\\x7f");
  EXPECT_EQ(Visible("a\nb\tc"), "a\\nb\\tc");
}

TEST(Visible, C1ControlsAreShownAsCodePointsAndAsStrayBytes) {
  EXPECT_EQ(Visible("\xc2\x9b"
                    "2K"),
            "\\u{9b}2K");
  EXPECT_EQ(Visible("\x9b"
                    "2K"),
            "\\x9b2K");
}

TEST(Visible, BidiControlsAndRightToLeftLettersAreShown) {
  EXPECT_EQ(Visible("a\xe2\x80\xae"
                    "b"),
            "a\\u{202e}b");
  EXPECT_EQ(Visible("\xe2\x81\xa6x\xe2\x81\xa9"), "\\u{2066}x\\u{2069}");
  EXPECT_EQ(Visible("\xd7\x90/1"), "\\u{5d0}/1");
  EXPECT_EQ(Visible("\xd8\xb4"), "\\u{634}");
}

TEST(Visible, InvisibleCharactersAreShown) {
  const std::map<UChar32, std::string> hidden = {
      {0x00a0, "\\u{a0}"},     {0x00ad, "\\u{ad}"},     {0x034f, "\\u{34f}"},
      {0x115f, "\\u{115f}"},   {0x2003, "\\u{2003}"},   {0x200b, "\\u{200b}"},
      {0x200d, "\\u{200d}"},   {0x2028, "\\u{2028}"},   {0x2060, "\\u{2060}"},
      {0x2800, "\\u{2800}"},   {0x3000, "\\u{3000}"},   {0x3164, "\\u{3164}"},
      {0xfe0f, "\\u{fe0f}"},   {0xfeff, "\\u{feff}"},   {0xfffd, "\\u{fffd}"},
      {0xe000, "\\u{e000}"},   {0x0378, "\\u{378}"},    {0xffff, "\\u{ffff}"},
      {0xe0041, "\\u{e0041}"}, {0xe0100, "\\u{e0100}"}, {0x10fffd, "\\u{10fffd}"},
  };
  for (const auto& [c, shown] : hidden)
    EXPECT_EQ(Visible("a" + Encode(c) + "b"), "a" + shown + "b");
}

TEST(Visible, RunsOfSpacesAreCounted) {
  EXPECT_EQ(Visible("a b"), "a b");
  EXPECT_EQ(Visible("a   b"), "a[3 spaces]b");
  EXPECT_EQ(Visible(std::string(5000, ' ') + "; curl"), "[5000 spaces]; curl");
}

TEST(Visible, ACountOfSpacesCannotBeForged) {
  EXPECT_EQ(Visible("a[3 spaces]b"), "a\\[3 spaces]b");
  EXPECT_EQ(Visible("a[x spaces]b"), "a[x spaces]b");
  EXPECT_EQ(Visible("\\x1b"), "\\\\x1b");
}

TEST(Visible, MarksStayOnLettersThatNeedThemAndNowhereElse) {
  const std::string thai = "\xe0\xb8\x81\xe0\xb8\xb4\xe0\xb9\x88";  // a letter with two marks
  EXPECT_EQ(Visible(thai), thai);
  EXPECT_EQ(Visible("\xcc\x81"), "\\u{301}");         // on nothing
  EXPECT_EQ(Visible("/\xcc\xb8"), "/\\u{338}");       // on a sign
  EXPECT_EQ(Visible("a\xe2\x83\x9d"), "a\\u{20dd}");  // a circle around the letter
}

TEST(Visible, StackedMarksAreShownFromTheFourthOn) {
  const std::string mark = "\xcc\x8d";  // composes with nothing
  EXPECT_EQ(Visible("x" + mark + mark + mark + mark), "x" + mark + mark + mark + "\\u{30d}");
}

TEST(Visible, SecondSpellingsOfOneCharacterAreShown) {
  EXPECT_EQ(Visible("e\xcc\x81"), "e\\u{301}");
  EXPECT_EQ(Visible("\xe2\x84\xaa"), "\\u{212a}");  // Kelvin sign
  EXPECT_EQ(Visible("\xe1\x84\x80\xe1\x85\xa1"), "\xe1\x84\x80\\u{1161}");
}

TEST(Visible, InvalidUtf8IsShownByteForByte) {
  EXPECT_EQ(Visible("a\xff\xfe"
                    "b"),
            "a\\xff\\xfeb");
  EXPECT_EQ(Visible("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(Visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(Visible("\xc0\xaf"), "\\xc0\\xaf");           // overlong
}

TEST(Visible, AsciiTerminalsGetOnlyAscii) {
  EXPECT_EQ(Visible("\xe4\xb9\x9b", Charset::kAscii), "\\u{4e5b}");  // holds the byte 0x9b
  EXPECT_EQ(Quoted("\xc3\xa9\"", Charset::kAscii), "\"\\u{e9}\\\"\"");
}

TEST(Quoted, QuotesAndBackslashesAreEscaped) {
  EXPECT_EQ(Quoted("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted(" "), "\" \"");
}

TEST(Visible, EveryCodePointIsEitherHarmlessOrEscaped) {
  // Beyond plane 2 and plane 14 there is nothing but unassigned and private-use code points: a
  // sample is enough.
  for (UChar32 block = 0; block <= 0x10ffff; block += block < 0x30000 ? 0x100 : 0x1000) {
    std::string text;
    for (UChar32 c = block; c < block + 0x100; ++c) {
      if (!U_IS_SURROGATE(c)) text += "a" + Encode(c);
    }
    ASSERT_FALSE(HasTerminalByte(Visible(text))) << std::hex << block;
  }
}

TEST(Visible, RandomBytesNeverLeaveATerminalByteAndNeverCollide) {
  std::mt19937 random(7);  // NOLINT: the same cases in every run
  const std::string alphabet = "a [3spac]\\x1b\x1b\xc2\x9b\xff\xcc\x81\"n\n{}u"s;
  std::map<std::string, std::string> seen;
  for (int i = 0; i < 5'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += alphabet[random() % alphabet.size()];
    const std::string shown = Visible(text);
    ASSERT_FALSE(HasTerminalByte(shown));
    const auto [place, fresh] = seen.emplace(shown, text);
    ASSERT_TRUE(fresh || place->second == text) << shown;
  }
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("\xe6\x97\xa5\xe6\x9c\xac"), 4u);
  EXPECT_EQ(DisplayWidth("\xe0\xb8\x81\xe0\xb8\xb4\xe0\xb9\x88"), 1u);
  EXPECT_EQ(DisplayWidth("\xf0\x9f\x98\x80"), 2u);
  EXPECT_EQ(DisplayWidth("\\u{202e}"), 8u);
}

TEST(NextUnit, EscapesAndCountsAreWhole) {
  EXPECT_EQ(NextUnit("\\x1bz").bytes, 4u);
  EXPECT_EQ(NextUnit("\\u{10fffd}z").bytes, 10u);
  EXPECT_EQ(NextUnit("\\\\x1b").bytes, 2u);
  EXPECT_EQ(NextUnit("[12 spaces]z").bytes, 11u);
  EXPECT_EQ(NextUnit("[12 space").bytes, 1u);
  EXPECT_EQ(NextUnit("\\").bytes, 1u);
  EXPECT_EQ(NextUnit("\\u{12").bytes, 5u);
}

}  // namespace
}  // namespace warder::approval
