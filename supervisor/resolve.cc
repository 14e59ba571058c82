#include "supervisor/resolve.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "approval/preview.h"
#include "manifest/input_schema.h"
#include "manifest/json.h"

namespace warder::supervisor {
namespace {

using approval::Refusal;
using approval::RefusalCode;
using manifest::PreparedCall;
using Prepared = std::variant<PreparedCall, Rejection>;

// The largest global manifest; LoadCatalog has the same bound for a workspace's.
constexpr std::size_t kMostManifestBytes = 4u << 20;

Rejection Refuse(RefusalCode code, std::string reason) {
  Refusal refusal{code, std::move(reason)};
  return Rejection{refusal, refusal};
}

std::string UnknownTool(const std::string& name, const manifest::Catalog& catalog) {
  constexpr std::size_t kMostNames = 12;  // more names make a sentence nobody reads
  std::string known;
  for (std::size_t i = 0; i < catalog.tools.size() && i < kMostNames; ++i) {
    known += (i == 0 ? "" : ", ") + catalog.tools[i].name;
  }
  if (catalog.tools.size() > kMostNames) known += ", ...";
  if (known.empty()) known = "none; a workspace declares tools in .basis/tools.json";
  return absl::StrFormat("tool `%s`: no such tool in this workspace; there are: %s",
                         approval::Visible(name), known);
}

// The values of a cell that hold whatever the host has: where a tool's home and scratch space are,
// and who it is.
std::vector<std::pair<std::string, std::string>> CellVariables() {
  return {{"HOME", "/home/tool"},
          {"TMPDIR", "/tmp"},
          {"USER", "tool"},
          {"LOGNAME", "tool"},
          {"SHELL", "/bin/sh"}};
}

// PWD is the directory in which the program starts, so it is known only after preparation.
void SetWorkingDirectoryVariable(PreparedCall* call) {
  constexpr char kName[] = "PWD";
  auto& variables = call->environment;
  const auto place = std::lower_bound(
      variables.begin(), variables.end(), kName,
      [](const manifest::Variable& variable, const char* name) { return variable.name < name; });
  if (place == variables.end() || place->name != kName) {
    variables.insert(place, {kName, call->cwd_path, manifest::VariableOrigin::kCell, false});
  } else if (place->origin == manifest::VariableOrigin::kInherited) {
    *place = {kName, call->cwd_path, manifest::VariableOrigin::kCell, false};
  }
}

// True when it is the input that PrepareCall has refused. Only asked after a failure.
bool IsInputFault(const manifest::ToolSpec& tool, const std::string& input) {
  if (input.empty()) return false;  // stands for {}
  const auto value = manifest::ParseStrictJson(input, "input");
  return !value.ok() || !value->is_object() || !tool.input_schema->Check(*value).ok();
}

// What a failed preparation means for the caller; a Status when the fault is Warder's own or the
// host's. `code` is for what the call itself does wrong.
absl::StatusOr<Prepared> RejectPreparation(const absl::Status& status, RefusalCode code) {
  std::string reason(status.message());
  if (absl::IsAborted(status)) return Refuse(RefusalCode::kChanged, std::move(reason));
  if (absl::IsNotFound(status)) {  // a program: as a shell says it
    Rejection rejection = Refuse(RefusalCode::kNotRunnable, reason);
    rejection.ending = CouldNotStart{"find what the call names", ENOENT, std::move(reason)};
    return rejection;
  }
  if (absl::IsInvalidArgument(status) || absl::IsPermissionDenied(status) ||
      absl::IsResourceExhausted(status)) {
    return Refuse(code, std::move(reason));
  }
  return status;
}

absl::StatusOr<Prepared> Finish(absl::StatusOr<PreparedCall> call, const CallRequest& request) {
  if (request.timeout_ms) call->timeout_ms = std::min(call->timeout_ms, *request.timeout_ms);
  SetWorkingDirectoryVariable(&*call);
  return *std::move(call);
}

absl::StatusOr<Prepared> PrepareTool(const manifest::ToolSpec& tool, const CallRequest& request,
                                     const manifest::CallContext& context) {
  auto call = manifest::PrepareCall(tool, context, request.input);
  if (!call.ok()) {
    const bool input = IsInputFault(tool, request.input);
    return RejectPreparation(call.status(),
                             input ? RefusalCode::kInvalidInput : RefusalCode::kNotRunnable);
  }
  return Finish(std::move(call), request);
}

absl::StatusOr<Prepared> PrepareExec(const CallRequest& request,
                                     const manifest::CallContext& context) {
  auto call = manifest::PrepareCommand(request.command, request.cwd, context);
  if (!call.ok()) return RejectPreparation(call.status(), RefusalCode::kNotRunnable);
  return Finish(std::move(call), request);
}

}  // namespace

absl::StatusOr<manifest::Catalog> LoadTools(const manifest::Config& config,
                                            const manifest::Workspace& workspace) {
  const std::string path = config.config_dir + "/tools.json";
  const auto global = manifest::ReadTrustedFile(config, path, kMostManifestBytes);
  if (!global.ok() && !absl::IsNotFound(global.status())) return global.status();
  return manifest::LoadCatalog(workspace, global.ok() ? path : "");
}

absl::StatusOr<manifest::NamedPolicy> ChoosePolicy(const manifest::Config& config,
                                                   const std::optional<std::string>& by_name,
                                                   const manifest::BindingQuery& query) {
  std::string name;
  if (by_name) {
    name = *by_name;
  } else {
    const auto bindings = manifest::LoadBindings(config);
    if (!bindings.ok()) return bindings.status();
    const auto binding = manifest::SelectBinding(*bindings, query);
    if (!binding.ok()) return binding.status();
    name = binding->policy;
  }
  auto policy = manifest::LoadPolicy(config, name);
  if (policy.ok() && policy->abstract) {
    return absl::NotFoundError(absl::StrFormat(
        "policy `%s`: is only there to be extended; choose one that `warder policy list` shows",
        name));
  }
  return policy;
}

absl::StatusOr<Prepared> PrepareRequest(const SupervisorParts& parts, const CallRequest& request) {
  const bool is_command = !request.command.empty();
  manifest::BindingQuery query{is_command ? kExecTool : request.tool, parts.workspace->path,
                               request.requester.via, manifest::SideEffect::kProcess};
  manifest::Catalog catalog;
  const manifest::ToolSpec* tool = nullptr;
  if (!is_command) {
    auto loaded = LoadTools(*parts.config, *parts.workspace);
    if (!loaded.ok()) return loaded.status();
    catalog = *std::move(loaded);
    tool = catalog.Find(request.tool);
    if (tool == nullptr) {
      return Refuse(RefusalCode::kNotRunnable, UnknownTool(request.tool, catalog));
    }
    query.side_effect = tool->side_effect;
  }
  const auto policy = ChoosePolicy(*parts.config, request.policy, query);
  if (absl::IsNotFound(policy.status())) {
    return Refuse(RefusalCode::kNoPolicy, std::string(policy.status().message()));
  }
  if (!policy.ok()) return policy.status();

  manifest::CallContext context;
  context.workspace = parts.workspace;
  context.policy = &*policy;
  context.inherited = parts.environment;
  context.cell_variables = CellVariables();
  return is_command ? PrepareExec(request, context) : PrepareTool(*tool, request, context);
}

}  // namespace warder::supervisor
