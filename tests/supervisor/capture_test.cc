#include "supervisor/capture.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace warder::supervisor {
namespace {

std::string Numbered(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('0' + (i / 3 + i) % 75);
  return text;
}

// `text` in pieces of `piece` bytes.
Captured Keep(std::uint64_t limit, const std::string& text, std::size_t piece) {
  HeadTail kept(limit);
  for (std::size_t i = 0; i < text.size(); i += piece) kept.Add(text.substr(i, piece));
  return kept.Take();
}

TEST(Capture, WhatFitsIsKeptWhole) {
  for (const std::size_t size : {0U, 1U, 9U, 10U}) {
    const Captured captured = Keep(10, Numbered(size), 3);
    EXPECT_EQ(captured.head + captured.tail, Numbered(size));
    EXPECT_EQ(captured.total_bytes, size);
    EXPECT_FALSE(captured.truncated());
  }
}

TEST(Capture, WhatDoesNotFitKeepsItsHeadAndItsTailWhateverThePieces) {
  for (const std::uint64_t limit : {1u, 2u, 7u, 10u, 64u}) {
    for (const std::size_t piece : {1u, 2u, 3u, 5u, 7u, 31u, 200u}) {
      for (const std::size_t size : {65u, 66u, 99u, 100u}) {
        const std::string text = Numbered(size);
        const Captured captured = Keep(limit, text, piece);
        EXPECT_EQ(captured.head, text.substr(0, limit - limit / 2));
        EXPECT_EQ(captured.tail, text.substr(size - limit / 2));
        EXPECT_EQ(captured.total_bytes, size);
        EXPECT_TRUE(captured.truncated());
      }
    }
  }
}

TEST(Capture, ALimitOfZeroKeepsNothingAndCountsAll) {
  const Captured captured = Keep(0, Numbered(1000), 7);
  EXPECT_EQ(captured.head + captured.tail, "");
  EXPECT_EQ(captured.total_bytes, 1000u);
}

TEST(Capture, MemoryStaysWithinTheLimitAndGrowsWithWhatArrives) {
  constexpr std::uint64_t kLimit = 100'000;
  HeadTail kept(kLimit);
  for (int i = 0; i < 1000; ++i) kept.Add(Numbered(1000));
  const Captured full = kept.Take();
  EXPECT_LE(full.head.capacity() + full.tail.capacity(), kLimit);
  EXPECT_EQ(full.total_bytes, 1'000'000u);

  HeadTail little(std::uint64_t{1} << 62);
  little.Add(Numbered(1000));
  EXPECT_LE(little.Take().head.capacity(), 2000u);
}

TEST(Capture, TakingStartsANewStream) {
  HeadTail kept(4);
  kept.Add("abcdef");
  kept.Take();
  kept.Add("xy");
  const Captured second = kept.Take();
  EXPECT_EQ(second.head, "xy");
  EXPECT_EQ(second.total_bytes, 2u);
}

TEST(TrimToCharacters, RemovesThePiecesOfACharacterThatACutSplit) {
  const std::string text =
      "a\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9z";  // a, euro sign, emoji, e acute, z
  const std::size_t starts[] = {0, 1, 4, 8, 10, 11};
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    std::string_view head = std::string_view(text).substr(0, cut);
    std::string_view tail = std::string_view(text).substr(cut);
    TrimToCharacters(head, tail);
    std::size_t before = 0, after = text.size();
    for (const std::size_t start : starts) {
      if (start <= cut) before = start;
      if (start >= cut) after = std::min(after, start);
    }
    EXPECT_EQ(head, text.substr(0, before)) << cut;
    EXPECT_EQ(tail, text.substr(after)) << cut;
  }
}

TEST(TrimToCharacters, TakesAtMostThreeBytesOfWhatIsNoText) {
  const std::string garbage(100, '\x80');
  std::string_view head = garbage, tail = garbage;
  TrimToCharacters(head, tail);
  EXPECT_GE(head.size(), 97u);
  EXPECT_EQ(tail.size(), 97u);
}

}  // namespace
}  // namespace warder::supervisor
