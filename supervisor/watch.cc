#include "supervisor/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "supervisor/capture.h"

namespace warder::supervisor {
namespace {

using asio::posix::stream_descriptor;
using Clock = asio::steady_timer::clock_type;
using std::chrono::milliseconds;

// The default capacity of a pipe: one read empties it.
constexpr std::size_t kChunkBytes = 64u << 10;
// Moved before other calls get their turn on the one thread.
constexpr std::size_t kTurnBytes = 16 * kChunkBytes;
// Read after the cell is empty. More than a pipe can hold (pipe-max-size is 1 MiB unless an
// administrator raised it); bounds what a writer outside the cell, which was handed the pipe, can
// add.
constexpr std::size_t kFinalDrainBytes = 16u << 20;

// Beyond any policy's limit; keeps the clock's arithmetic in range.
constexpr std::int64_t kLongestMs = 366LL * 24 * 3600 * 1000;

enum class Pipe : std::uint8_t { kMore, kWait, kEnd };

// One output of the tool.
struct Stream {
  Stream(const asio::any_io_executor& executor, sandbox::UniqueFd end, std::uint64_t limit_bytes)
      : fd(executor, end.Release()), kept(limit_bytes) {}
  stream_descriptor fd;
  HeadTail kept;
  bool open = true;
};

// What the coroutines of one watch share. All run on one thread; `wake` is how they tell the
// watching one.
struct State {
  explicit State(const asio::any_io_executor& executor) : wake(executor) {}

  asio::steady_timer wake;
  std::optional<stream_descriptor> in;
  std::optional<Stream> out, err;
  Clock::time_point started = Clock::now();
  Clock::time_point last_byte = started;
  std::optional<absl::StatusOr<ToolExit>> exit;
  std::optional<absl::Status> killed;
  Clock::time_point exited_at = started;
  bool cancelled = false;
  std::uint64_t output_bytes = 0, output_limit = ~std::uint64_t{0};
  std::exception_ptr fault;
  int running = 0;  // coroutines that still use this
  asio::cancellation_signal stop_exit_wait, stop_cancel_wait;

