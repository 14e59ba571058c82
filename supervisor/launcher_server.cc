#include "supervisor/launcher_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "sandbox/cell.h"
#include "sandbox/listener.h"
#include "sandbox/quarantine.h"
#include "sandbox/workspace_tree.h"
#include "supervisor/launch_protocol.h"
#include "supervisor/launcher.h"
#include "supervisor/limit_watch.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;

// Calls of one launcher at the same time. Each takes about 24 descriptors; the limit keeps below
// the usual 1024.
constexpr std::size_t kMaxCalls = 32;
constexpr std::ptrdiff_t kWatchedOfCall = 4;
// poll(2) counts milliseconds in an int; waking once a day costs nothing.
constexpr std::int64_t kLongestPollMs = 24LL * 3600 * 1000;

// A cell at its barrier, and what it needs.
struct ReadyCell {
  std::shared_ptr<const CompiledPolicy> policy;
  std::optional<sandbox::UidLease> uid;
  std::unique_ptr<sandbox::Cell> cell;
  UniqueFd workspace;  // O_PATH; only when protected names are absent from it
  std::string workspace_path;
};

// A cell whose program was started.
struct Call : ReadyCell {
  sandbox::Listener listener;
  LimitWatch limits;
  std::vector<sandbox::Quarantined> quarantined = {};
  bool tool_gone = false, cell_gone = false, kill_asked = false;
};

class LauncherServer {
 public:
  LauncherServer(manifest::Config config, PolicyStore policies, const sandbox::Host& host,
                 sandbox::CgroupHost cgroups, sandbox::UidRange uids)
      : config_(std::move(config)),
        policies_(std::move(policies)),
        host_(host),
        cgroups_(std::move(cgroups)),
        uids_(uids) {
    policies_.AnswerDenials(host_.listener_flags != 0 ? sandbox::DenialAnswer::kNotify
                                                      : sandbox::DenialAnswer::kErrno);
  }
  // Serves until the supervisor closes the socket, and then ends what still runs. Should we be
  // killed, as we are when the supervisor dies, the kernel does that: each init dies with us.
  void Serve() {
    ServeMessages();
    for (auto& [id, call] : calls_) EndUnwatched(call);
  }

 private:
  std::vector<pollfd> Watched() const;
  void ServeMessages();
  void EndUnwatched(Call& call);
  bool HandleMessage();
  void Reply(MessageKind kind, std::uint64_t id, std::string body);
  std::optional<LaunchFailure> Launch(const Message& message);
  std::optional<LaunchFailure> StartCell(const LaunchRequest& request,
                                         const std::vector<UniqueFd>& fds, ReadyCell& ready);
  static std::optional<LaunchFailure> HoldWorkspace(const LaunchRequest& request, ReadyCell& ready);
  absl::Status TakeUid(ReadyCell& ready, sandbox::CellRequest& request);
  void Probe(std::uint64_t id);
  void Reap(std::uint64_t id, Call& call);
  int EnforceLimits();
  void Kill(std::uint64_t id);
  void Quarantine(Call& call);

  manifest::Config config_;
  PolicyStore policies_;
  sandbox::Host host_;
  sandbox::CgroupHost cgroups_;
  sandbox::UidRange uids_;
  std::map<std::uint64_t, Call> calls_;
  bool serving_ = true;
};

void LauncherServer::Reply(MessageKind kind, std::uint64_t id, std::string body) {
  Message message;
  message.kind = kind;
  message.call = id;
  message.body = std::move(body);
  if (!SendMessage(kLauncherSocketFd, message).ok()) serving_ = false;
}

absl::Status LauncherServer::TakeUid(ReadyCell& ready, sandbox::CellRequest& request) {
  request.uid = host_.uid;
  request.gid = host_.gid;
  if (host_.tier != sandbox::Tier::kRoot) return absl::OkStatus();
  mkdir(config_.runtime_dir.c_str(),
        0700);  // the lock file's open says what is wrong when this fails
  auto lease = sandbox::UidLease::Take(config_.runtime_dir + "/uids", uids_);
  if (!lease.ok()) return lease.status();
  request.uid = lease->uid();
  request.gid = lease->uid();
  ready.uid = std::move(*lease);
  return absl::OkStatus();
}

