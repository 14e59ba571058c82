#include "supervisor/approver_program.h"

#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manifest/json.h"
#include "tests/support/run_async.h"
#include "tests/support/sample_ticket.h"
#include "tests/support/temp_tree.h"
#include "tests/support/watched_run.h"

namespace warder::supervisor {
namespace {

using approval::Decision;
using approval::RefusalCode;
using approval::Ticket;
using approval::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RecordedTicket;
using testing::TempTree;

constexpr char kId[] = "30313233343536373839616263646566";

class ApproverProgram : public ::testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  Decision Ask(std::vector<std::string> argv) {
    ticket_.ask_deadline_ms = approval::BoottimeMs() + wait_ms_;
    return testing::RunAsync(MakeProgramApprover(std::move(argv))->Ask(ticket_));
  }
  // A program that reads the ask and then runs `script`.
  Decision AskShell(const std::string& script) {
    return Ask({tree_.Script("approver", "#!/bin/sh\ncat >/dev/null\n" + script + "\n")});
  }
  // A program that prints `answer` and exits 0.
  Decision AskFor(const std::string& answer) {
    return AskShell("cat " + tree_.Write("answer", answer));
  }
  std::string Answer(const std::string& decision, const std::string& more = "") {
    return R"({"ticket":")" + std::string(kId) + R"(","digest":")" +
           approval::TicketDigestHex(ticket_) + R"(","decision":")" + decision + "\"" + more + "}";
  }
  // Fails as an approver that gave no valid answer; returns the reason.
  static std::string FailureOf(const Decision& decision,
                               RefusalCode code = RefusalCode::kApproverError) {
    EXPECT_TRUE(decision.failed);
    EXPECT_EQ(decision.failure, code);
    EXPECT_EQ(decision.verdict, Verdict::kDeny);
    EXPECT_THAT(decision.reason, HasSubstr("approver program "));
    return decision.reason;
  }

  TempTree tree_;
  std::int64_t wait_ms_ = 60'000;
  Ticket ticket_ = RecordedTicket();
};

TEST_F(ApproverProgram, AnAllowThatRepeatsTicketAndDigestIsAnAllow) {
  const Decision decision = AskFor(Answer("allow", R"(,"reason":"looks right")"));
  EXPECT_FALSE(decision.failed) << decision.reason;
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_EQ(decision.reason, "looks right");
  EXPECT_EQ(decision.ticket_digest, approval::TicketDigestHex(ticket_));
  EXPECT_EQ(decision.approver, "program " + tree_.At("approver"));
}

TEST_F(ApproverProgram, EveryDecisionWordIsUnderstoodAndNoOther) {
  EXPECT_EQ(AskFor(Answer("deny")).verdict, Verdict::kDeny);
  EXPECT_FALSE(AskFor(Answer("deny")).failed);
  EXPECT_EQ(AskFor(Answer("deny-for-session")).verdict, Verdict::kDenyForSession);
  EXPECT_EQ(AskFor(Answer("allow-for-session")).verdict, Verdict::kAllowForSession);
  for (const char* word : {"", "Allow", "allow ", "yes", "allowed", "invalid", "true"}) {
    EXPECT_THAT(FailureOf(AskFor(Answer(word))), HasSubstr("`decision` must be"));
  }
}

TEST_F(ApproverProgram, APythonProgramSeesTheAskAndDecidesOnIt) {
  const std::string program = tree_.Script("approver.py", R"(#!/usr/bin/env python3
import json, sys
ask = json.load(sys.stdin)
ok = ask["preview"]["tool"] == "lint" and 0 < ask["deadline_ms"] <= 60000
print(json.dumps({"ticket": ask["ticket"], "digest": ask["digest"],
                  "decision": "allow" if ok else "deny", "reason": ",".join(ask)}))
)");
  const Decision decision = Ask({program});
  EXPECT_FALSE(decision.failed) << decision.reason;
  EXPECT_EQ(decision.verdict, Verdict::kAllow);
  EXPECT_EQ(decision.reason, "ticket,digest,deadline_ms,preview");
}

TEST_F(ApproverProgram, TheAskIsOneStrictJsonObjectAndThenEndOfFile) {
  const std::string seen = tree_.At("seen");
  Ask({tree_.Script("approver", "#!/bin/sh\ncat >" + seen + "\n")});
  std::ostringstream bytes;
  bytes << std::ifstream(seen).rdbuf();
  const auto ask = manifest::ParseStrictJson(bytes.str(), "ask");
  ASSERT_TRUE(ask.ok()) << ask.status();
  EXPECT_EQ((*ask)["ticket"], kId);
  EXPECT_EQ((*ask)["digest"], approval::TicketDigestHex(ticket_));
  EXPECT_TRUE((*ask)["preview"].is_object());
}

TEST_F(ApproverProgram, ItsWordsAreItsArguments) {
  const std::string program = tree_.Script("approver", "#!/bin/sh\nprintf '%s' \"$2$1\"\n");
  const std::string answer = Answer("allow");
  EXPECT_EQ(Ask({program, answer.substr(5), answer.substr(0, 5)}).verdict, Verdict::kAllow);
}

