#include "supervisor/outcome.h"

#include <signal.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace warder::supervisor {
namespace {

using approval::RefusalCode;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Captured Whole(const std::string& bytes) { return {bytes, "", bytes.size()}; }

std::string Text(Ending ending, const std::string& out = "", const std::string& err = "") {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = std::move(ending);
  outcome.out = Whole(out);
  outcome.err = Whole(err);
  return OutcomeText(outcome);
}

TEST(OutcomeText, SuccessThatPrintedNothingSaysSo) {
  EXPECT_EQ(Text(Exited{0}), "`lint` succeeded and printed nothing.");
  EXPECT_EQ(Text(Exited{0}, "", "a warning"), "`lint` succeeded and printed nothing.");
}

TEST(OutcomeText, SuccessCountsWhatWasPrintedAndDoesNotRepeatIt) {
  EXPECT_EQ(Text(Exited{0}, "\n"), "`lint` succeeded and printed 1 byte.");
  EXPECT_EQ(Text(Exited{0}, "[db] connected\n", "warn\n"),
            "`lint` succeeded and printed 15 bytes.");
}

TEST(OutcomeText, SensitiveChangesAreItsLastLines) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = Exited{3};
  outcome.err = Whole("bad\n");
  outcome.sensitive = SensitiveChanges{};
  EXPECT_THAT(OutcomeText(outcome), EndsWith("bad\n")) << "nothing to say";
  outcome.sensitive->changes = {{"socket", "a\nb", {}, "", ""},
                                {"protected name", ".basis", {}, "/q/1", ""},
                                {"protected name", "c", {}, "", "rename: no"}};
  outcome.sensitive->unseen = {{"", "another file system is mounted there"}};
  outcome.sensitive->unseen_count = 2;
  EXPECT_EQ(OutcomeText(outcome),
            "`lint` exited with code 3.\nbad\n"
            "Changed in the workspace, and may act later outside a cell:\n"
            "  socket `a\\nb`\n  protected name `.basis`, moved to `/q/1`\n"
            "  protected name `c`, still there, remove it by hand: rename: no\n"
            "Not all of the workspace was looked at:\n"
            "  `.`: another file system is mounted there\n  and 1 more");
  outcome.sensitive->unseen_count = 0;
  outcome.sensitive->changes.assign(25, {"socket", "s", {}, "", ""});
  outcome.sensitive->left_out = 3;
  EXPECT_THAT(OutcomeText(outcome), EndsWith("\n  and 8 more"));
}

TEST(OutcomeText, SuccessWhoseOutputWasCutSaysWhatWasKept) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = Exited{0};
  outcome.out = {"head", "tail.", 100};
  EXPECT_EQ(
      OutcomeText(outcome),
      "`lint` succeeded and printed 100 bytes, of which the first 4 and the last 5 were kept.");
}

TEST(OutcomeText, FailureIsTheCodeAndThenStderr) {
  EXPECT_EQ(Text(Exited{3}, "out", "bad flag\n"), "`lint` exited with code 3.\nbad flag\n");
}

TEST(OutcomeText, FailureWithBlankStderrShowsStdout) {
  EXPECT_EQ(Text(Exited{1}, "why\n", " \n\t\n"), "`lint` exited with code 1.\nwhy\n");
}

TEST(OutcomeText, FailureWithoutOutputSaysSo) {
  EXPECT_EQ(Text(Exited{1}), "`lint` exited with code 1. It printed nothing.");
  EXPECT_EQ(Text(Exited{1}, " \n", "\n"), "`lint` exited with code 1. It printed only blanks.");
}

TEST(OutcomeText, EachEndingNamesTheToolAndWhatHappened) {
  EXPECT_THAT(Text(Signaled{SIGSEGV}), StartsWith("`lint` was ended by signal 11 (SIGSEGV)."));
  EXPECT_THAT(Text(Signaled{SIGSYS}),
              HasSubstr("(SIGSYS), which is what a system call that the cell "
                        "kills for looks like."));
  EXPECT_THAT(Text(TimedOut{500}), StartsWith("`lint` was stopped after 500 ms, its time limit."));
  EXPECT_THAT(Text(CpuLimit{}), StartsWith("`lint` was stopped at its limit of processor time."));
  EXPECT_THAT(Text(MemoryLimit{}), StartsWith("`lint` was stopped at its memory limit."));
  EXPECT_THAT(Text(ProcessLimit{}), StartsWith("`lint` was stopped at its limit of processes."));
  EXPECT_THAT(Text(OutputLimit{}), StartsWith("`lint` was stopped at its limit of output."));
  EXPECT_THAT(Text(Cancelled{}), StartsWith("`lint` was cancelled before it finished."));
}

TEST(OutcomeText, WhatAStoppedToolPrintedIsShown) {
  EXPECT_THAT(Text(TimedOut{500}, "started\n"), EndsWith("\nstarted\n"));
}

