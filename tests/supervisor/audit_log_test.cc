#include "supervisor/audit_log.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "supervisor/audit_chain.h"
#include "tests/support/in_child.h"
#include "tests/support/sample_ticket.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::InChild;
using ::testing::IsEmpty;
using testing::RecordedTicket;
using testing::TempTree;

constexpr int kNoNamespaces = 77;  // of a child: the kernel gives it no mount namespace

std::string Contents(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::vector<std::string> Events(const std::string& path) {
  std::vector<std::string> events;
  const absl::Status read = ReadAudit(path, [&](const manifest::Json& record) {
    events.push_back(record["event"].get<std::string>());
  });
  if (!read.ok()) events.push_back(read.ToString());
  return events;
}

mode_t ModeOf(const std::string& path) {
  struct stat file{};
  return ::stat(path.c_str(), &file) == 0 ? file.st_mode & 07777 : 0;
}

absl::StatusCode OpenCode(const std::string& path) { return AuditLog::Open(path).status().code(); }

approval::Decision Allow() {
  approval::Decision decision;
  decision.verdict = approval::Verdict::kAllow;
  decision.ticket_digest = approval::TicketDigestHex(RecordedTicket());
  return decision;
}

TEST(AuditLog, IsMadeForItsUserAlone) {
  const TempTree tree;
  const std::string path = tree.At("state/warder/audit.jsonl");
  ASSERT_TRUE(AuditLog::Open(path).ok());
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(ModeOf(tree.At("state/warder")), 0700u);
  EXPECT_EQ(ModeOf(tree.At("state")), 0700u);
}

TEST(AuditLog, RecordsACallInOrderWithGrowingNumbers) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  const auto log = AuditLog::Open(path);
  ASSERT_TRUE(log.ok()) << log.status();
  const approval::Ticket ticket = RecordedTicket();
  Outcome outcome;
  outcome.ending = Exited{0};
  EXPECT_EQ((*log)->RecordAsk(ticket).value(), 1u);
  EXPECT_EQ((*log)->RecordDecision(ticket, Allow()).value(), 2u);
  EXPECT_EQ((*log)->RecordUse(ticket).value(), 3u);
  EXPECT_EQ((*log)->RecordOutcome(ticket, outcome).value(), 4u);
  EXPECT_EQ((*log)->RecordRefusal(ticket, {}).value(), 5u);
  EXPECT_EQ((*log)->RecordRejected("x", "/ws", {}).value(), 6u);
  EXPECT_THAT(Events(path),
              ElementsAre("ask", "decision", "use", "outcome", "refusal", "rejected"));
  EXPECT_THAT(VerifyAudit(path)->faults, IsEmpty());
}

TEST(AuditLog, GoesOnWhereAnEarlierProcessStopped) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  ASSERT_TRUE((*AuditLog::Open(path))->RecordUse(RecordedTicket()).ok());
  EXPECT_EQ((*AuditLog::Open(path))->RecordUse(RecordedTicket()).value(), 2u);
}

