#include "tests/support/bare_launcher.h"

#include <asio/this_coro.hpp>
#include <utility>

#include "supervisor/operator_program.h"

namespace warder::testing {

using supervisor::ChildStdio;

asio::awaitable<absl::StatusOr<BareLauncher::Launched>> BareLauncher::Launch(
    approval::ApprovedCall call, ChildStdio stdio) {
  tickets.push_back(call.ticket());
  environment.clear();
  for (const manifest::Variable& variable : call.call().environment) {
    environment[variable.name] = variable.value;
  }
  if (on_launch) on_launch();
  if (!gone.ok()) co_return gone;
  if (failure) co_return Launched(*failure);
  // argv[0] of a call is as the manifest writes it; a bare start needs a path.
  std::vector<std::string> argv = call.call().argv;
  argv.front() = call.call().files.front().path;
  const auto executor = co_await asio::this_coro::executor;
  auto started = supervisor::StartOperatorProgram(executor, argv, std::move(stdio));
  if (!started.ok()) co_return started.status();
  co_return Launched(*std::move(started));
}

asio::awaitable<absl::StatusOr<std::vector<sandbox::Layer>>> BareLauncher::Probe() {
  co_return std::vector<sandbox::Layer>{};
}

}  // namespace warder::testing
