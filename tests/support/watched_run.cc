#include "tests/support/watched_run.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <asio/this_coro.hpp>
#include <cstdlib>
#include <utility>

#include "supervisor/operator_program.h"
#include "tests/support/run_async.h"

namespace warder::testing {
namespace {

asio::awaitable<absl::StatusOr<supervisor::Watched>> StartAndWatch(
    std::vector<std::string> argv, std::string input, supervisor::WatchLimits limits,
    std::shared_ptr<supervisor::Cancellation> cancel) {
  const auto executor = co_await asio::this_coro::executor;
  auto pipes = supervisor::MakeCapturePipes();
  if (!pipes.ok()) co_return pipes.status();
  auto program = supervisor::StartOperatorProgram(executor, argv, std::move(pipes->child));
  if (!program.ok()) co_return program.status();
  co_return co_await supervisor::WatchCaptured(**program, *std::move(pipes), std::move(input),
                                               limits, std::move(cancel));
}

}  // namespace

supervisor::WatchLimits WideLimits() {
  constexpr std::int64_t kTimeoutMs = 60'000;
  constexpr std::uint64_t kStreamBytes = 1u << 20;
  supervisor::WatchLimits limits;
  limits.timeout_ms = kTimeoutMs;
  limits.stdout_bytes = limits.stderr_bytes = kStreamBytes;
  return limits;
}

WatchedRun WatchProgram(
    std::vector<std::string> argv, std::string input, supervisor::WatchLimits limits,
    const std::function<void(asio::io_context&, supervisor::Cancellation&)>& at_start) {
  ::signal(SIGPIPE, SIG_IGN);
  asio::io_context loop;
  auto cancel = std::make_shared<supervisor::Cancellation>(loop.get_executor());
  if (at_start) at_start(loop, *cancel);
  const auto started = std::chrono::steady_clock::now();
  WatchedRun run;
  run.watched = RunAsync(loop, StartAndWatch(std::move(argv), std::move(input), limits, cancel));
  run.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - started);
  return run;
}

WatchedRun WatchShell(const std::string& script, std::string input,
                      supervisor::WatchLimits limits) {
  return WatchProgram({"/bin/sh", "-c", script}, std::move(input), limits);
}

void AdoptOrphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) std::abort();
}

void AwaitOrphans() {
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
}

int SignalThatEnded(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return -1;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace warder::testing