TEST(OutcomeText, CouldNotStartNamesStepErrnoAndRemedy) {
  EXPECT_EQ(Text(CouldNotStart{"exec", ENOENT, "the interpreter \"/bin/sh\\r\" does not exist"}),
            "`lint` could not start: exec: No such file or directory: "
            "the interpreter \"/bin/sh\\r\" does not exist");
  EXPECT_EQ(Text(CouldNotStart{"clone", 0, ""}), "`lint` could not start: clone.");
}

TEST(OutcomeText, RefusedGivesCodeAndReason) {
  EXPECT_EQ(Text(Refused{RefusalCode::kDenied, "denied by terminal: not today"}),
            "`lint` was refused (denied): denied by terminal: not today");
  EXPECT_EQ(Text(Refused{RefusalCode::kNoApprover, ""}), "`lint` was refused (no_approver).");
}

TEST(OutcomeText, ControlCharactersOfTheToolAreVisibleAndItsLayoutStays) {
  const std::string text =
      Text(Exited{1}, "", "  at\tC:\\x\n\x1b]52;c;QUJD\x07\x1b[2J caf\xc3\xa9 \xff\n");
  EXPECT_THAT(text, HasSubstr("\n  at\tC:\\x\n"));
  EXPECT_THAT(text, HasSubstr("caf\xc3\xa9"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

TEST(OutcomeText, AToolNameThatWasMadeUpIsHarmless) {
  Outcome outcome;
  outcome.tool = std::string("\x1b[2J") + std::string(100'000, 'x');
  outcome.ending = Refused{RefusalCode::kNotRunnable, "no such tool"};
  const std::string text = OutcomeText(outcome);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_LT(text.size(), 10'000u);
}

TEST(OutcomeText, AStreamThatWasCutSaysHowMuchIsMissing) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = Exited{1};
  outcome.err = {"first\n", "last\n", 1011};
  EXPECT_EQ(OutcomeText(outcome),
            "`lint` exited with code 1.\nfirst\n\n[1000 bytes left out]\nlast\n");
}

TEST(OutcomeText, ALongStreamIsShortenedInTheMiddle) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = Exited{1};
  const std::string half(500'000, 'a');
  outcome.err = {"first" + half, half + "last", 1'000'009};
  const std::string text = OutcomeText(outcome);
  EXPECT_LT(text.size(), 70'000u);
  EXPECT_THAT(text, HasSubstr("\nfirstaaa"));
  EXPECT_THAT(text, HasSubstr("\n[934473 bytes left out]\n"));
  EXPECT_THAT(text, EndsWith("aaalast"));
}

TEST(OutcomeText, ShorteningNeverSplitsACharacter) {
  Outcome outcome;
  outcome.tool = "lint";
  outcome.ending = Exited{1};
  std::string euros = "x";
  for (int i = 0; i < 50'000; ++i) euros += "\xe2\x82\xac";
  outcome.err = Whole(euros);
  EXPECT_THAT(OutcomeText(outcome), Not(HasSubstr("\\x")));
}

TEST(ExitCode, IsTheOneThatTheCommandLineDocuments) {
  EXPECT_EQ(ExitCode(Exited{0}), 0);
  EXPECT_EQ(ExitCode(Exited{139}), 139);
  EXPECT_EQ(ExitCode(Signaled{SIGSEGV}), 139);
  EXPECT_EQ(ExitCode(TimedOut{500}), 124);
  EXPECT_EQ(ExitCode(CpuLimit{}), 137);
  EXPECT_EQ(ExitCode(MemoryLimit{}), 137);
  EXPECT_EQ(ExitCode(ProcessLimit{}), 137);
  EXPECT_EQ(ExitCode(OutputLimit{}), 137);
  EXPECT_EQ(ExitCode(Cancelled{}), 130);
  EXPECT_EQ(ExitCode(CouldNotStart{}), 127);
  EXPECT_EQ(ExitCode(Refused{}), 126);
}

TEST(EndingName, IsStable) {
  EXPECT_STREQ(EndingName(Exited{}), "exited");
  EXPECT_STREQ(EndingName(Signaled{}), "signaled");
  EXPECT_STREQ(EndingName(TimedOut{}), "timed_out");
  EXPECT_STREQ(EndingName(CpuLimit{}), "cpu_limit");
  EXPECT_STREQ(EndingName(MemoryLimit{}), "memory_limit");
  EXPECT_STREQ(EndingName(ProcessLimit{}), "process_limit");
  EXPECT_STREQ(EndingName(OutputLimit{}), "output_limit");
  EXPECT_STREQ(EndingName(Cancelled{}), "cancelled");
  EXPECT_STREQ(EndingName(CouldNotStart{}), "could_not_start");
  EXPECT_STREQ(EndingName(Refused{}), "refused");
}

TEST(SignalName, KnowsRealTimeSignalsAndNumbersThatAreNone) {
  EXPECT_EQ(SignalName(SIGKILL), "SIGKILL");
  EXPECT_EQ(SignalName(SIGRTMIN + 2), "SIGRTMIN+2");
  EXPECT_EQ(SignalName(500), "signal 500");
}

}  // namespace
}  // namespace warder::supervisor
