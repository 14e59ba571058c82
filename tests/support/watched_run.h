// WatchedRun: real programs, without a cell, under the real watch.
#ifndef WARDER_TESTS_SUPPORT_WATCHED_RUN_H_
#define WARDER_TESTS_SUPPORT_WATCHED_RUN_H_

#include <sys/types.h>

#include <asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "supervisor/watch.h"

namespace warder::testing {

struct WatchedRun {
  absl::StatusOr<supervisor::Watched> watched = absl::UnknownError("not run");
  std::chrono::milliseconds took{0};
};

// Limits with room for everything that a test does not ask about, on a busy machine too: 60 s, 1
// MiB of each stream.
supervisor::WatchLimits WideLimits();

// Runs `argv` to its end. `at_start` is called when the watch has started; it may cancel. SIGPIPE
// is ignored, as in Warder.
WatchedRun WatchProgram(
    std::vector<std::string> argv, std::string input, supervisor::WatchLimits limits,
    const std::function<void(asio::io_context&, supervisor::Cancellation&)>& at_start = nullptr);

// The same for `sh -c script`.
WatchedRun WatchShell(const std::string& script, std::string input = "",
                      supervisor::WatchLimits limits = WideLimits());

// Makes this process inherit orphans of its children, so that a test can see them end.
void AdoptOrphans();
// Waits for the adopted process `pid` to end and returns the signal that ended it, or 0. A living
// one hangs the test.
int SignalThatEnded(pid_t pid);
// Waits until no adopted process is left.
void AwaitOrphans();

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_WATCHED_RUN_H_
