#include "supervisor/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "supervisor/operator_program.h"
#include "tests/support/run_async.h"
#include "tests/support/watched_run.h"

namespace warder::supervisor {
namespace {

using std::chrono::milliseconds;
using testing::RunAsync;
using testing::WatchedRun;
using testing::WatchProgram;
using testing::WatchShell;
using testing::WideLimits;

constexpr std::size_t kMiB = 1u << 20;

std::string Pattern(std::size_t bytes) {
  std::string pattern(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<char>('a' + (i / 7 + i) % 23);
  return pattern;
}

std::string All(const Captured& stream) { return stream.head + stream.tail; }

// The exit code, or -1 when it ended in another way.
int CodeOf(const WatchedRun& run) {
  if (!run.watched.ok()) return -1;
  const auto* exited = std::get_if<Exited>(&run.watched->ending);
  return exited == nullptr ? -1 : exited->code;
}

// Far above what a busy machine adds, far below what the test rules out.
constexpr milliseconds kSoon{20'000};
constexpr std::int64_t kNeverMs = 500'000;

WatchLimits Deadline(std::int64_t timeout_ms) {
  WatchLimits limits = WideLimits();
  limits.timeout_ms = timeout_ms;
  return limits;
}

TEST(Watch, StdinIsTheInputAndThenEnds) {
  const WatchedRun cat = WatchProgram({"/bin/cat"}, R"({"a":1})", WideLimits());
  EXPECT_EQ(CodeOf(cat), 0);
  EXPECT_EQ(cat.watched->out.head, R"({"a":1})");
  const WatchedRun count = WatchProgram({"/usr/bin/wc", "-c"}, R"({"a":1})", WideLimits());
  EXPECT_EQ(count.watched->out.head, "7\n");
}

TEST(Watch, ThirtyTwoMebibytesGoEachWayAtOnceWithoutADeadlock) {
  const std::string input = Pattern(32 * kMiB);
  WatchLimits limits = WideLimits();
  limits.stdout_bytes = 33 * kMiB;
  const WatchedRun run = WatchProgram({"/usr/bin/tee", "/dev/stderr"}, input, limits);
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_TRUE(All(run.watched->out) == input);
  EXPECT_EQ(run.watched->err.total_bytes, input.size());
  EXPECT_TRUE(run.watched->err.truncated());
  EXPECT_EQ(All(run.watched->err).size(), kMiB);
}

TEST(Watch, OutputBeyondTheCapIsCountedAndItsHeadAndTailAreKept) {
  WatchLimits limits = WideLimits();
  limits.stdout_bytes = 1000;
  const WatchedRun run =
      WatchShell("printf start; head -c 20000000 /dev/zero; printf end", "", limits);
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_EQ(run.watched->out.total_bytes, 20'000'008u);
  EXPECT_EQ(run.watched->out.head.size(), 500u);
  EXPECT_THAT(run.watched->out.head, ::testing::StartsWith("start"));
  EXPECT_EQ(run.watched->out.tail.size(), 500u);
  EXPECT_THAT(run.watched->out.tail, ::testing::EndsWith("end"));
}

TEST(Watch, AStderrFloodDoesNotHoldBackTheLineOnStdout) {
  const WatchedRun run = WatchShell("head -c 20000000 /dev/zero >&2; echo line");
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_EQ(All(run.watched->out), "line\n");
  EXPECT_EQ(run.watched->err.total_bytes, 20'000'000u);
}

TEST(Watch, StdoutAndStderrStayApartByteForByte) {
  const WatchedRun run = WatchShell(R"(printf 'a\0b\n'; printf '\377' >&2; printf '  \n')");
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_EQ(All(run.watched->out), std::string("a\0b\n  \n", 7));
  EXPECT_EQ(All(run.watched->err), "\xff");
}

TEST(Watch, AProgramThatClosesItsInputAtOnceIsNoError) {
  const WatchedRun run = WatchShell("exec <&-; echo ok", Pattern(8 * kMiB));
  EXPECT_EQ(CodeOf(run), 0);
  EXPECT_EQ(All(run.watched->out), "ok\n");
}

TEST(Watch, AProgramThatReadsALittleOfItsInputIsNoError) {
  const WatchedRun run =
      WatchProgram({"/usr/bin/head", "-c", "10"}, Pattern(8 * kMiB), WideLimits());
  EXPECT_EQ(CodeOf(run), 0);
  EXPECT_EQ(All(run.watched->out), Pattern(10));
}

TEST(Watch, AProgramThatExitsWithItsInputUnreadIsNoError) {
  const WatchedRun run = WatchShell("exit 3", Pattern(8 * kMiB));
  EXPECT_EQ(CodeOf(run), 3);
}

TEST(Watch, ADescendantThatHoldsThePipesIsEndedAndTheExitCodeStands) {
  testing::AdoptOrphans();
  const WatchedRun run = WatchShell("sleep 600 & echo $!; exit 4");
  ASSERT_EQ(CodeOf(run), 4);
  EXPECT_LT(run.took, kSoon);
  EXPECT_EQ(testing::SignalThatEnded(std::stoi(All(run.watched->out))), SIGKILL);
}

TEST(Watch, ADescendantThatClosedItsPipesIsEndedToo) {
  testing::AdoptOrphans();
  WatchLimits limits = WideLimits();
  limits.drain_idle_ms = limits.drain_total_ms = kNeverMs;
  const WatchedRun run = WatchShell("sleep 600 >/dev/null 2>&1 </dev/null & echo $!", "", limits);
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_LT(run.took, kSoon);
  EXPECT_EQ(testing::SignalThatEnded(std::stoi(All(run.watched->out))), SIGKILL);
}

TEST(Watch, ADescendantThatWritesOnIsReadForABoundedTime) {
  WatchLimits limits = WideLimits();
  limits.drain_idle_ms = kNeverMs;
  limits.drain_total_ms = 300;
  const WatchedRun run =
      WatchShell("(while :; do echo drip; sleep 0.02; done) & exit 5", "", limits);
  ASSERT_EQ(CodeOf(run), 5);
  EXPECT_GE(run.took, milliseconds(300));
  EXPECT_LT(run.took, kSoon);
  EXPECT_THAT(All(run.watched->out), ::testing::StartsWith("drip\n"));
}

TEST(Watch, OutputThatADescendantWritesSoonAfterTheExitIsKept) {
  WatchLimits limits = WideLimits();
  limits.drain_idle_ms = limits.drain_total_ms = kNeverMs;
  const WatchedRun run = WatchShell("(sleep 0.1; echo late) & echo early", "", limits);
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_EQ(All(run.watched->out), "early\nlate\n");
}

TEST(Watch, AProgramThatIgnoresSigtermIsGoneAtTheDeadline) {
  const WatchedRun run =
      WatchShell("trap '' TERM INT HUP; while :; do sleep 1; done", "", Deadline(500));
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  ASSERT_TRUE(std::holds_alternative<TimedOut>(run.watched->ending));
  EXPECT_EQ(std::get<TimedOut>(run.watched->ending).limit_ms, 500);
  EXPECT_GE(run.took, milliseconds(500));
  EXPECT_LT(run.took, kSoon);
}

TEST(Watch, AStoppedProgramIsGoneAtTheDeadline) {
  const WatchedRun run = WatchShell("kill -STOP $$", "", Deadline(100));
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run.watched->ending));
  EXPECT_LT(run.took, kSoon);
}

TEST(Watch, AFloodOfOutputDoesNotHoldBackTheDeadline) {
  const WatchedRun run = WatchProgram({"/usr/bin/yes"}, "", Deadline(200));
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run.watched->ending));
  EXPECT_LT(run.took, kSoon);
  EXPECT_TRUE(run.watched->out.truncated());
}

