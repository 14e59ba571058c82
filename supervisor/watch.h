// Watch: a running tool from start to end. Feeds stdin, drains stdout and stderr, keeps the
// deadline, ends the tree.
#ifndef WARDER_SUPERVISOR_WATCH_H_
#define WARDER_SUPERVISOR_WATCH_H_

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sandbox/unique_fd.h"
#include "supervisor/launcher.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {

// The three pipes of one captured call. `child` goes to Launch.
struct CapturePipes {
  ChildStdio child;
  sandbox::UniqueFd in, out, err;  // the supervisor's ends, non-blocking
};
absl::StatusOr<CapturePipes> MakeCapturePipes();

// Lets a caller end a watched call early. One per call; shared by the watch and whoever may cancel.
class Cancellation {
 public:
  explicit Cancellation(const asio::any_io_executor& executor)
      : timer_(executor, asio::steady_timer::time_point::max()) {}
  void Cancel() {
    cancelled_ = true;
    timer_.cancel();
  }
  bool cancelled() const { return cancelled_; }
  asio::steady_timer& timer() { return timer_; }  // its wait ends when Cancel is called
 private:
  bool cancelled_ = false;
  asio::steady_timer timer_;
};

struct WatchLimits {
  std::int64_t timeout_ms = 0;
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0;  // kept; half as head, half as tail
  std::optional<std::uint64_t> output_bytes;         // both streams together; more ends the call
  // DESIGN 7.7: after the tool has exited its pipes are drained until this long passed without a
  // byte, or this long in all.
  std::int64_t drain_idle_ms = 250, drain_total_ms = 2000;
};

// What a watch found. `ending` is Exited, Signaled, TimedOut, Cancelled or one of the limits.
struct Watched {
  Ending ending;
  Captured out, err;
  std::int64_t duration_ms = 0;
  Usage usage;
  sandbox::DenialReport denials;
};

// Writes `input` to stdin and closes it (a program that stops reading is no error), reads both
// outputs to the caps while counting all of it, and returns once the cell is empty. The deadline
// runs from now and covers the reading. Monotonic clock. Errors: kUnavailable when the launcher
// process is gone (the kernel kills the cell then).
asio::awaitable<absl::StatusOr<Watched>> WatchCaptured(RunningTool& tool, CapturePipes pipes,
                                                       std::string input, WatchLimits limits,
                                                       std::shared_ptr<Cancellation> cancel);

// `warder exec`: the tool has the caller's own streams; only exit, deadline and cancel are watched.
asio::awaitable<absl::StatusOr<Watched>> WatchLive(RunningTool& tool, WatchLimits limits,
                                                   std::shared_ptr<Cancellation> cancel);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_WATCH_H_
