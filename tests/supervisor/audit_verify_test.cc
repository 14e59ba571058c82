#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "supervisor/audit_chain.h"
#include "supervisor/audit_log.h"
#include "supervisor/audit_record.h"
#include "tests/support/sample_ticket.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordedTicket;
using testing::TempTree;

// Five whole calls, one line for each record.
class AuditVerify : public ::testing::Test {
 protected:
  void SetUp() override {
    approval::Decision allow;
    allow.verdict = approval::Verdict::kAllow;
    Outcome outcome;
    outcome.ending = Exited{0};
    ChainLink last;
    for (char call = '1'; call <= '5'; ++call) {
      approval::Ticket ticket = RecordedTicket();
      ticket.id.front() = call;
      for (const manifest::Json& record : {AskRecord(ticket), DecisionRecord(ticket, allow),
                                           UseRecord(ticket), OutcomeRecord(ticket, outcome)}) {
        lines_.push_back(*ChainLine(ChainLink(last), absl::Now(), record, last));
        lines_.back().pop_back();
      }
    }
    Verify();
    ASSERT_EQ(lines_.size(), 20u);
  }

  AuditReport Verify(const std::string& rest = "") {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    for (const std::string& line : lines_) file << line << "\n";
    file << rest;
    file.close();
    return VerifyAudit(path_).value();
  }

  TempTree tree_;
  std::string path_ = tree_.Write("audit.jsonl", "", 0600);
  std::vector<std::string> lines_;
};

TEST_F(AuditVerify, AnUntouchedLogHasNoFaults) {
  const AuditReport report = Verify();
  EXPECT_EQ(report.records, 20u);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_THAT(report.unfinished, IsEmpty());
  EXPECT_EQ(report.last_hash, ParseChainLine(lines_.back())->link.hash);
}

TEST_F(AuditVerify, AnEmptyLogHasNoRecordsAndNoFaults) {
  lines_.clear();
  const AuditReport report = Verify();
  EXPECT_EQ(report.records, 0u);
  EXPECT_THAT(report.faults, IsEmpty());
}

TEST_F(AuditVerify, AChangedRecordIsFoundAndTheRestIsStillChecked) {
  lines_[6][40] ^= 1;
  EXPECT_THAT(Verify().faults, ElementsAre(HasSubstr("line 7: its own hash")));
}

TEST_F(AuditVerify, ARemovedRecordIsFound) {
  lines_.erase(lines_.begin() + 4);
  EXPECT_THAT(Verify().faults, ElementsAre("line 5: sequence 6 follows 4",
                                           "line 5: hash of the record before does not match"));
}

TEST_F(AuditVerify, ARemovedBeginningIsFound) {
  lines_.erase(lines_.begin(), lines_.begin() + 4);
  EXPECT_THAT(Verify().faults, ElementsAre("line 1: sequence 5 follows 0",
                                           "line 1: hash of the record before does not match"));
}

TEST_F(AuditVerify, SwappedRecordsAreFound) {
  std::swap(lines_[0], lines_[4]);
  EXPECT_THAT(Verify().faults, ::testing::Contains(HasSubstr("line 1: sequence 5 follows 0")));
}

TEST_F(AuditVerify, ARepeatedRecordIsFound) {
  lines_.push_back(lines_.back());
  EXPECT_THAT(Verify().faults, ::testing::Contains("line 21: sequence 20 follows 20"));
}

TEST_F(AuditVerify, ARecordThatWasMadeAgainWithItsOwnHashBreaksTheNextLink) {
  ChainRecord record = *ParseChainLine(lines_[7]);
  record.json["code"] = 1;
  manifest::Json members;
  members["event"] = record.json["event"];
  for (const auto& [name, value] : record.json.items()) {
    if (name != "seq" && name != "time" && name != "prev" && name != "hash") members[name] = value;
  }
  ChainLink link;
  lines_[7] = *ChainLine({7, record.previous_hash}, absl::Now(), members, link);
  lines_[7].pop_back();
  EXPECT_THAT(Verify().faults, ElementsAre("line 9: hash of the record before does not match"));
}

TEST_F(AuditVerify, GarbageIsFoundWhereverItIs) {
  lines_[2] = "garbage";
  lines_[8] = "";
  EXPECT_THAT(Verify("torn").faults, ElementsAre(HasSubstr("line 3: "), HasSubstr("line 9: "),
                                                 HasSubstr("line 21: 4 bytes without a line end")));
}

TEST_F(AuditVerify, FaultsAreBounded) {
  lines_.assign(1000, "garbage");
  const AuditReport report = Verify();
  EXPECT_EQ(report.faults.size(), 101u);
  EXPECT_EQ(report.faults.back(), "line 101: and more, not listed");
}

TEST_F(AuditVerify, AUsedTicketWithoutAnOutcomeIsUnfinished) {
  const auto log = AuditLog::Open(path_);
  approval::Decision allow;
  allow.verdict = approval::Verdict::kAllow;
  ASSERT_TRUE((*log)->RecordDecision(RecordedTicket(), allow).ok());
  ASSERT_TRUE((*log)->RecordUse(RecordedTicket()).ok());
  EXPECT_THAT(VerifyAudit(path_)->unfinished,
              ElementsAre("30313233343536373839616263646566: used by record 22"));
}

TEST_F(AuditVerify, ATicketThatIsUsedWithoutAnAllowIsAFault) {
  const auto log = AuditLog::Open(path_);
  approval::Decision failed;
  failed.verdict = approval::Verdict::kAllow;
  failed.failed = true;
  ASSERT_TRUE((*log)->RecordDecision(RecordedTicket(), failed).ok());
  ASSERT_TRUE((*log)->RecordUse(RecordedTicket()).ok());
  ASSERT_TRUE((*log)->RecordDecision(RecordedTicket(), {}).ok());
  ASSERT_TRUE((*log)->RecordUse(RecordedTicket()).ok());
  EXPECT_THAT(VerifyAudit(path_)->faults,
              ElementsAre("line 22: a ticket is used that was not allowed",
                          "line 24: a ticket is used that was not allowed"));
}

TEST_F(AuditVerify, OneAllowCoversOneUse) {
  const auto log = AuditLog::Open(path_);
  approval::Decision allow;
  allow.verdict = approval::Verdict::kAllowForSession;
  ASSERT_TRUE((*log)->RecordDecision(RecordedTicket(), allow).ok());
  ASSERT_TRUE((*log)->RecordUse(RecordedTicket()).ok());
  ASSERT_TRUE((*log)->RecordUse(RecordedTicket()).ok());
  EXPECT_THAT(VerifyAudit(path_)->faults,
              ElementsAre("line 23: a ticket is used that was not allowed"));
}

TEST_F(AuditVerify, ReadingGivesEveryRecordUpToTheFirstDamage) {
  Verify();
  std::size_t records = 0;
  const auto count = [&](const manifest::Json&) { ++records; };
  EXPECT_TRUE(ReadAudit(path_, count).ok());
  EXPECT_EQ(records, 20u);

  lines_[6] = "garbage";
  Verify();
  records = 0;
  const absl::Status damaged = ReadAudit(path_, count);
  EXPECT_EQ(damaged.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(damaged.message()), HasSubstr(path_ + ":7: "));
  EXPECT_EQ(records, 6u);
}

TEST_F(AuditVerify, ALogThatIsNotThereOrNoFileIsAnError) {
  EXPECT_EQ(VerifyAudit(tree_.At("nothing")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(VerifyAudit(tree_.path()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReadAudit(tree_.At("nothing"), [](const manifest::Json&) {}).code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace warder::supervisor