TEST(Watch, TheDeadlineCoversADescendantThatHoldsThePipes) {
  testing::AdoptOrphans();
  const WatchedRun run = WatchShell("sleep 600 & wait", "", Deadline(100));
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run.watched->ending));
  testing::AwaitOrphans();
}

TEST(Watch, InputThatIsNeverReadDoesNotOutliveTheDeadline) {
  const WatchedRun run = WatchShell("exec sleep 600", Pattern(8 * kMiB), Deadline(100));
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run.watched->ending));
}

TEST(Watch, ASignalIsReportedFromTheKernelsWaitStatus) {
  const WatchedRun run = WatchShell("kill -SEGV $$");
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  ASSERT_TRUE(std::holds_alternative<Signaled>(run.watched->ending));
  EXPECT_EQ(std::get<Signaled>(run.watched->ending).signal, SIGSEGV);
}

TEST(Watch, AnExitCodeThatLooksLikeASignalStaysAnExitCode) {
  EXPECT_EQ(CodeOf(WatchShell("exit 139")), 139);
  EXPECT_EQ(CodeOf(WatchShell("exit 255")), 255);
}

TEST(Watch, MoreOutputThanAllowedEndsTheToolHoweverItIsSplit) {
  WatchLimits limits = WideLimits();
  limits.output_bytes = 100'000;
  const WatchedRun run = WatchShell("while :; do echo out; echo err >&2; done", "", limits);
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<OutputLimit>(run.watched->ending));
  EXPECT_EQ(CodeOf(WatchShell("head -c 100000 /dev/zero", "", limits)), 0);
}

