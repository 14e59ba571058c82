// BareLauncher: a launcher that starts programs without any cell, for tests of what happens around
// a launch.
#ifndef WARDER_TESTS_SUPPORT_BARE_LAUNCHER_H_
#define WARDER_TESTS_SUPPORT_BARE_LAUNCHER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "approval/ticket.h"
#include "supervisor/launcher.h"

namespace warder::testing {

class BareLauncher : public supervisor::Launcher {
 public:
  using Launched =
      std::variant<std::unique_ptr<supervisor::RunningTool>, supervisor::LaunchFailure>;
  asio::awaitable<absl::StatusOr<Launched>> Launch(approval::ApprovedCall call,
                                                   supervisor::ChildStdio stdio) override;
  asio::awaitable<absl::StatusOr<std::vector<sandbox::Layer>>> Probe() override;

  // What Launch was given, one element a launch.
  std::vector<approval::Ticket> tickets;
  std::map<std::string, std::string> environment;  // of the last one
  // When set, nothing starts and this is the answer.
  std::optional<supervisor::LaunchFailure> failure;
  absl::Status gone;
  std::function<void()> on_launch;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_BARE_LAUNCHER_H_