  bool TooMuchOutput() const { return output_bytes > output_limit; }
  bool Draining() const { return (out && out->open) || (err && err->open); }
};

// Sleeps until something happened. Whoever cancels the watching coroutine itself has cancelled the
// call.
asio::awaitable<void> SleepUntil(State& state, Clock::time_point when) {
  std::error_code woken;
  state.wake.expires_at(when);
  co_await state.wake.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  const asio::cancellation_state own = co_await asio::this_coro::cancellation_state;
  if (own.cancelled() != asio::cancellation_type::none) state.cancelled = true;
}

// Reads at most `limit` bytes of what is there.
Pipe ReadSome(State& state, Stream& stream, std::size_t limit) {
  char chunk[kChunkBytes];
  for (std::size_t moved = 0; moved < limit;) {
    const ssize_t got = ::read(stream.fd.native_handle(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Pipe::kWait;
    if (got <= 0) return Pipe::kEnd;
    stream.kept.Add(std::string_view(chunk, static_cast<std::size_t>(got)));
    state.last_byte = Clock::now();
    state.output_bytes += static_cast<std::uint64_t>(got);
    if (state.TooMuchOutput()) state.wake.cancel();
    moved += static_cast<std::size_t>(got);
  }
  return Pipe::kMore;
}

// Writes at most kTurnBytes of `rest` and removes what was taken. A reader that went away ends it:
// that is no error.
Pipe WriteSome(int fd, std::string_view& rest) {
  for (std::size_t moved = 0; moved < kTurnBytes && !rest.empty();) {
    const ssize_t put = ::write(fd, rest.data(), std::min(rest.size(), kChunkBytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return Pipe::kWait;
    if (put < 0) return Pipe::kEnd;
    rest.remove_prefix(static_cast<std::size_t>(put));
    moved += static_cast<std::size_t>(put);
  }
  return rest.empty() ? Pipe::kEnd : Pipe::kMore;
}

// Waits until `fd` is ready; false when the descriptor was closed meanwhile.
asio::awaitable<bool> Ready(stream_descriptor& fd, Pipe pipe, stream_descriptor::wait_type type) {
  std::error_code error;
  if (pipe == Pipe::kMore) {
    co_await asio::post(fd.get_executor(), asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await fd.async_wait(type, asio::redirect_error(asio::use_awaitable, error));
  }
  co_return !error && fd.is_open();
}

asio::awaitable<void> Drain(State& state, Stream& stream) {
  for (;;) {
    const Pipe pipe = ReadSome(state, stream, kTurnBytes);
    if (pipe == Pipe::kEnd) break;
    if (!co_await Ready(stream.fd, pipe, stream_descriptor::wait_read)) break;
  }
  stream.open = false;
}

asio::awaitable<void> Feed(stream_descriptor& in, std::string input) {
  std::string_view rest = input;
  for (;;) {
    const Pipe pipe = WriteSome(in.native_handle(), rest);
    if (pipe == Pipe::kEnd) break;
    if (!co_await Ready(in, pipe, stream_descriptor::wait_write)) break;
  }
  std::error_code ignored;  // close(2) cannot be retried
  in.close(ignored);
}

asio::awaitable<void> AwaitExit(State& state, RunningTool& tool) {
  state.exit = co_await tool.Exited();
  state.exited_at = Clock::now();
}

asio::awaitable<void> Kill(State& state, RunningTool& tool) {
  state.killed = co_await tool.KillAll();
}

asio::awaitable<void> AwaitCancel(State& state, std::shared_ptr<Cancellation> cancel) {
  std::error_code ignored;
  while (!cancel->cancelled()) {
    co_await cancel->timer().async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if ((co_await asio::this_coro::cancellation_state).cancelled() !=
        asio::cancellation_type::none) {
      co_return;
    }
  }
  state.cancelled = true;
}

// Starts `task` beside the watch. Its end, by whatever way, wakes the watch.
void Start(const std::shared_ptr<State>& state, asio::awaitable<void> task,
           asio::cancellation_slot slot = {}) {
  ++state->running;
  asio::co_spawn(state->wake.get_executor(), std::move(task),
                 asio::bind_cancellation_slot(slot, [state](const std::exception_ptr& fault) {
                   if (fault && !state->fault) state->fault = fault;
                   --state->running;
                   state->wake.cancel();
                 }));
}

bool Ended(const State& state) { return state.exit.has_value() || state.fault != nullptr; }

// Nothing of the call runs any more, or nothing more can be learned about it.
bool Gone(const State& state) {
  if (state.fault != nullptr) return true;
  return state.killed && (state.exit || !state.killed->ok());
}

// The tool has exited: what it, or a descendant, still writes is read for a bounded time. The
// deadline cuts it short.
asio::awaitable<void> DrainAfterExit(State& state, const WatchLimits& limits,
                                     Clock::time_point deadline) {
  const Clock::time_point last =
      std::min(deadline, state.exited_at + milliseconds(limits.drain_total_ms));
  while (state.Draining() && !state.cancelled && !state.fault && !state.TooMuchOutput()) {
    const Clock::time_point idle =
        std::max(state.last_byte, state.exited_at) + milliseconds(limits.drain_idle_ms);
    const Clock::time_point until = std::min(idle, last);
    if (Clock::now() >= until) break;
    co_await SleepUntil(state, until);
  }
}

// Ends every coroutine of the watch; `tool` and the state may go afterwards.
asio::awaitable<void> Join(State& state) {
  std::error_code ignored;
  for (std::optional<Stream>* stream : {&state.out, &state.err}) {
    if (!*stream) continue;
    if ((*stream)->open) ReadSome(state, **stream, kFinalDrainBytes);
    (*stream)->fd.close(ignored);
  }
  if (state.in) state.in->close(ignored);
  state.stop_exit_wait.emit(asio::cancellation_type::terminal);
  state.stop_cancel_wait.emit(asio::cancellation_type::terminal);
  while (state.running > 0) co_await SleepUntil(state, Clock::time_point::max());
}

Ending EndingOf(const ToolExit& exit) {
  switch (exit.limit) {
    case LimitHit::kMemory:
      return MemoryLimit{};
    case LimitHit::kCpu:
      return CpuLimit{};
    case LimitHit::kProcesses:
      return ProcessLimit{};
    case LimitHit::kNone:
      break;
  }
  if (!exit.signaled) return Exited{exit.status};
  return Signaled{exit.status};
}

// How the tool ended; nullptr while that is not known.
const ToolExit* ExitOf(const State& state) {
  return state.exit.has_value() && state.exit->ok() ? &**state.exit : nullptr;
}

// Once the tree is gone.
absl::Status FaultOf(const State& state) {
  if (state.exit.has_value() && !state.exit->ok()) return state.exit->status();
  if (state.killed.has_value() && !state.killed->ok()) return *state.killed;
  if (state.fault || !state.exit.has_value()) {
    return absl::InternalError("watch: a coroutine failed");
  }
  return absl::OkStatus();
}

// Watches until the tree is gone. On success `exit` is set, and `ending` says why it ended.
asio::awaitable<absl::Status> Run(std::shared_ptr<State> state, RunningTool& tool,
                                  const WatchLimits& limits, Ending& ending) {
  const Clock::time_point deadline =
      state->started + milliseconds(std::min(limits.timeout_ms, kLongestMs));
  while (!Ended(*state) && !state->cancelled && !state->TooMuchOutput() &&
         Clock::now() < deadline) {
    co_await SleepUntil(*state, deadline);
  }
  const bool ended = Ended(*state);
  if (!ended && state->cancelled) {
    ending = Cancelled{};
  } else if (!ended && !state->TooMuchOutput()) {
    ending = TimedOut{limits.timeout_ms};
  } else if (const ToolExit* exit = ExitOf(*state); exit != nullptr) {
    ending = EndingOf(*exit);
    co_await DrainAfterExit(*state, limits, deadline);
  }
  const bool in_time = ended || state->TooMuchOutput();

  // Also after a clean exit: descendants that closed their pipes live on until here.
  Start(state, Kill(*state, tool));
  while (!Gone(*state)) co_await SleepUntil(*state, Clock::time_point::max());
  co_await Join(*state);
  // Also when the tool ended before we had read that much: which came first is a race.
  if (in_time && !state->cancelled && state->TooMuchOutput()) ending = OutputLimit{};
  co_return FaultOf(*state);
}

Watched Collect(State& state, const RunningTool& tool, Ending ending) {
  Watched watched;
  watched.ending = std::move(ending);
  if (state.out) watched.out = state.out->kept.Take();
  if (state.err) watched.err = state.err->kept.Take();
  watched.duration_ms =
      std::chrono::duration_cast<milliseconds>(state.exited_at - state.started).count();
  if (const ToolExit* exit = ExitOf(state); exit != nullptr) watched.usage = exit->usage;
  watched.denials = tool.end().denials;
  return watched;
}

asio::awaitable<absl::StatusOr<Watched>> WatchAll(std::shared_ptr<State> state, RunningTool& tool,
                                                  WatchLimits limits,
                                                  std::shared_ptr<Cancellation> cancel) {
  Start(state, AwaitExit(*state, tool), state->stop_exit_wait.slot());
  Start(state, AwaitCancel(*state, std::move(cancel)), state->stop_cancel_wait.slot());
  // A cancelled coroutine throws at its next co_await; here that would leave the tool running.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  Ending ending;
  const absl::Status status = co_await Run(state, tool, limits, ending);
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (!status.ok()) co_return status;
  co_return Collect(*state, tool, std::move(ending));
}

// One pipe, both ends close-on-exec. Only the supervisor's end is non-blocking: a tool gets an
// ordinary pipe.
absl::Status MakePipe(sandbox::UniqueFd& read_end, sandbox::UniqueFd& write_end,
                      const sandbox::UniqueFd& own_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "watch: pipe2");
  read_end.Reset(ends[0]);
  write_end.Reset(ends[1]);
  if (::fcntl(own_end.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "watch: fcntl(F_SETFL)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CapturePipes> MakeCapturePipes() {
  CapturePipes pipes;
  absl::Status status = MakePipe(pipes.child.in, pipes.in, pipes.in);
  if (status.ok()) status = MakePipe(pipes.out, pipes.child.out, pipes.out);
  if (status.ok()) status = MakePipe(pipes.err, pipes.child.err, pipes.err);
  if (!status.ok()) return status;
  return pipes;
}

asio::awaitable<absl::StatusOr<Watched>> WatchCaptured(RunningTool& tool, CapturePipes pipes,
                                                       std::string input, WatchLimits limits,
                                                       std::shared_ptr<Cancellation> cancel) {
  const auto executor = co_await asio::this_coro::executor;
  pipes.child = {};  // a writing end of ours would hide the end of the streams
  auto state = std::make_shared<State>(executor);
  state->output_limit = limits.output_bytes.value_or(state->output_limit);
  auto& in = state->in.emplace(executor, pipes.in.Release());
  auto& out = state->out.emplace(executor, std::move(pipes.out), limits.stdout_bytes);
  auto& err = state->err.emplace(executor, std::move(pipes.err), limits.stderr_bytes);
  Start(state, Feed(in, std::move(input)));
  Start(state, Drain(*state, out));
  Start(state, Drain(*state, err));
  co_return co_await WatchAll(state, tool, limits, std::move(cancel));
}

asio::awaitable<absl::StatusOr<Watched>> WatchLive(RunningTool& tool, WatchLimits limits,
                                                   std::shared_ptr<Cancellation> cancel) {
  auto state = std::make_shared<State>(co_await asio::this_coro::executor);
  co_return co_await WatchAll(state, tool, limits, std::move(cancel));
}

}  // namespace warder::supervisor
