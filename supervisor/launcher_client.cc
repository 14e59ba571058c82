#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "sandbox/remedy.h"
#include "supervisor/launch_protocol.h"
#include "supervisor/launcher.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;

// How long the launcher may take to be ready: rootless it compiles every policy first, which took
// 10 s on an emulated machine with others at work. Milliseconds.
constexpr int kStartMs = 60'000;

// What the launcher said of one call, and the timer whose cancellation wakes whoever waits for it.
struct CallState {
  explicit CallState(const asio::any_io_executor& executor)
      : changed(executor, asio::steady_timer::time_point::max()) {}
  asio::steady_timer changed;
  std::optional<Message> answer;  // kStarted, kFailed or kProbe
  std::optional<ToolExit> exit;
  bool gone = false;
  CallEnd end;  // once gone
};

// The socket to the launcher, shared by the client and every running tool. One coroutine at a time
// reads it, whoever needs something next, and hands each message to its call.
class Channel {
 public:
  Channel(const asio::any_io_executor& executor, UniqueFd socket, pid_t pid)
      : executor_(executor), socket_(executor, socket.Release()), pid_(pid) {}
  ~Channel() {
    socket_.close();  // the launcher ends, and with it every cell
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  std::uint64_t NewCall() {
    const std::uint64_t id = ++last_;
    calls_.emplace(id, std::make_unique<CallState>(executor_));
    return id;
  }
  void Forget(std::uint64_t id) { calls_.erase(id); }
  CallState& Call(std::uint64_t id) { return *calls_.at(id); }

  absl::Status Send(MessageKind kind, std::uint64_t id, std::string body,
                    std::vector<UniqueFd> fds) {
    Message message;
    message.kind = kind;
    message.call = id;
    message.body = std::move(body);
    message.fds = std::move(fds);
    return SendMessage(socket_.native_handle(), message);
  }

  // Returns when `done` holds for the call. Errors: kUnavailable when the launcher is gone.
  template <typename Done>
  asio::awaitable<absl::Status> Await(std::uint64_t id, Done done) {
    while (!done(Call(id))) {
      if (lost_) {
        co_return absl::UnavailableError(
            "the launcher process is gone; the kernel has killed the cell with it");
      }
      if (reading_) {
        asio::error_code ignored;
        co_await Call(id).changed.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        continue;
      }
      co_await ReadOne();
    }
    co_return absl::OkStatus();
  }

 private:
  // Hands the reading over even when the coroutine that reads is cancelled in the middle.
  struct Reading {
    explicit Reading(Channel& owner) : channel(owner) { channel.reading_ = true; }
    ~Reading() {
      channel.reading_ = false;
      channel.WakeAll();
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    Channel& channel;
  };

  asio::awaitable<void> ReadOne() {
    const Reading reading(*this);
    asio::error_code error;
    co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                                asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;  // cancelled: whoever still waits reads on
    auto message = ReceiveMessage(socket_.native_handle());
    if (absl::IsAborted(message.status())) co_return;
    if (!message.ok()) {
      lost_ = true;
      co_return;
    }
    Deliver(std::move(*message));
  }

  void Deliver(Message message) {
    const auto found = calls_.find(message.call);
    if (found == calls_.end()) return;
    CallState& call = *found->second;
    switch (message.kind) {
      case MessageKind::kExited:
        call.exit = DecodeExit(message.body);
        lost_ = lost_ || !call.exit.has_value();
        break;
      case MessageKind::kGone: {
        auto end = DecodeEnd(message.body);
        lost_ = lost_ || !end.has_value();
        if (end.has_value()) call.end = *std::move(end);
        call.gone = true;
        break;
      }
      default:
        call.answer = std::move(message);
        break;
    }
  }

  void WakeAll() {
    for (auto& [id, call] : calls_) call->changed.cancel();
  }

  asio::any_io_executor executor_;
  asio::posix::stream_descriptor socket_;
  pid_t pid_;
  std::uint64_t last_ = 0;
  bool reading_ = false, lost_ = false;
  std::map<std::uint64_t, std::unique_ptr<CallState>> calls_;
};

class LaunchedTool : public RunningTool {
 public:
  LaunchedTool(std::shared_ptr<Channel> channel, std::uint64_t id, sandbox::Attestation attestation)
      : channel_(std::move(channel)), id_(id), attestation_(std::move(attestation)) {}
  ~LaunchedTool() override {
    if (!channel_->Call(id_).gone) channel_->Send(MessageKind::kKill, id_, "", {}).IgnoreError();
    channel_->Forget(id_);
  }
  const sandbox::Attestation& attestation() const override { return attestation_; }
  const CallEnd& end() const override { return channel_->Call(id_).end; }

  asio::awaitable<absl::StatusOr<ToolExit>> Exited() override {
    absl::Status status =
        co_await channel_->Await(id_, [](const CallState& call) { return call.exit.has_value(); });
    if (!status.ok()) co_return status;
    co_return channel_->Call(id_).exit.value_or(ToolExit());
  }

  asio::awaitable<absl::Status> KillAll() override {
    absl::Status status = channel_->Send(MessageKind::kKill, id_, "", {});
    if (!status.ok()) co_return status;
    co_return co_await channel_->Await(id_, [](const CallState& call) { return call.gone; });
  }

 private:
  std::shared_ptr<Channel> channel_;
  std::uint64_t id_;
  sandbox::Attestation attestation_;
};

LaunchRequest MakeRequest(const manifest::PreparedCall& call) {
  LaunchRequest request;
  request.policy = call.policy.name;
  request.policy_digest = call.policy.digest;
  request.workspace_path = call.workspace_path;
  request.workspace_device = call.workspace_device;
  request.workspace_inode = call.workspace_inode;
  request.argv = call.argv;
  for (const manifest::Variable& variable : call.environment) {
    request.environment.push_back(variable.name + "=" + variable.value);
  }
  for (const manifest::PinnedFile& file : call.files) {
    LaunchFile entry;
    entry.path = file.path;
    entry.identity = {file.device,   file.inode,    file.size,
                      file.mtime_ns, file.ctime_ns, sandbox::Compare::kContent};
    entry.copied = file.copied;
    request.files.push_back(std::move(entry));
  }
  request.cwd_path = call.cwd_path;
  request.cwd_device = call.cwd_device;
  request.cwd_inode = call.cwd_inode;
  return request;
}

class LauncherClient : public Launcher {
 public:
  explicit LauncherClient(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

  asio::awaitable<absl::StatusOr<std::variant<std::unique_ptr<RunningTool>, LaunchFailure>>> Launch(
      approval::ApprovedCall call, ChildStdio stdio) override {
    std::vector<UniqueFd> fds;
    fds.push_back(std::move(stdio.in));
    fds.push_back(std::move(stdio.out));
    fds.push_back(std::move(stdio.err));
    for (const manifest::PinnedFile& file : call.call().files) {
      fds.emplace_back(fcntl(file.fd.get(), F_DUPFD_CLOEXEC, 0));
      if (!fds.back().ok()) {
        co_return absl::ResourceExhaustedError(
            absl::StrFormat("no descriptor left: %s", strerror(errno)));
      }
    }
    const std::uint64_t id = channel_->NewCall();
    const auto answer = co_await Ask(MessageKind::kLaunch, id,
                                     EncodeLaunch(MakeRequest(call.call())), std::move(fds));
    if (!answer.ok()) {
      channel_->Forget(id);
      co_return answer.status();
    }
    if (answer->kind == MessageKind::kStarted) {
      auto attestation = DecodeAttestation(answer->body);
      if (!attestation.has_value()) {
        co_return absl::InternalError("launch protocol: bad attestation");
      }
      co_return std::make_unique<LaunchedTool>(channel_, id, std::move(*attestation));
    }
    auto failure = DecodeFailure(answer->body);
    channel_->Forget(id);
    if (!failure.has_value()) co_return absl::InternalError("launch protocol: bad failure");
    co_return std::move(*failure);
  }

  asio::awaitable<absl::StatusOr<std::vector<sandbox::Layer>>> Probe() override {
    const std::uint64_t id = channel_->NewCall();
    const auto answer = co_await Ask(MessageKind::kProbe, id, "", {});
    channel_->Forget(id);
    if (!answer.ok()) co_return answer.status();
    if (answer->kind == MessageKind::kFailed) {
      const auto failure = DecodeFailure(answer->body);
      co_return absl::FailedPreconditionError(failure.has_value() ? failure->could_not_start.detail
                                                                  : "launch protocol: bad failure");
    }
    auto attestation = DecodeAttestation(answer->body);
    if (!attestation.has_value()) co_return absl::InternalError("launch protocol: bad attestation");
    co_return std::move(attestation->layers);
  }

 private:
  asio::awaitable<absl::StatusOr<Message>> Ask(MessageKind kind, std::uint64_t id, std::string body,
                                               std::vector<UniqueFd> fds) {
    absl::Status status = channel_->Send(kind, id, std::move(body), std::move(fds));
    if (status.ok()) {
      status = co_await channel_->Await(
          id, [](const CallState& call) { return call.answer.has_value(); });
    }
    if (!status.ok()) co_return status;
    co_return std::exchange(channel_->Call(id).answer, std::nullopt).value_or(Message());
  }
  std::shared_ptr<Channel> channel_;
};

// The launcher starts with an empty environment: its memory is copied into every cell's init.
absl::StatusOr<pid_t> Execute(int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, kLauncherSocketFd);
  posix_spawn_file_actions_addclosefrom_np(&actions, kLauncherSocketFd + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  char name[] = "warder-launcher";
  char* argv[] = {name, nullptr};
  char* envp[] = {nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv, envp);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(absl::StrFormat(
        "cannot start the launcher: %s%s", strerror(error), sandbox::StepRemedy("clone", error)));
  }
  return pid;
}

absl::Status Greet(int socket, const manifest::Config& config) {
  Message hello;
  hello.body = EncodeConfig(config);
  absl::Status status = SendMessage(socket, hello);
  if (!status.ok()) return status;
  pollfd ready = {socket, POLLIN, 0};
  int count = 0;
  do {
    count = poll(&ready, 1, kStartMs);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) {
    return absl::UnavailableError(absl::StrFormat(
        "the launcher was not ready within %d s: is this machine overloaded?", kStartMs / 1000));
  }
  auto answer = ReceiveMessage(socket);
  if (!answer.ok()) return absl::UnavailableError("the launcher ended before it was ready");
  if (!answer->body.empty()) {
    return absl::UnavailableError("the launcher cannot build cells: " + answer->body);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Launcher>> StartLauncher(const asio::any_io_executor& executor,
                                                        const manifest::Config& config) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::UnavailableError(absl::StrFormat("socketpair: %s", strerror(errno)));
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  auto pid = Execute(theirs.get());
  if (!pid.ok()) return pid.status();
  theirs.Reset();
  absl::Status greeted = Greet(ours.get(), config);
  auto channel = std::make_shared<Channel>(executor, std::move(ours), *pid);
  if (!greeted.ok()) return greeted;
  return std::make_unique<LauncherClient>(std::move(channel));
}

}  // namespace warder::supervisor