std::optional<LaunchFailure> LauncherServer::StartCell(const LaunchRequest& request,
                                                       const std::vector<UniqueFd>& fds,
                                                       ReadyCell& ready) {
  const sandbox::Policy& policy = ready.policy->policy.confinement;
  if (host_.tier < policy.minimum_tier) {
    return Refuse(
        approval::RefusalCode::kSandboxUnavailable, "tier",
        absl::StrFormat(
            "policy `%s` requires tier %s and this launcher has tier %s; run warder as root",
            policy.name, sandbox::TierName(policy.minimum_tier), sandbox::TierName(host_.tier)));
  }
  sandbox::CellRequest cell_request;
  cell_request.policy = &policy;
  cell_request.filter = &ready.policy->filter;
  cell_request.host = &host_;
  cell_request.cgroups = &cgroups_;
  if (!request.workspace_path.empty()) {
    cell_request.workspace = sandbox::WorkspaceSource{
        request.workspace_path, request.workspace_device, request.workspace_inode};
  }
  if (const absl::Status taken = TakeUid(ready, cell_request); !taken.ok()) {
    return Refuse(approval::RefusalCode::kSandboxUnavailable, "user-id",
                  std::string(taken.message()));
  }
  auto built = sandbox::Cell::Build(cell_request);
  if (const auto* failure = std::get_if<sandbox::SetupFailure>(&built)) return FromSetup(*failure);
  ready.cell = std::move(std::get<std::unique_ptr<sandbox::Cell>>(built));
  sandbox::ProgramRequest program;
  if (!request.files.empty()) {
    program = MakeProgram(request, fds, policy.filesystem.workspace);
  } else {
    for (std::size_t i = 0; i < 3; ++i) program.stdio[i] = fds[i].get();
  }
  if (auto failure = ready.cell->Confine(program); failure.has_value()) return FromSetup(*failure);
  return HoldWorkspace(request, ready);
}

// Nothing is executed yet: what is absent now, and there when the cell is gone, is the tool's work.
std::optional<LaunchFailure> LauncherServer::HoldWorkspace(const LaunchRequest& request,
                                                           ReadyCell& ready) {
  if (ready.cell->absent().empty()) return std::nullopt;
  auto node = sandbox::OpenNode(AT_FDCWD, request.workspace_path);
  if (!node.ok() && !absl::IsNotFound(node.status())) {
    return Refuse(approval::RefusalCode::kSandboxUnavailable, "workspace",
                  std::string(node.status().message()));
  }
  if (!node.ok() || node->status.st_dev != request.workspace_device ||
      node->status.st_ino != request.workspace_inode) {
    return Refuse(approval::RefusalCode::kChanged, "workspace",
                  request.workspace_path + ": was moved or replaced while its cell was built");
  }
  ready.workspace = std::move(node->fd);
  ready.workspace_path = request.workspace_path;
  return std::nullopt;
}

void LauncherServer::Quarantine(Call& call) {
  if (!call.workspace.ok()) return;
  call.quarantined =
      sandbox::QuarantineAppeared(call.workspace.get(), call.workspace_path, call.cell->absent(),
                                  config_.state_dir + "/quarantine");
}

std::optional<LaunchFailure> LauncherServer::Launch(const Message& message) {
  const auto request = DecodeLaunch(message.body);
  const std::uint64_t id = message.call;
  if (!request.has_value() || request->files.empty() || request->argv.empty() ||
      message.fds.size() != 3 + request->files.size() || calls_.contains(id)) {
    return Refuse(approval::RefusalCode::kNotRunnable, "request",
                  "the launcher got a request that makes no sense");
  }
  if (calls_.size() >= kMaxCalls) {
    return Refuse(approval::RefusalCode::kSandboxUnavailable, "request",
                  absl::StrFormat("%u calls run already; wait for one to end", kMaxCalls));
  }
  auto policy = policies_.Get(request->policy);
  if (!policy.ok()) {
    return Refuse(approval::RefusalCode::kNoPolicy, "policy",
                  std::string(policy.status().message()));
  }
  if ((*policy)->policy.digest != request->policy_digest) {
    return Refuse(approval::RefusalCode::kChanged, "policy",
                  absl::StrFormat("policy `%s` changed after it was shown", request->policy));
  }
  ReadyCell ready;
  ready.policy = *policy;
  if (auto failure = StartCell(*request, message.fds, ready); failure.has_value()) return failure;
  const sandbox::Attestation attestation = ready.cell->Prove();
  if (const sandbox::Layer* layer = sandbox::FirstUnprovenLayer(attestation); layer != nullptr) {
    // Nothing holds for a tool that is gone.
    if (const auto ended = ready.cell->Ended(); ended.has_value()) return FromSetup(*ended);
    return FromLayer(*layer, attestation);
  }
  if (auto started = ready.cell->Start(); started.has_value()) {
    LaunchFailure failure = FromSetup(*started);
    failure.attestation = attestation;
    return failure;
  }
  sandbox::Listener listener(ready.cell->TakeListener(), ready.policy->filter);
  const LimitWatch limits(ready.cell->cgroup(), ready.policy->policy.confinement.limits,
                          LimitWatch::Clock::now());
  calls_.emplace(id, Call{std::move(ready), std::move(listener), limits});
  Reply(MessageKind::kStarted, id, EncodeAttestation(attestation));
  return std::nullopt;
}

// Builds a cell under the default policy, up to the barrier, and reads what holds. Nothing is
// executed.
void LauncherServer::Probe(std::uint64_t id) {
  const LaunchRequest request;
  ReadyCell ready;
  std::vector<UniqueFd> streams;
  for (int i = 0; i < 3; ++i) streams.emplace_back(open("/dev/null", O_RDWR | O_CLOEXEC));
  auto policy = policies_.Get("default");
  if (!policy.ok()) {
    Reply(MessageKind::kFailed, id,
          EncodeFailure(Refuse(approval::RefusalCode::kNoPolicy, "policy",
                               std::string(policy.status().message()))));
    return;
  }
  ready.policy = *policy;
  if (auto failure = StartCell(request, streams, ready); failure.has_value()) {
    Reply(MessageKind::kFailed, id, EncodeFailure(*failure));
    return;
  }
  Reply(MessageKind::kProbe, id, EncodeAttestation(ready.cell->Prove()));
}

