#include "supervisor/audit_record.h"

#include <signal.h>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manifest/digest.h"
#include "supervisor/audit_chain.h"
#include "tests/support/sample_ticket.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using ::testing::HasSubstr;
using testing::kSampleInput;
using testing::kSampleSecret;
using ::testing::Not;
using testing::RecordedTicket;

Outcome SampleOutcome(Ending ending = Exited{3}) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = std::move(ending);
  outcome.out = {"printed", "", 7};
  outcome.err = {"using ", kSampleSecret, 500};
  outcome.duration_ms = 12;
  outcome.attestation.policy = "default";
  outcome.attestation.layers = {{"seccomp", true, sandbox::LayerState::kEnforced, "Seccomp: 2"}};
  outcome.ticket_digest = approval::TicketDigestHex(RecordedTicket());
  return outcome;
}

std::string LineOf(const Json& record) {
  ChainLink link;
  const auto line = ChainLine({}, absl::Now(), record, link);
  return line.ok() ? *line : line.status().ToString();
}

TEST(AuditRecord, NoValueOfAVariableAndNoByteOfInputOrOutputIsInAnyRecord) {
  const approval::Ticket ticket = RecordedTicket();
  approval::Decision decision;
  decision.ticket_digest = approval::TicketDigestHex(ticket);
  const Json records[] = {AskRecord(ticket), DecisionRecord(ticket, decision), UseRecord(ticket),
                          RefusalRecord(ticket, {approval::RefusalCode::kDenied, "no"}),
                          OutcomeRecord(ticket, SampleOutcome())};
  for (const Json& record : records) {
    const std::string line = LineOf(record);
    EXPECT_THAT(line, Not(HasSubstr(kSampleSecret)));
    EXPECT_THAT(line, Not(HasSubstr("private/notes")));
    EXPECT_THAT(line, Not(HasSubstr("printed")));
    EXPECT_THAT(line, Not(HasSubstr(manifest::Hex(ticket.environment[0].fingerprint))));
    EXPECT_THAT(line, HasSubstr(R"("ticket":"30313233343536373839616263646566")"));
    EXPECT_THAT(line, HasSubstr(approval::TicketDigestHex(ticket)));
  }
}

TEST(AuditRecord, AnAskSaysWhoAsksForWhatUnderWhichPolicy) {
  const Json ask = AskRecord(RecordedTicket());
  EXPECT_EQ(ask["event"], "ask");
  EXPECT_EQ(ask["requester"]["uid"], 1000);
  EXPECT_EQ(ask["requester"]["via"], "cli call");
  EXPECT_EQ(ask["workspace"]["path"], "/srv/ws");
  EXPECT_EQ(ask["argv"], Json::parse(R"(["/bin/x","--token","${TOK}"])"));
  EXPECT_EQ(ask["cwd"]["written"], "${TOK}");
  EXPECT_EQ(ask["environment"], Json::parse(R"([{"name":"K","origin":"manifest"}])"));
  EXPECT_EQ(ask["variables_read"], Json::parse(R"(["TOK"])"));
  EXPECT_EQ(ask["input"]["bytes"], std::string(kSampleInput).size());
  EXPECT_EQ(ask["input"]["sha256"], manifest::Hex(manifest::Digest(kSampleInput)));
  EXPECT_EQ(ask["policy"]["name"], "default");
  EXPECT_EQ(ask["files"][0]["path"], "/usr/bin/x");
  EXPECT_EQ(ask["files"][0]["sha256"], manifest::Hex(manifest::Digest("program")));
}

TEST(AuditRecord, TheProgramThatAVariableNamesIsKnownByItsDigestAlone) {
  approval::Ticket ticket = RecordedTicket();
  ticket.stored_argv[0] = "${TOK}/run";
  ticket.files[0].path = std::string("/") + kSampleSecret + "/run";
  const Json ask = AskRecord(ticket);
  EXPECT_FALSE(ask["files"][0].contains("path"));
  EXPECT_EQ(ask["files"][0]["sha256"], manifest::Hex(manifest::Digest("program")));
}

TEST(AuditRecord, HostileTextIsVisibleOnOneLine) {
  const Json record = RejectedRecord("evil\n{\"seq\":1}\x1b[2J\xff", "/ws",
                                     {approval::RefusalCode::kNotRunnable, "no such tool"});
  const std::string line = LineOf(record);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(record["tool"].get<std::string>(), Not(HasSubstr("\n")));
  EXPECT_THAT(record["tool"].get<std::string>(), Not(HasSubstr("\x1b")));
  EXPECT_EQ(record["code"], "not_runnable");
}

TEST(AuditRecord, ALongTextIsCutAndSaysByHowMuch) {
  const Json record = RejectedRecord(std::string(1'000'000, 'x'), "/ws", {});
  EXPECT_LT(record["tool"].get<std::string>().size(), 2000u);
  EXPECT_THAT(record["tool"].get<std::string>(), HasSubstr("[998976 bytes more]"));
}