TEST_F(ApproverProgram, AnAnswerForAnotherTicketIsAFailure) {
  ticket_.id = "another ticket!!";
  EXPECT_THAT(FailureOf(AskFor(Answer("allow"))), HasSubstr("`ticket`"));
}

TEST_F(ApproverProgram, AnAnswerWithAnotherDigestIsAFailure) {
  const std::string answer = Answer("allow");
  ticket_.timeout_ms += 1;
  EXPECT_THAT(FailureOf(AskFor(answer)), HasSubstr("`digest`"));
}

TEST_F(ApproverProgram, AnythingButOneStrictObjectIsAFailure) {
  const std::string allow = Answer("allow");
  const std::string with_duplicate = allow.substr(0, allow.size() - 1) + R"(,"decision":"allow"})";
  for (const std::string& answer :
       {std::string(), std::string("\n"), std::string("allow"), std::string("null"),
        std::string("{}"), "[" + allow + "]", allow + allow, allow + "\n" + allow, allow + "x",
        allow.substr(0, allow.size() - 1), with_duplicate, "\xef\xbb\xbf" + allow,
        Answer("allow", R"(,"scope":"all")"), Answer("allow", R"(,"reason":7)"),
        Answer("allow", R"(,"reason":null)"), allow + std::string("\0", 1),
        R"({"digest":")" + approval::TicketDigestHex(ticket_) + R"(","decision":"allow"})",
        R"({"ticket":")" + std::string(kId) + R"(","decision":"allow"})"}) {
    FailureOf(AskFor(answer));
  }
}

TEST_F(ApproverProgram, BlanksAroundTheObjectAreNoFailure) {
  EXPECT_EQ(AskFor("  " + Answer("allow") + "\r\n\n").verdict, Verdict::kAllow);
}

TEST_F(ApproverProgram, AnAllowFromAProgramThatFailsIsAFailure) {
  tree_.Write("answer", Answer("allow"));
  const std::string print = "cat " + tree_.At("answer");
  EXPECT_THAT(
      FailureOf(AskShell(print + "; echo 'no \033[2J' >&2; exit 1")),
      ::testing::AllOf(HasSubstr("exited with code 1; its stderr: no "), Not(HasSubstr("\033"))));
  EXPECT_THAT(FailureOf(AskShell(print + "; kill -SEGV $$")), HasSubstr("signaled"));
}

TEST_F(ApproverProgram, AnAnswerThatIsTooLongIsAFailure) {
  EXPECT_THAT(FailureOf(AskShell("cat " + tree_.Write("answer", Answer("allow")) +
                                 "; head -c 70000 /dev/zero | tr '\\0' ' '")),
              HasSubstr("longer than 65536 bytes"));
}

TEST_F(ApproverProgram, SilenceUntilTheDeadlineIsATimeoutAndTheProgramIsGone) {
  testing::AdoptOrphans();
  wait_ms_ = 200;
  const Decision decision = AskShell("sleep 600 & wait");
  EXPECT_THAT(FailureOf(decision, RefusalCode::kAskTimeout), HasSubstr("no answer within"));
  testing::AwaitOrphans();
}

TEST_F(ApproverProgram, AStoppedProgramIsATimeout) {
  wait_ms_ = 100;
  FailureOf(AskShell("kill -STOP $$"), RefusalCode::kAskTimeout);
}

TEST_F(ApproverProgram, ADeadlineThatHasPassedStartsNothing) {
  wait_ms_ = -1;
  const std::string mark = tree_.At("mark");
  FailureOf(AskShell("touch " + mark), RefusalCode::kAskTimeout);
  EXPECT_FALSE(std::ifstream(mark).is_open());
}

TEST_F(ApproverProgram, AProgramThatCannotBeStartedIsAFailure) {
  EXPECT_THAT(FailureOf(Ask({tree_.At("nothing")})), HasSubstr(tree_.At("nothing")));
  FailureOf(Ask({tree_.Write("data", "x", 0644)}));
  FailureOf(Ask({"relative"}));
  FailureOf(Ask({}));
  FailureOf(Ask({tree_.Script("garbage", std::string("\x7f"
                                                     "ELF garbage"))}));
}

TEST_F(ApproverProgram, AProgramThatDoesNotReadTheAskMayStillAnswer) {
  ticket_.input.assign(2 << 20, 'x');
  const std::string answer = tree_.Write("answer", Answer("deny"));
  const Decision decision =
      Ask({tree_.Script("approver", "#!/bin/sh\nexec <&-\ncat " + answer + "\n")});
  EXPECT_FALSE(decision.failed) << decision.reason;
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
}

TEST_F(ApproverProgram, ANameWithControlCharactersIsVisible) {
  EXPECT_THAT(MakeProgramApprover({"/x\033[2J"})->Name(), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace warder::supervisor
