#include "supervisor/embedded.h"

#include <unistd.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/signal_set.hpp>
#include <charconv>
#include <csignal>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "sandbox/privileges.h"
#include "supervisor/resolve.h"

namespace warder::supervisor {
namespace {

constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP};

// nohup and a shell's background jobs ignore signals on purpose, and that stays so.
bool IsIgnored(int number) {
  struct sigaction action{};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Runs `work` to its end on `io`. Whatever else still waits on `io` then (a signal set, a
// connection) is left alone.
template <typename T>
absl::StatusOr<T> Await(asio::io_context& io, asio::awaitable<absl::StatusOr<T>> work) {
  absl::StatusOr<T> result;
  asio::co_spawn(
      io, std::move(work), [&](const std::exception_ptr& failure, absl::StatusOr<T> value) {
        io.stop();
        if (failure == nullptr) {
          result = std::move(value);
          return;
        }
        try {
          std::rethrow_exception(failure);
        } catch (const std::exception& exception) {
          result = absl::InternalError(absl::StrFormat("supervisor: %s", exception.what()));
        }
      });
  io.restart();
  io.run();
  return result;
}

}  // namespace

absl::StatusOr<approval::Requester> ThisRequester(const std::string& via) {
  std::ifstream file("/proc/self/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // Field 2 is a name in parentheses that may hold anything; field 3 follows its last ')'.
  constexpr int kStartTimeAfterName = 20;
  std::size_t at = stat.rfind(')');
  for (int i = 0; i < kStartTimeAfterName && at != std::string::npos; ++i) {
    at = stat.find(' ', at + 1);
  }
  approval::Requester requester{::getuid(), ::getgid(), ::getpid(), 0, via};
  if (at == std::string::npos) return absl::InternalError("/proc/self/stat: cannot be read");
  const char* first = stat.data() + at + 1;
  const auto parsed = std::from_chars(first, stat.data() + stat.size(), requester.start_ticks);
  if (parsed.ec != std::errc()) return absl::InternalError("/proc/self/stat: has no start time");
  return requester;
}

std::vector<std::string> ThisEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

absl::StatusOr<std::unique_ptr<Embedded>> Embedded::Start(const Options& options) {
  std::unique_ptr<Embedded> embedded(new Embedded());
  if (options.approve) {
    auto flag = ParseApproveFlag(*options.approve);
    if (!flag.ok()) return flag.status();
    embedded->approve_ = *std::move(flag);
  }
  auto places = FindPlaces(options);
  if (!places.ok()) return places.status();
  embedded->places_ = *std::move(places);
  const manifest::Config& config = embedded->places_.config;
  auto launcher = StartLauncher(embedded->io_.get_executor(), config);
  if (!launcher.ok()) return launcher.status();
  embedded->launcher_ = *std::move(launcher);
  // After the launcher, which would inherit it: a reader that is gone and a file that may not grow
  // are errors, not deaths.
  for (const int number : {SIGPIPE, SIGXFSZ}) std::ignore = std::signal(number, SIG_IGN);
  if (absl::Status dropped = sandbox::DropSupervisorPrivileges(); !dropped.ok()) {
    return dropped;
  }
  auto audit = AuditLog::Open(AuditPath(config));
  if (audit.ok()) {
    embedded->audit_ = *std::move(audit);
  } else {
    embedded->no_audit_ = audit.status();
  }
  return embedded;
}

absl::StatusOr<approval::Approver*> Embedded::Approver(const manifest::NamedPolicy& policy) {
  if (fixed_ != nullptr) return fixed_.get();
  auto chosen = ChooseApprover(places_.config, policy, approve_);
  if (!chosen.ok()) return chosen.status();
  chosen_ = *std::move(chosen);
  return chosen_.get();
}

absl::StatusOr<CallResult> Embedded::Call(CallRequest request) {
  if (audit_ == nullptr) {
    CallResult refused;
    refused.outcome.tool = request.command.empty() ? request.tool : kExecTool;
    refused.outcome.ending =
        Refused{approval::RefusalCode::kAuditUnavailable, std::string(no_audit_.message())};
    return refused;
  }
  SupervisorParts parts;
  parts.config = &places_.config;
  parts.workspace = &places_.workspace;
  parts.audit = audit_.get();
  parts.launcher = launcher_.get();
  parts.approver = [this](const manifest::NamedPolicy& policy) { return Approver(policy); };
  parts.environment = ThisEnvironment();
  Supervisor supervisor(std::move(parts));

  auto cancel = std::make_shared<Cancellation>(io_.get_executor());
  asio::signal_set signals(io_);
  for (const int number : kEndingSignals) {
    if (!IsIgnored(number)) signals.add(number);
  }
  signals.async_wait([this, cancel](const asio::error_code& error, int number) {
    if (error) return;
    signal_ = number;
    cancel->Cancel();
  });
  return Await(io_, supervisor.Call(std::move(request), cancel));
}

absl::StatusOr<std::vector<sandbox::Layer>> Embedded::Probe() {
  return Await(io_, launcher_->Probe());
}

}  // namespace warder::supervisor