TEST(AuditLog, ManyProcessesAppendAtOnceToOneChain) {
  constexpr int kProcesses = 4, kRecords = 10;
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(testing::StartChild([&] {
      const auto log = AuditLog::Open(path);
      for (int n = 0; n < kRecords; ++n) {
        if (!log.ok() || !(*log)->RecordAsk(RecordedTicket()).ok()) return 1;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(testing::ExitCodeOf(child), 0);
  const auto report = VerifyAudit(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->faults, IsEmpty());
  EXPECT_EQ(report->records, std::uint64_t{kProcesses} * kRecords);
}

TEST(AuditLog, AWriterKilledAtAnyInstantLeavesALogThatGoesOn) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  for (int round = 0; round < 6; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const pid_t writer = testing::StartChild([&] {
      const auto log = AuditLog::Open(path);
      for (;;) {
        if (!(*log)->RecordAsk(RecordedTicket()).ok()) return 1;
        if (::write(ready[1], "x", 1) != 1) return 1;
      }
    });
    char byte = 0;
    for (int n = 0; n < 1 + round; ++n) ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::kill(writer, SIGKILL);
    EXPECT_EQ(testing::ExitCodeOf(writer), 128 + SIGKILL);
    ::close(ready[0]);
    ::close(ready[1]);
    const auto log = AuditLog::Open(path);
    ASSERT_TRUE(log.ok()) << log.status();
    ASSERT_TRUE((*log)->RecordRejected("x", "/ws", {}).ok());
  }
  EXPECT_THAT(VerifyAudit(path)->faults, IsEmpty());
}

TEST(AuditLog, ATornLastLineIsRemovedAndTheLogSaysSo) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  ASSERT_TRUE((*AuditLog::Open(path))->RecordAsk(RecordedTicket()).ok());
  std::ofstream(path, std::ios::app) << R"({"seq":2,"time":"20)";
  EXPECT_THAT(VerifyAudit(path)->faults,
              ElementsAre(HasSubstr("line 2: 19 bytes without a line end")));

  const auto log = AuditLog::Open(path);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ((*log)->RecordUse(RecordedTicket()).value(), 3u);
  EXPECT_THAT(Events(path), ElementsAre("ask", "repaired", "use"));
  std::uint64_t removed = 0;
  ASSERT_TRUE(ReadAudit(path, [&](const manifest::Json& record) {
                removed += record.value("removed_bytes", std::uint64_t{0});
              }).ok());
  EXPECT_EQ(removed, 19u);
}

TEST(AuditLog, AFullDiskFailsTheAppendAndLeavesTheLogAsItWas) {
  const TempTree tree;
  const int code = InChild([&] {
    if (!testing::MountPrivateTmpfs(tree.path(), 64 << 10)) return kNoNamespaces;
    const std::string path = tree.At("audit.jsonl");
    const auto log = AuditLog::Open(path);
    if (!log.ok() || !(*log)->RecordAsk(RecordedTicket()).ok()) return 1;
    std::string before;
    absl::Status full;
    while (full.ok()) {
      before = Contents(path);
      full = (*log)->RecordAsk(RecordedTicket()).status();
    }
    if (full.code() != absl::StatusCode::kResourceExhausted) return 2;
    if (Contents(path) != before || !VerifyAudit(path)->faults.empty()) return 3;
    return 0;
  });
  if (code == kNoNamespaces) GTEST_SKIP() << "mount namespaces";
  EXPECT_EQ(code, 0);
}

TEST(AuditLog, SpaceThatComesBackLetsTheLogGoOn) {
  const TempTree tree;
  const int code = InChild([&] {
    if (!testing::MountPrivateTmpfs(tree.path(), 64 << 10)) return kNoNamespaces;
    const std::string path = tree.At("audit.jsonl"), filler = tree.At("filler");
    const auto log = AuditLog::Open(path);
    if (!log.ok() || !(*log)->RecordAsk(RecordedTicket()).ok()) return 1;
    std::ofstream(filler) << std::string(1 << 20, 'x');
    absl::Status full;
    while (full.ok()) full = (*log)->RecordAsk(RecordedTicket()).status();
    ::unlink(filler.c_str());
    if (!(*log)->RecordAsk(RecordedTicket()).ok()) return 2;
    return VerifyAudit(path)->faults.empty() ? 0 : 3;
  });
  if (code == kNoNamespaces) GTEST_SKIP() << "mount namespaces";
  EXPECT_EQ(code, 0);
}

TEST(AuditLog, AFileSizeLimitFailsTheAppendAndLeavesTheLogAsItWas) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  const int code = InChild([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto log = AuditLog::Open(path);
    if (!log.ok() || !(*log)->RecordAsk(RecordedTicket()).ok()) return 1;
    const std::string before = Contents(path);
    const rlimit limit{before.size() + 100, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const absl::Status full = (*log)->RecordAsk(RecordedTicket()).status();
    if (full.code() != absl::StatusCode::kResourceExhausted) return 3;
    return Contents(path) == before ? 0 : 4;
  });
  EXPECT_EQ(code, 0);
}

TEST(AuditLog, ADirectoryThatMayNotBeWrittenIsPermissionDenied) {
  const TempTree tree;
  const std::string directory = tree.Directory("state", 0500);
  const int code = InChild([&] {
    constexpr uid_t kNobody = 65534;  // root is refused nothing
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) return 1;
    const absl::Status refused = AuditLog::Open(directory + "/audit.jsonl").status();
    return refused.code() == absl::StatusCode::kPermissionDenied ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

TEST(AuditLog, WhatIsNotARegularFileOfThisUserAloneIsRefused) {
  const TempTree tree;
  constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(OpenCode(tree.Directory("directory")), kRefused);
  EXPECT_EQ(OpenCode(tree.Link("link", tree.Write("target", ""))), kRefused);
  const std::string fifo = tree.At("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(OpenCode(fifo), kRefused);
  const std::string writable = tree.Write("writable", "");
  ASSERT_EQ(::chmod(writable.c_str(), 0622), 0);
  EXPECT_EQ(OpenCode(writable), kRefused);
  EXPECT_EQ(OpenCode("relative/audit.jsonl"), kRefused);
  EXPECT_EQ(OpenCode(tree.Write("file", "") + "/audit.jsonl"), kRefused);
}

TEST(AuditLog, AFileOfAnotherUserIsRefused) {
  const TempTree tree;
  const std::string path = tree.Write("audit.jsonl", "");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(OpenCode(path), absl::StatusCode::kFailedPrecondition);
  } else {  // the kernel is first to refuse
    EXPECT_EQ(OpenCode("/etc/passwd"), absl::StatusCode::kPermissionDenied);
  }
}

TEST(AuditLog, ADamagedLastRecordStopsOpenAndAppend) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl");
  const auto log = AuditLog::Open(path);
  ASSERT_TRUE((*log)->RecordAsk(RecordedTicket()).ok());
  std::string bytes = Contents(path);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ((*log)->RecordAsk(RecordedTicket()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenCode(path), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Contents(path), bytes);
}

TEST(AuditLog, ALogThatWasMovedOrRemovedTakesNoRecord) {
  const TempTree tree;
  const std::string path = tree.At("audit.jsonl"), elsewhere = tree.At("old.jsonl");
  const auto log = AuditLog::Open(path);
  ASSERT_TRUE((*log)->RecordAsk(RecordedTicket()).ok());
  ASSERT_EQ(::rename(path.c_str(), elsewhere.c_str()), 0);
  EXPECT_EQ((*log)->RecordAsk(RecordedTicket()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  tree.Write("audit.jsonl", "");
  EXPECT_EQ((*log)->RecordAsk(RecordedTicket()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Events(elsewhere), ElementsAre("ask"));
}

}  // namespace
}  // namespace warder::supervisor