TEST(Watch, UsageAndDurationComeFromTheTool) {
  const WatchedRun run = WatchShell("sleep 0.1; head -c 3000000 /dev/zero >/dev/null");
  ASSERT_EQ(CodeOf(run), 0);
  EXPECT_GE(run.watched->duration_ms, 100);
  EXPECT_LE(run.watched->duration_ms, run.took.count());
  EXPECT_GT(run.watched->usage.max_rss_kib, 0);
}

TEST(Watch, ACancelEndsTheTree) {
  testing::AdoptOrphans();
  const WatchedRun run = WatchProgram(
      {"/bin/sh", "-c", "exec sleep 600"}, "", WideLimits(),
      [](asio::io_context& loop, Cancellation& cancel) {
        asio::post(loop, [&loop, &cancel] { asio::post(loop, [&cancel] { cancel.Cancel(); }); });
      });
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<Cancelled>(run.watched->ending));
  EXPECT_LT(run.took, kSoon);
}

TEST(Watch, ACancelBeforeTheWatchStartedEndsTheTree) {
  const WatchedRun run =
      WatchProgram({"/bin/sleep", "600"}, "", WideLimits(),
                   [](asio::io_context&, Cancellation& cancel) { cancel.Cancel(); });
  ASSERT_TRUE(run.watched.ok()) << run.watched.status();
  EXPECT_TRUE(std::holds_alternative<Cancelled>(run.watched->ending));
}

TEST(Watch, NoDescriptorIsLeftBehind) {
  const auto lowest_free = [] {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(fd);
    return fd;
  };
  const int before = lowest_free();
  WatchShell("sleep 600 & echo x");
  WatchShell("sleep 600", "", Deadline(20));
  EXPECT_EQ(lowest_free(), before);
}

asio::awaitable<bool> WatchAgainstATimer(Watched* found) {
  using asio::experimental::awaitable_operators::operator||;
  const auto executor = co_await asio::this_coro::executor;
  auto pipes = MakeCapturePipes();
  auto program = StartOperatorProgram(executor, {"/bin/sleep", "600"}, std::move(pipes->child));
  const auto watch = [&]() -> asio::awaitable<void> {
    auto watched = co_await WatchCaptured(**program, *std::move(pipes), "", WideLimits(),
                                          std::make_shared<Cancellation>(executor));
    if (watched.ok()) *found = *std::move(watched);
  };
  asio::steady_timer timer(executor, milliseconds(20));
  co_await (watch() || timer.async_wait(asio::use_awaitable));
  co_return true;
}

TEST(Watch, ARaceThatTheWatchLosesCancelsTheCallAndLeavesNothingRunning) {
  Watched found;
  EXPECT_TRUE(RunAsync(WatchAgainstATimer(&found)));
  EXPECT_TRUE(std::holds_alternative<Cancelled>(found.ending));
}

// A launcher that is gone: neither the end of the tool nor its death can be learned.
class LostTool : public RunningTool {
 public:
  const sandbox::Attestation& attestation() const override { return attestation_; }
  const CallEnd& end() const override { return end_; }
  asio::awaitable<absl::StatusOr<ToolExit>> Exited() override {
    co_return absl::UnavailableError("launcher: gone");
  }
  asio::awaitable<absl::Status> KillAll() override {
    co_return absl::UnavailableError("launcher: gone");
  }

