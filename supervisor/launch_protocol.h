// Launch protocol: what the supervisor and its launcher say to each other, on a sequenced-packet
// socket pair.
//
// The launcher trusts none of it to widen a policy: a request names a policy, and the launcher
// loads that itself.
#ifndef WARDER_SUPERVISOR_LAUNCH_PROTOCOL_H_
#define WARDER_SUPERVISOR_LAUNCH_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/config.h"
#include "manifest/tool_spec.h"
#include "sandbox/attestation.h"
#include "sandbox/child_main.h"
#include "sandbox/denial.h"
#include "sandbox/plan.h"
#include "sandbox/unique_fd.h"
#include "supervisor/launcher.h"

namespace warder::supervisor {

enum class MessageKind : std::uint64_t {
  kHello =
      1,  // supervisor: HelloMessage, once and first. launcher: empty text, or why it cannot start
  kLaunch = 2,  // supervisor: LaunchRequest; descriptors: stdin, stdout, stderr, then one a file
  kKill = 3,    // supervisor: end the call
  kProbe = 4,   // supervisor: what can this host do? launcher: ProbeReply
  kStarted = 5,
  kFailed = 6,
  kExited = 7,
  kGone =
      8,  // CallEnd: the cell's pid namespace is empty, what appeared under protected names moved
};

// One packet. A large body travels in a sealed memory file: argv and environment may be larger than
// a packet.
struct Message {
  MessageKind kind = MessageKind::kHello;
  std::uint64_t call = 0;
  std::string body;
  std::vector<sandbox::UniqueFd> fds;
};

// Limits of one message: bytes of a body (Linux allows 2 MiB of argv and environment by default, 6
// MiB at most), and descriptors (three streams and a "#!" chain of at most five files; the kernel's
// own limit is 253).
// The launcher's end of the pair.
inline constexpr int kLauncherSocketFd = 3;
inline constexpr std::size_t kMaxBodyBytes = 8u << 20;
inline constexpr std::size_t kMaxDescriptors = 16;

// Sends `message`. Blocks when the peer does not read. Errors: kUnavailable (the peer is gone),
// kInternal.
absl::Status SendMessage(int socket, const Message& message);
// Never blocks. Errors: kAborted (nothing there yet), kUnavailable (end of file), kInvalidArgument
// (malformed, unsealed, too large).
absl::StatusOr<Message> ReceiveMessage(int socket);

struct LaunchFile {
  std::string path;
  sandbox::FileIdentity identity;
  bool copied = false;
};

struct LaunchRequest {
  std::string policy;
  manifest::Sha256 policy_digest{};
  std::string workspace_path;
  std::uint64_t workspace_device = 0, workspace_inode = 0;
  std::vector<std::string> argv, environment;
  std::vector<LaunchFile> files;
  std::string cwd_path;
  std::uint64_t cwd_device = 0, cwd_inode = 0;
};
std::string EncodeLaunch(const LaunchRequest& request);
std::optional<LaunchRequest> DecodeLaunch(std::string_view body);
// `fds` are those of the message: three streams, then one a file. Borrows them.
sandbox::ProgramRequest MakeProgram(const LaunchRequest& request,
                                    const std::vector<sandbox::UniqueFd>& fds,
                                    sandbox::WorkspaceMode workspace);

std::string EncodeConfig(const manifest::Config& config);
std::optional<manifest::Config> DecodeConfig(std::string_view body);

std::string EncodeAttestation(const sandbox::Attestation& attestation);
std::optional<sandbox::Attestation> DecodeAttestation(std::string_view body);

// Warder or the host is why the program did not start.
LaunchFailure Refuse(approval::RefusalCode code, std::string step, std::string detail);
// A refusal too where the kernel or host lacks a layer, or a file is not what was shown.
LaunchFailure FromSetup(const sandbox::SetupFailure& setup);
// The refusal for a `layer` of `attestation` that is required and was not proven.
LaunchFailure FromLayer(const sandbox::Layer& layer, const sandbox::Attestation& attestation);

std::string EncodeFailure(const LaunchFailure& failure);
std::optional<LaunchFailure> DecodeFailure(std::string_view body);

std::string EncodeExit(const ToolExit& exit);
std::optional<ToolExit> DecodeExit(std::string_view body);

std::string EncodeDenials(const sandbox::DenialReport& report);
std::optional<sandbox::DenialReport> DecodeDenials(std::string_view body);
std::string EncodeQuarantined(const std::vector<sandbox::Quarantined>& quarantined);
std::optional<std::vector<sandbox::Quarantined>> DecodeQuarantined(std::string_view body);
std::string EncodeEnd(const CallEnd& end);
std::optional<CallEnd> DecodeEnd(std::string_view body);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_LAUNCH_PROTOCOL_H_