void LauncherServer::Kill(std::uint64_t id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  found->second.kill_asked = true;
  found->second.cell->init().Kill();
  Reap(id, found->second);
}

// Takes note of what has ended. The tool is reaped first: as a zombie it would keep the pid
// namespace, and init, from ending.
void LauncherServer::Reap(std::uint64_t id, Call& call) {
  const auto ended = [](const sandbox::ChildProcess& process) {
    pollfd ready = {process.pidfd(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  };
  if (!call.tool_gone && ended(call.cell->tool())) {
    call.tool_gone = true;
    const auto end = call.cell->tool().Wait();
    const ToolExit exit =
        end.ok() ? call.limits.Describe(end->signaled, end->status, end->usage) : ToolExit();
    if (exit.signaled && exit.status == SIGSYS) call.listener.AddKill();
    Reply(MessageKind::kExited, id, EncodeExit(exit));
  }
  if (call.tool_gone && !call.cell_gone && ended(call.cell->init())) {
    call.cell_gone = call.cell->init().Wait().ok();
    if (call.cell_gone) Quarantine(call);
  }
  if (call.cell_gone && call.kill_asked) {
    const std::string end = EncodeEnd({call.listener.report(), call.quarantined});
    calls_.erase(id);
    Reply(MessageKind::kGone, id, end);
  }
}

bool LauncherServer::HandleMessage() {
  auto message = ReceiveMessage(kLauncherSocketFd);
  if (absl::IsAborted(message.status())) return true;
  if (!message.ok()) return false;
  const std::uint64_t id = message->call;
  switch (message->kind) {
    case MessageKind::kLaunch:
      if (auto failure = Launch(std::move(*message)); failure.has_value()) {
        Reply(MessageKind::kFailed, id, EncodeFailure(*failure));
      }
      return true;
    case MessageKind::kKill:
      Kill(id);
      return true;
    case MessageKind::kProbe:
      Probe(id);
      return true;
    default:
      return false;  // a supervisor that speaks nonsense is not served
  }
}

// Kills cells that have used up what they may; returns how long poll may wait for the next look.
int LauncherServer::EnforceLimits() {
  auto next = LimitWatch::Clock::time_point::max();
  for (auto& [id, call] : calls_) {
    if (call.tool_gone) continue;
    if (call.limits.Exceeded(LimitWatch::Clock::now())) call.cell->init().Kill();
    next = std::min(next, call.limits.next());
  }
  if (next == LimitWatch::Clock::time_point::max()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - LimitWatch::Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, kLongestPollMs));
}

// Nobody is left to hear what was moved; that it is moved is what counts.
void LauncherServer::EndUnwatched(Call& call) {
  if (call.cell_gone) return;
  call.cell->init().Kill();
  if (!call.tool_gone) call.cell->tool().Wait().IgnoreError();
  if (call.cell->init().Wait().ok()) Quarantine(call);
}

// What the server waits for: the socket, and kWatchedOfCall descriptors of each call, in the order
// of calls_. poll(2) ignores -1, which stands for what was reaped.
std::vector<pollfd> LauncherServer::Watched() const {
  std::vector<pollfd> watched = {{kLauncherSocketFd, POLLIN, 0}};
  for (const auto& [id, call] : calls_) {
    const bool running = !call.tool_gone, emptying = call.tool_gone && !call.cell_gone;
    watched.push_back({running ? call.cell->tool().pidfd() : -1, POLLIN, 0});
    watched.push_back({emptying ? call.cell->init().pidfd() : -1, POLLIN, 0});
    watched.push_back({call.listener.fd(), POLLIN, 0});
    watched.push_back({running ? call.limits.event() : -1, POLLIN, 0});
  }
  return watched;
}

void LauncherServer::ServeMessages() {
  while (serving_) {
    const int wait_ms = EnforceLimits();
    std::vector<pollfd> watched = Watched();
    if (poll(watched.data(), watched.size(), wait_ms) < 0 && errno != EINTR) return;
    auto of_call = watched.cbegin() + 1;
    for (auto next = calls_.begin(); next != calls_.end(); of_call += kWatchedOfCall) {
      const auto here = next++;  // reaping may erase it
      if (of_call[2].revents != 0) here->second.listener.Serve();
      if (of_call[0].revents != 0 || of_call[1].revents != 0) Reap(here->first, here->second);
    }
    if (watched[0].revents != 0 && !HandleMessage()) return;
  }
}

}  // namespace

void ServeLauncher(manifest::Config config, PolicyStore policies, const sandbox::Host& host,
                   sandbox::CgroupHost cgroups, const sandbox::UidRange& uids) {
  LauncherServer(std::move(config), std::move(policies), host, std::move(cgroups), uids).Serve();
}

}  // namespace warder::supervisor