 private:
  sandbox::Attestation attestation_;
  CallEnd end_;
};

// A tool that nothing ends.
class Undead : public LostTool {
 public:
  explicit Undead(const asio::any_io_executor& executor)
      : never_(executor, asio::steady_timer::time_point::max()) {}
  asio::awaitable<absl::StatusOr<ToolExit>> Exited() override {
    std::error_code error;
    co_await never_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    co_return absl::UnavailableError("launcher: gone");
  }

 private:
  asio::steady_timer never_;
};

// A tool that has exited, while someone holds its pipes for ever.
class Ended : public LostTool {
 public:
  asio::awaitable<absl::StatusOr<ToolExit>> Exited() override { co_return ToolExit{false, 6, {}}; }
  asio::awaitable<absl::Status> KillAll() override { co_return absl::OkStatus(); }
};

// Watches `tool` while its ends of the pipes stay open, so that no end of file helps.
template <class Tool>
absl::StatusOr<Watched> WatchHeld(asio::io_context& loop, Tool tool, WatchLimits limits) {
  auto pipes = MakeCapturePipes();
  const ChildStdio held = std::move(pipes->child);
  return RunAsync(loop, WatchCaptured(tool, *std::move(pipes), Pattern(kMiB), limits,
                                      std::make_shared<Cancellation>(loop.get_executor())));
}

TEST(Watch, TheDeadlineCutsTheReadingAfterTheExitShort) {
  asio::io_context loop;
  WatchLimits limits = Deadline(50);
  limits.drain_idle_ms = limits.drain_total_ms = kNeverMs;
  const auto watched = WatchHeld(loop, Ended(), limits);
  ASSERT_TRUE(watched.ok()) << watched.status();
  ASSERT_TRUE(std::holds_alternative<Exited>(watched->ending));
  EXPECT_EQ(std::get<Exited>(watched->ending).code, 6);
}

TEST(Watch, SilenceAfterTheExitEndsTheReading) {
  asio::io_context loop;
  WatchLimits limits = WideLimits();
  limits.drain_idle_ms = 20;
  limits.drain_total_ms = kNeverMs;
  EXPECT_TRUE(WatchHeld(loop, Ended(), limits).ok());
}

TEST(Watch, ALauncherThatIsGoneIsUnavailable) {
  asio::io_context loop;
  EXPECT_EQ(WatchHeld(loop, LostTool(), Deadline(50)).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(Watch, AToolThatCannotBeKilledIsAnErrorAndNoHang) {
  asio::io_context loop;
  EXPECT_EQ(WatchHeld(loop, Undead(loop.get_executor()), Deadline(50)).status().code(),
            absl::StatusCode::kUnavailable);
}

asio::awaitable<absl::StatusOr<Watched>> WatchSleepLive(std::int64_t timeout_ms,
                                                        const std::string& seconds) {
  const auto executor = co_await asio::this_coro::executor;
  ChildStdio own{sandbox::UniqueFd(::dup(0)), sandbox::UniqueFd(::dup(1)),
                 sandbox::UniqueFd(::dup(2))};
  auto program = StartOperatorProgram(executor, {"/bin/sleep", seconds}, std::move(own));
  if (!program.ok()) co_return program.status();
  co_return co_await WatchLive(**program, Deadline(timeout_ms),
                               std::make_shared<Cancellation>(executor));
}

TEST(Watch, ALiveToolHasItsExitAndItsDeadlineWatched) {
  const auto ended = RunAsync(WatchSleepLive(60'000, "0.01"));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_TRUE(std::holds_alternative<Exited>(ended->ending));
  EXPECT_EQ(ended->out.total_bytes, 0u);
  const auto stopped = RunAsync(WatchSleepLive(50, "600"));
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_TRUE(std::holds_alternative<TimedOut>(stopped->ending));
}

TEST(Watch, PipesThatCannotBeMadeAreResourceExhausted) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{4, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const absl::Status status = MakeCapturePipes().status();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace warder::supervisor