TEST(AuditRecord, LongListsAreCutCountedAndStayBelowTheLimitOfALine) {
  approval::Ticket ticket = RecordedTicket();
  const std::string worst(1100, '\xff');
  ticket.stored_argv.assign(600, worst);
  ticket.variables_read.assign(600, worst);
  ticket.files.resize(100);
  for (approval::TicketFile& file : ticket.files) file.path = worst;
  ticket.environment.resize(600);
  for (approval::TicketVariable& variable : ticket.environment) variable.name = worst;
  for (std::string* text :
       {&ticket.workspace_path, &ticket.tool, &ticket.tool_source, &ticket.side_effect,
        &ticket.policy, &ticket.policy_source, &ticket.stored_cwd, &ticket.requester.via}) {
    *text = worst;
  }
  const Json ask = AskRecord(ticket);
  EXPECT_LT(ask["argv"].size(), 600u);
  EXPECT_EQ(ask["argv"].size() + ask["argv_left_out"].get<std::size_t>(), 600u);
  EXPECT_LT(LineOf(ask).size(), kMaxAuditLineBytes);
  EXPECT_THAT(LineOf(ask), HasSubstr(R"("event":"ask")"));
}

TEST(AuditRecord, ADecisionKeepsVerdictApproverAndFailure) {
  approval::Decision decision;
  decision.verdict = approval::Verdict::kAllow;
  decision.approver = "terminal /dev/tty";
  decision.reason = "looks right";
  Json record = DecisionRecord(RecordedTicket(), decision);
  EXPECT_EQ(record["verdict"], "allow");
  EXPECT_EQ(record["approver"], "terminal /dev/tty");
  EXPECT_FALSE(record.contains("failure"));
  decision.failed = true;
  decision.failure = approval::RefusalCode::kAskTimeout;
  record = DecisionRecord(RecordedTicket(), decision);
  EXPECT_EQ(record["failure"], "ask_timeout");
}

TEST(AuditRecord, AnOutcomeKeepsSizesAndDigestsOfTheStreams) {
  const Json record = OutcomeRecord(RecordedTicket(), SampleOutcome());
  EXPECT_EQ(record["ending"], "exited");
  EXPECT_EQ(record["code"], 3);
  EXPECT_EQ(record["stdout"]["bytes"], 7);
  EXPECT_EQ(record["stdout"]["kept_sha256"], manifest::Hex(manifest::Digest("printed")));
  EXPECT_EQ(record["stderr"]["bytes"], 500);
  EXPECT_EQ(record["layers"][0]["state"], "enforced");
}

TEST(AuditRecord, AnOutcomeKeepsItsDenialsVisibleAndCut) {
  Outcome outcome = SampleOutcome();
  EXPECT_FALSE(OutcomeRecord(RecordedTicket(), outcome).contains("denials"));
  sandbox::Denial denial;
  denial.operation = "mount";
  denial.object = "target=/a\nb" + std::string(3000, 'x');
  denial.error = EPERM;
  AddDenial(denial, outcome.denials);
  const Json record = OutcomeRecord(RecordedTicket(), outcome);
  ASSERT_EQ(record["denials"].size(), 1u);
  EXPECT_EQ(record["denials"][0]["operation"], "mount");
  const auto object = record["denials"][0]["object"].get<std::string>();
  EXPECT_LT(object.size(), 1200u);
  EXPECT_EQ(object.find('\n'), std::string::npos);
}

TEST(AuditRecord, AnOutcomeKeepsSensitiveChangesAndHowMuchWasNotLookedAt) {
  Outcome outcome = SampleOutcome();
  EXPECT_FALSE(OutcomeRecord(RecordedTicket(), outcome).contains("not_looked_at"));
  outcome.sensitive =
      SensitiveChanges{{{"git hook", "a\n", manifest::Digest("x"), "", ""}}, 4, {}, 0};
  const Json record = OutcomeRecord(RecordedTicket(), outcome);
  EXPECT_EQ(record["sensitive_changes"][0]["path"], "a\\n");
  EXPECT_EQ(record["sensitive_changes"][0]["sha256"], manifest::Hex(manifest::Digest("x")));
  EXPECT_EQ(record["sensitive_changes_not_kept"], 4);
  EXPECT_EQ(record["not_looked_at"], 0);
}

TEST(AuditRecord, AnOutcomeOfATicketWhoseInputIsGoneKeepsTheDigestThatWasApproved) {
  approval::Ticket ticket = RecordedTicket();
  const Outcome outcome = SampleOutcome();
  ticket.input.clear();
  EXPECT_EQ(OutcomeRecord(ticket, outcome)["digest"], outcome.ticket_digest);
}

TEST(AuditRecord, EveryEndingKeepsWhatTellsItApart) {
  const approval::Ticket ticket = RecordedTicket();
  EXPECT_EQ(OutcomeRecord(ticket, SampleOutcome(Signaled{SIGSEGV}))["signal"], "SIGSEGV");
  EXPECT_EQ(OutcomeRecord(ticket, SampleOutcome(TimedOut{500}))["limit_ms"], 500);
  const Json failed =
      OutcomeRecord(ticket, SampleOutcome(CouldNotStart{"pivot_root", EPERM, "no"}));
  EXPECT_EQ(failed["step"], "pivot_root");
  EXPECT_EQ(failed["errno"], EPERM);
  const Json refused = OutcomeRecord(
      ticket, SampleOutcome(Refused{approval::RefusalCode::kSandboxUnavailable, "no seccomp"}));
  EXPECT_EQ(refused["code"], "sandbox_unavailable");
  EXPECT_EQ(refused["reason"], "no seccomp");
}

}  // namespace
}  // namespace warder::supervisor
