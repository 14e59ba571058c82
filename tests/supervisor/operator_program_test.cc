#include "supervisor/operator_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/this_coro.hpp>
#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/in_child.h"
#include "tests/support/run_async.h"
#include "tests/support/temp_tree.h"
#include "tests/support/watched_run.h"

namespace warder::supervisor {
namespace {

using testing::RunAsync;
using testing::WatchedRun;
using testing::WatchShell;

std::string OutputOf(const WatchedRun& run) {
  return run.watched.ok() ? run.watched->out.head + run.watched->out.tail
                          : run.watched.status().ToString();
}

ChildStdio NullStdio() {
  const auto null = [] { return sandbox::UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)); };
  return {null(), null(), null()};
}

absl::StatusCode StartCode(const std::vector<std::string>& argv) {
  asio::io_context loop;
  return StartOperatorProgram(loop.get_executor(), argv, NullStdio()).status().code();
}

TEST(OperatorProgram, HasPathAsItsOnlyVariableAndTheRootAsItsDirectory) {
  ASSERT_EQ(::setenv("WARDER_TEST_SECRET", "canary", 1), 0);
  const WatchedRun run = testing::WatchProgram({"/usr/bin/env"}, "", testing::WideLimits());
  EXPECT_THAT(OutputOf(run), ::testing::MatchesRegex("PATH=/usr/local/sbin:[^\n]*\n"));
  EXPECT_EQ(OutputOf(WatchShell("pwd")), "/\n");
}

TEST(OperatorProgram, HasNoDescriptorButItsThree) {
  const int leak =
      ::open("/dev/null", O_RDONLY);  // NOLINT(android-cloexec-open): inherited on purpose
  ASSERT_GE(leak, 3);
  const WatchedRun run = WatchShell("ls /proc/$$/fd");
  ::close(leak);
  EXPECT_EQ(OutputOf(run), "0\n1\n2\n");
}

TEST(OperatorProgram, HasASessionOfItsOwnAndNoTerminal) {
  const WatchedRun run = WatchShell("echo $(ps -o sid= -p $$) $$; true </dev/tty || echo no tty");
  EXPECT_THAT(OutputOf(run), ::testing::MatchesRegex("([0-9]+) [0-9]+\nno tty\n"));
  const std::string output = OutputOf(run);
  const std::size_t space = output.find(' ');
  EXPECT_EQ(output.substr(0, space), output.substr(space + 1, output.find('\n') - space - 1));
}

TEST(OperatorProgram, StartsWithDefaultSignals) {
  ::signal(SIGPIPE, SIG_IGN);
  const WatchedRun run = WatchShell("grep -E '^Sig(Blk|Ign):' /proc/self/status");
  // 32 and 33 are glibc's own: posix_spawn leaves them ignored.
  EXPECT_THAT(OutputOf(run),
              ::testing::MatchesRegex("SigBlk:\t0+\nSigIgn:\t0000000(0|1)(0|8)0000000\n"));
}

TEST(OperatorProgram, WhatCannotBeStartedIsAnError) {
  const testing::TempTree tree;
  EXPECT_EQ(StartCode({}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartCode({""}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartCode({"sh"}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartCode({tree.At("nothing")}), absl::StatusCode::kNotFound);
  EXPECT_EQ(StartCode({tree.Write("data", "x", 0644)}), absl::StatusCode::kPermissionDenied);
}

TEST(OperatorProgram, ThatGoesOutOfScopeIsKilledAndReaped) {
  asio::io_context loop;
  {
    const auto program =
        StartOperatorProgram(loop.get_executor(), {"/bin/sleep", "600"}, NullStdio());
    ASSERT_TRUE(program.ok()) << program.status();
  }
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, WNOHANG), -1);
}

TEST(OperatorProgram, MayBeAskedForItsExitAgain) {
  asio::io_context loop;
  const auto program =
      StartOperatorProgram(loop.get_executor(), {"/bin/sh", "-c", "exit 7"}, NullStdio());
  ASSERT_TRUE(program.ok()) << program.status();
  for (int i = 0; i < 2; ++i) {
    const auto exit = RunAsync(loop, (*program)->Exited());
    ASSERT_TRUE(exit.ok()) << exit.status();
    EXPECT_FALSE(exit->signaled);
    EXPECT_EQ(exit->status, 7);
  }
  EXPECT_TRUE((*program)->attestation().layers.empty());
  EXPECT_TRUE(RunAsync(loop, (*program)->KillAll()).ok());
}

TEST(OperatorProgram, DiesWithTheProcessThatStartedIt) {
  testing::AdoptOrphans();
  int pids[2];
  ASSERT_EQ(::pipe2(pids, O_CLOEXEC), 0);
  const pid_t starter = testing::StartChild([&]() -> int {
    asio::io_context loop;
    ChildStdio stdio = NullStdio();
    stdio.out.Reset(::dup(pids[1]));
    // It says its pid when the parent-death signal is in place.
    const auto program = StartOperatorProgram(
        loop.get_executor(), {"/bin/sh", "-c", "echo $$; exec sleep 600"}, std::move(stdio));
    for (;;) ::pause();
  });
  ::close(pids[1]);
  char text[32] = {};
  ASSERT_GT(::read(pids[0], text, sizeof text - 1), 0);
  ::close(pids[0]);
  ::kill(starter, SIGKILL);
  EXPECT_EQ(testing::ExitCodeOf(starter), 128 + SIGKILL);
  EXPECT_EQ(testing::SignalThatEnded(std::atoi(text)), SIGKILL);
}

}  // namespace
}  // namespace warder::supervisor
