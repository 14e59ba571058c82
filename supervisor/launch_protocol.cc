#include "supervisor/launch_protocol.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "sandbox/remedy.h"
#include "supervisor/wire.h"

namespace warder::supervisor {
namespace {

void PutIdentity(WireWriter& out, const sandbox::FileIdentity& identity) {
  out.Number(identity.device);
  out.Number(identity.inode);
  out.Number(identity.size);
  out.Signed(identity.mtime_ns);
  out.Signed(identity.ctime_ns);
}

// The supervisor has no say in how much is compared: files by content, always.
sandbox::FileIdentity GetIdentity(WireReader& in) {
  sandbox::FileIdentity identity;
  identity.device = in.Number();
  identity.inode = in.Number();
  identity.size = in.Number();
  identity.mtime_ns = in.Signed();
  identity.ctime_ns = in.Signed();
  identity.compare = sandbox::Compare::kContent;
  return identity;
}

void PutAttestation(WireWriter& out, const sandbox::Attestation& attestation) {
  out.Number(static_cast<std::uint64_t>(attestation.tier));
  out.Text(attestation.policy);
  out.Number(attestation.layers.size());
  for (const sandbox::Layer& layer : attestation.layers) {
    out.Text(layer.name);
    out.Number(layer.required ? 1 : 0);
    out.Number(static_cast<std::uint64_t>(layer.state));
    out.Text(layer.proof);
  }
}

sandbox::Attestation GetAttestation(WireReader& in) {
  sandbox::Attestation attestation;
  using sandbox::LayerState;
  using sandbox::Tier;
  attestation.tier = in.OneOf({Tier::kUserns, Tier::kRoot, Tier::kLandlock});
  attestation.policy = in.Text();
  for (std::uint64_t count = in.Count(); count > 0; --count) {
    sandbox::Layer layer;
    layer.name = in.Text();
    layer.required = in.Number() != 0;
    layer.state = in.OneOf({LayerState::kAbsent, LayerState::kEnforced, LayerState::kDegraded,
                            LayerState::kNotRequired});
    layer.proof = in.Text();
    attestation.layers.push_back(std::move(layer));
  }
  return attestation;
}

template <typename T>
std::optional<T> IfComplete(const WireReader& in, T value) {
  if (!in.Complete()) return std::nullopt;
  return value;
}

}  // namespace

std::string EncodeLaunch(const LaunchRequest& request) {
  WireWriter out;
  out.Text(request.policy);
  out.Text(
      {reinterpret_cast<const char*>(request.policy_digest.data()), request.policy_digest.size()});
  out.Text(request.workspace_path);
  out.Number(request.workspace_device);
  out.Number(request.workspace_inode);
  out.Texts(request.argv);
  out.Texts(request.environment);
  out.Number(request.files.size());
  for (const LaunchFile& file : request.files) {
    out.Text(file.path);
    PutIdentity(out, file.identity);
    out.Number(file.copied ? 1 : 0);
  }
  out.Text(request.cwd_path);
  out.Number(request.cwd_device);
  out.Number(request.cwd_inode);
  return out.Take();
}

std::optional<LaunchRequest> DecodeLaunch(std::string_view body) {
  WireReader in(body);
  LaunchRequest request;
  request.policy = in.Text();
  const std::string digest = in.Text();
  if (digest.size() != request.policy_digest.size()) return std::nullopt;
  std::copy(digest.begin(), digest.end(), request.policy_digest.begin());
  request.workspace_path = in.Text();
  request.workspace_device = in.Number();
  request.workspace_inode = in.Number();
  request.argv = in.Texts();
  request.environment = in.Texts();
  for (std::uint64_t count = in.Count(); count > 0; --count) {
    LaunchFile file;
    file.path = in.Text();
    file.identity = GetIdentity(in);
    file.copied = in.Number() != 0;
    request.files.push_back(std::move(file));
  }
  request.cwd_path = in.Text();
  request.cwd_device = in.Number();
  request.cwd_inode = in.Number();
  return IfComplete(in, std::move(request));
}

LaunchFailure Refuse(approval::RefusalCode code, std::string step, std::string detail) {
  LaunchFailure failure;
  failure.refused = true;
  failure.refusal = code;
  failure.could_not_start = {std::move(step), 0, std::move(detail)};
  return failure;
}

// A step that fails because this kernel or host lacks a layer is a refusal; so is a file that is
// not what was shown.
LaunchFailure FromSetup(const sandbox::SetupFailure& setup) {
  static constexpr const char* kLayerSteps[] = {
      "clone",         "id-map",       "landlock-ruleset",
      "landlock",      "seccomp",      "no-new-privileges",
      "control-group", "new-namespace"};
  LaunchFailure failure;
  failure.could_not_start = {setup.step, setup.error, setup.detail};
  if (setup.error == ESTALE) {
    failure.refused = true;
    failure.refusal = approval::RefusalCode::kChanged;
  }
  for (const char* step : kLayerSteps) failure.refused = failure.refused || setup.step == step;
  return failure;
}

LaunchFailure FromLayer(const sandbox::Layer& layer, const sandbox::Attestation& attestation) {
  LaunchFailure failure =
      Refuse(approval::RefusalCode::kSandboxUnavailable, layer.name,
             absl::StrFormat("layer `%s` could not be proven: %s: %s", layer.name, layer.proof,
                             sandbox::LayerRemedy(layer.name)));
  failure.attestation = attestation;
  return failure;
}

sandbox::ProgramRequest MakeProgram(const LaunchRequest& request,
                                    const std::vector<sandbox::UniqueFd>& fds,
                                    sandbox::WorkspaceMode workspace) {
  const bool overlay = workspace == sandbox::WorkspaceMode::kOverlay;
  const auto inside = [&](const std::string& path) {
    return path.rfind(request.workspace_path + "/", 0) == 0 || path == request.workspace_path;
  };
  sandbox::ProgramRequest program;
  program.argv = request.argv;
  program.environment = request.environment;
  for (std::size_t i = 0; i < 3; ++i) program.stdio[i] = fds[i].get();
  for (std::size_t i = 0; i < request.files.size(); ++i) {
    const LaunchFile& file = request.files[i];
    // An overlay gives every file a new identity; a copy of the opened file needs none.
    const bool copied = file.copied || (overlay && inside(file.path));
    program.files.push_back({file.path, fds[3 + i].get(), file.identity, copied});
  }
  program.cwd = request.cwd_path;
  program.cwd_identity.device = request.cwd_device;
  program.cwd_identity.inode = request.cwd_inode;
  program.cwd_identity.compare = overlay && inside(request.cwd_path) ? sandbox::Compare::kNothing
                                                                     : sandbox::Compare::kIdentity;
  return program;
}

std::string EncodeConfig(const manifest::Config& config) {
  WireWriter out;
  out.Text(config.config_dir);
  out.Text(config.share_dir);
  out.Text(config.state_dir);
  out.Text(config.runtime_dir);
  out.Texts(config.workspaces);
  return out.Take();
}

std::optional<manifest::Config> DecodeConfig(std::string_view body) {
  WireReader in(body);
  manifest::Config config;
  config.config_dir = in.Text();
  config.share_dir = in.Text();
  config.state_dir = in.Text();
  config.runtime_dir = in.Text();
  config.workspaces = in.Texts();
  return IfComplete(in, std::move(config));
}

std::string EncodeAttestation(const sandbox::Attestation& attestation) {
  WireWriter out;
  PutAttestation(out, attestation);
  return out.Take();
}

std::optional<sandbox::Attestation> DecodeAttestation(std::string_view body) {
  WireReader in(body);
  sandbox::Attestation attestation = GetAttestation(in);
  return IfComplete(in, std::move(attestation));
}

std::string EncodeFailure(const LaunchFailure& failure) {
  WireWriter out;
  out.Number(failure.refused ? 1 : 0);
  out.Number(static_cast<std::uint64_t>(failure.refusal));
  out.Text(failure.could_not_start.step);
  out.Signed(failure.could_not_start.error);
  out.Text(failure.could_not_start.detail);
  PutAttestation(out, failure.attestation);
  return out.Take();
}

std::optional<LaunchFailure> DecodeFailure(std::string_view body) {
  using approval::RefusalCode;
  WireReader in(body);
  LaunchFailure failure;
  failure.refused = in.Number() != 0;
  failure.refusal = in.OneOf({RefusalCode::kSandboxUnavailable, RefusalCode::kChanged,
                              RefusalCode::kNoPolicy, RefusalCode::kNotRunnable});
  failure.could_not_start.step = in.Text();
  failure.could_not_start.error = static_cast<int>(in.Signed());
  failure.could_not_start.detail = in.Text();
  failure.attestation = GetAttestation(in);
  return IfComplete(in, std::move(failure));
}

std::string EncodeExit(const ToolExit& exit) {
  WireWriter out;
  out.Number(exit.signaled ? 1 : 0);
  out.Signed(exit.status);
  out.Signed(exit.usage.user_us);
  out.Signed(exit.usage.system_us);
  out.Signed(exit.usage.max_rss_kib);
  out.Number(static_cast<std::uint64_t>(exit.limit));
  return out.Take();
}

std::optional<ToolExit> DecodeExit(std::string_view body) {
  WireReader in(body);
  ToolExit exit;
  exit.signaled = in.Number() != 0;
  exit.status = static_cast<int>(in.Signed());
  exit.usage.user_us = in.Signed();
  exit.usage.system_us = in.Signed();
  exit.usage.max_rss_kib = in.Signed();
  exit.limit = in.OneOf({LimitHit::kNone, LimitHit::kMemory, LimitHit::kCpu, LimitHit::kProcesses});
  return IfComplete(in, exit);
}

std::string EncodeDenials(const sandbox::DenialReport& report) {
  WireWriter out;
  out.Number(report.watched ? 1 : 0);
  out.Number(report.stopped ? 1 : 0);
  out.Number(report.unlisted);
  out.Number(report.denials.size());
  for (const sandbox::Denial& denial : report.denials) {
    for (const std::string* text : {&denial.layer, &denial.operation, &denial.object, &denial.place,
                                    &denial.group, &denial.reason}) {
      out.Text(*text);
    }
    out.Signed(denial.error);
    out.Signed(denial.first_ms);
    out.Number(denial.count);
  }
  return out.Take();
}

std::optional<sandbox::DenialReport> DecodeDenials(std::string_view body) {
  WireReader in(body);
  sandbox::DenialReport report;
  report.watched = in.Number() != 0;
  report.stopped = in.Number() != 0;
  report.unlisted = in.Number();
  for (std::uint64_t count = in.Count(); count > 0; --count) {
    sandbox::Denial denial;
    for (std::string* text : {&denial.layer, &denial.operation, &denial.object, &denial.place,
                              &denial.group, &denial.reason}) {
      *text = in.Text();
    }
    denial.error = static_cast<int>(in.Signed());
    denial.first_ms = in.Signed();
    denial.count = in.Number();
    report.denials.push_back(std::move(denial));
  }
  return IfComplete(in, std::move(report));
}

std::string EncodeQuarantined(const std::vector<sandbox::Quarantined>& quarantined) {
  WireWriter out;
  out.Number(quarantined.size());
  for (const sandbox::Quarantined& one : quarantined) {
    out.Text(one.path);
    out.Text(one.moved_to);
    out.Text(one.fault);
  }
  return out.Take();
}

std::optional<std::vector<sandbox::Quarantined>> DecodeQuarantined(std::string_view body) {
  WireReader in(body);
  std::vector<sandbox::Quarantined> quarantined;
  for (std::uint64_t count = in.Count(); count > 0; --count) {
    sandbox::Quarantined one;
    one.path = in.Text();
    one.moved_to = in.Text();
    one.fault = in.Text();
    quarantined.push_back(std::move(one));
  }
  return IfComplete(in, std::move(quarantined));
}

std::string EncodeEnd(const CallEnd& end) {
  WireWriter out;
  out.Text(EncodeDenials(end.denials));
  out.Text(EncodeQuarantined(end.quarantined));
  return out.Take();
}

std::optional<CallEnd> DecodeEnd(std::string_view body) {
  WireReader in(body);
  auto denials = DecodeDenials(in.Text());
  auto quarantined = DecodeQuarantined(in.Text());
  if (!denials.has_value() || !quarantined.has_value()) return std::nullopt;
  return IfComplete(in, CallEnd{*std::move(denials), *std::move(quarantined)});
}

}  // namespace warder::supervisor
