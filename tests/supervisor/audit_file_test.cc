#include "supervisor/audit_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempTree;

UniqueFd OpenLog(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

// `count` chained lines.
std::string Lines(std::size_t count, ChainLink& last, std::size_t padding = 0) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    ChainLink next;
    lines +=
        *ChainLine(last, absl::Now(), {{"event", "x"}, {"pad", std::string(padding, 'p')}}, next);
    last = next;
  }
  return lines;
}

absl::StatusOr<AuditTail> TailOf(const std::string& bytes) {
  const TempTree tree;
  const std::string path = tree.Write("log", bytes);
  return ReadAuditTail(OpenLog(path), path);
}

std::vector<std::string> Kinds(const std::string& bytes) {
  const TempTree tree;
  const UniqueFd fd = OpenLog(tree.Write("log", bytes));
  AuditLines lines(fd.get(), bytes.size());
  std::vector<std::string> found;
  for (;;) {
    std::string_view line;
    const AuditLines::Kind kind = lines.Next(line).value();
    const std::string text = line.size() > 20 ? std::to_string(line.size()) : std::string(line);
    if (kind == AuditLines::Kind::kEnd) return found;
    if (kind == AuditLines::Kind::kLine) found.push_back("line " + text);
    if (kind == AuditLines::Kind::kTorn) found.push_back("torn " + text);
    if (kind == AuditLines::Kind::kTooLong) found.push_back("too long");
  }
}

TEST(AuditFile, TheTailOfAnEmptyLogIsThePlaceBeforeTheFirstRecord) {
  const auto tail = TailOf("");
  ASSERT_TRUE(tail.ok()) << tail.status();
  EXPECT_EQ(tail->last.sequence, 0u);
  EXPECT_EQ(tail->end, 0u);
  EXPECT_EQ(tail->torn, "");
}

TEST(AuditFile, TheTailIsTheLastRecordWhateverItsLengthAndPlace) {
  for (const std::size_t padding : {0U, 65'400U, 100'000U}) {
    for (const std::size_t count : {1U, 3U}) {
      ChainLink last;
      const std::string lines = Lines(count, last, padding);
      const auto tail = TailOf(lines);
      ASSERT_TRUE(tail.ok()) << tail.status();
      EXPECT_EQ(tail->last.sequence, count);
      EXPECT_EQ(tail->last.hash, last.hash);
      EXPECT_EQ(tail->end, lines.size());
    }
  }
}

TEST(AuditFile, BytesAfterTheLastLineAreTorn) {
  ChainLink last;
  const std::string lines = Lines(2, last);
  const auto tail = TailOf(lines + R"({"seq":3,"ti)");
  ASSERT_TRUE(tail.ok()) << tail.status();
  EXPECT_EQ(tail->end, lines.size());
  EXPECT_EQ(tail->last.sequence, 2u);
  EXPECT_EQ(tail->torn, R"({"seq":3,"ti)");
}

TEST(AuditFile, ALogOfOneTornLineHasNoRecord) {
  const auto tail = TailOf(R"({"seq":1)");
  ASSERT_TRUE(tail.ok()) << tail.status();
  EXPECT_EQ(tail->end, 0u);
  EXPECT_EQ(tail->torn, R"({"seq":1)");
}

TEST(AuditFile, ADamagedLastRecordIsAnErrorThatNamesFileAndRemedy) {
  ChainLink last;
  std::string lines = Lines(2, last);
  lines[lines.size() - 5] ^= 1;
  const auto tail = TailOf(lines);
  EXPECT_EQ(tail.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(tail.status().message()), HasSubstr("warder audit verify"));
  EXPECT_EQ(TailOf("\n").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(TailOf("not a log\n").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(AuditFile, ALastLineBeyondTheLimitIsAnError) {
  EXPECT_EQ(TailOf(std::string(3 * kMaxAuditLineBytes, 'x')).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(AuditFile, LinesComeOneByOneAcrossReads) {
  const std::string a(65'530, 'a'), b(65'530, 'b');
  EXPECT_THAT(Kinds(a + "\n\n" + b + "\nend\n"),
              ElementsAre("line 65530", "line ", "line 65530", "line end"));
  EXPECT_THAT(Kinds("one\ntorn"), ElementsAre("line one", "torn torn"));
  EXPECT_THAT(Kinds(""), ElementsAre());
}

TEST(AuditFile, ALineBeyondTheLimitIsReportedAndReadingGoesOn) {
  const std::vector<std::string> kinds =
      Kinds("a\n" + std::string(2 * kMaxAuditLineBytes, 'x') + "\nb\n");
  ASSERT_GE(kinds.size(), 3u);
  EXPECT_EQ(kinds[0], "line a");
  EXPECT_EQ(kinds[1], "too long");
  EXPECT_EQ(kinds.back(), "line b");
}

TEST(AuditFile, ALockThatAnotherHoldsIsWaitedForABoundedTime) {
  const TempTree tree;
  const std::string path = tree.Write("log", "");
  const UniqueFd first = OpenLog(path), second = OpenLog(path);
  constexpr std::chrono::milliseconds kShort{5};
  {
    const auto held = LockAudit(first, path, AuditLock::kExclusive);
    ASSERT_TRUE(held.ok()) << held.status();
    const auto refused = LockAudit(second, path, AuditLock::kShared, kShort);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(LockAudit(second, path, AuditLock::kExclusive, kShort).ok());
}

TEST(AuditFile, ReadersShareTheLock) {
  const TempTree tree;
  const std::string path = tree.Write("log", "");
  const UniqueFd first = OpenLog(path), second = OpenLog(path);
  const auto one = LockAudit(first, path, AuditLock::kShared);
  const auto two = LockAudit(second, path, AuditLock::kShared, std::chrono::milliseconds(0));
  EXPECT_TRUE(one.ok() && two.ok());
}

TEST(AuditFile, FaultsNameTheFileAndTheRemedy) {
  const absl::Status full = AuditFault("/x/log", "write", ENOSPC);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), HasSubstr("audit log /x/log: write: "));
  EXPECT_THAT(std::string(full.message()), HasSubstr("free some space"));
  EXPECT_EQ(AuditFault("/x", "write", EFBIG).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AuditFault("/x", "open", EACCES).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(AuditFault("/x", "open", EROFS).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(AuditFault("/x", "open", ELOOP).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(AuditFault("/x", "open", ENOENT).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace warder::supervisor
