#include "manifest/prepared_call.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/digest.h"
#include "manifest/environment.h"
#include "manifest/host_path.h"
#include "manifest/input_schema.h"
#include "manifest/json.h"
#include "manifest/program_resolution.h"

namespace warder::manifest {
namespace {

// Of an operator's own command, which states no deadline: longer than any job, and still an end.
constexpr std::int64_t kCommandTimeoutMs = 24 * 60 * 60 * 1000;
// execve(2), "Limits on size of arguments and environment": one string with its NUL, and all of
// them with their pointers at the usual 8 MiB stack.
constexpr std::size_t kMaxWordBytes = 128u << 10;
constexpr std::size_t kMaxExecBytes = 2u << 20;

// One call on its way: what the steps below hand to each other.
struct Draft {
  const CallContext* context = nullptr;
  std::string field;                     // "command[0]", or "program" on a command line
  std::vector<std::string> shown_words;  // unexpanded: what messages name
  std::string cwd;                       // expanded; "" is the workspace root
  std::string shown_cwd;
  bool from_cwd = false;     // a relative program starts from cwd, not from the workspace root
  NamedValues manifest_env;  // expanded
  VariableMap inherited;
};

absl::Status CheckContext(const CallContext& context) {
  if (context.workspace == nullptr || context.policy == nullptr || !context.workspace->fd.ok()) {
    return absl::InternalError("a call was prepared without a workspace or a policy");
  }
  return absl::OkStatus();
}

absl::Status CheckInput(const ToolSpec& tool, const std::string& input) {
  if (tool.input_schema == nullptr) {
    return absl::InternalError("the tool's input schema was never compiled");
  }
  absl::StatusOr<Json> value = ParseStrictJson(input, "input");
  if (!value.ok()) return value.status();
  if (!value->is_object()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("input: must be a JSON object, not %s", value->type_name()));
  }
  return WithPrefix(tool.input_schema->Check(*value), "input");
}

absl::Status ExpandManifest(const ToolSpec& tool, PreparedCall* call, Draft* draft) {
  VariableReader reader(draft->inherited, call->policy);
  for (std::size_t i = 0; i < tool.command.size(); ++i) {
    absl::StatusOr<std::string> word =
        reader.Expand(tool.command[i], absl::StrFormat("command[%d]", i));
    if (!word.ok()) return word.status();
    call->shown_argv.push_back(*std::move(word));
  }
  if (tool.cwd) {
    absl::StatusOr<std::string> cwd = reader.Expand(*tool.cwd, "cwd");
    if (!cwd.ok()) return cwd.status();
    if (cwd->empty()) {
      return absl::InvalidArgumentError("cwd: is empty once its variables are expanded");
    }
    draft->cwd = *std::move(cwd);
    draft->shown_cwd = *tool.cwd;
  }
  call->argv_holds_variables = !reader.names().empty();
  for (const auto& [name, text] : tool.env) {
    absl::StatusOr<std::string> value =
        reader.Expand(text, absl::StrFormat("env: %s", Quoted(name)));
    if (!value.ok()) return value.status();
    draft->manifest_env.emplace_back(name, *std::move(value));
  }
  call->variables_read = reader.names();
  return absl::OkStatus();
}

absl::StatusOr<HostPath> OpenCwd(const Draft& draft, const CellView& view) {
  const Workspace& workspace = *draft.context->workspace;
  const std::string where =
      draft.cwd.empty() ? "workspace" : absl::StrFormat("cwd: %s", Quoted(draft.shown_cwd));
  absl::StatusOr<HostPath> cwd =
      OpenHostPath(workspace.fd.get(), draft.cwd.empty() ? "." : draft.cwd);
  if (!cwd.ok()) return WithPrefix(cwd.status(), where);
  if (!S_ISDIR(cwd->status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: is not a directory", where));
  }
  const absl::Status seen = view.Check(cwd->path);
  if (!seen.ok()) return WithPrefix(seen, where);
  return cwd;
}

// What execve(2) would refuse after everyone had decided.
absl::Status CheckExecSize(const PreparedCall& call) {
  std::size_t total = 0;
  const auto add = [&total](std::size_t bytes) {
    total += bytes + 1 + sizeof(char*);
    return bytes + 1 <= kMaxWordBytes;
  };
  for (const std::string& word : call.argv) {
    if (add(word.size())) continue;
    return absl::ResourceExhaustedError(absl::StrFormat(
        "command: a word is longer than the kernel takes (%d bytes)", kMaxWordBytes - 1));
  }
  for (const Variable& variable : call.environment) {
    if (add(variable.name.size() + 1 + variable.value.size())) continue;
    return absl::ResourceExhaustedError(
        absl::StrFormat("env: %s is longer than the kernel takes (%d bytes)", Quoted(variable.name),
                        kMaxWordBytes - 1));
  }
  if (total > kMaxExecBytes) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "command and environment are larger than the kernel takes (%d bytes)", kMaxExecBytes));
  }
  return absl::OkStatus();
}

std::int64_t CutTimeout(std::int64_t timeout_ms, const NamedPolicy& policy) {
  const std::optional<std::uint64_t>& wall = policy.confinement.limits.wall_ms;
  if (!wall || *wall >= static_cast<std::uint64_t>(timeout_ms)) return timeout_ms;
  return static_cast<std::int64_t>(*wall);
}

absl::Status HoldWorkspace(const Workspace& workspace, PreparedCall* call) {
  call->workspace_path = workspace.path;
  call->workspace_device = workspace.device;
  call->workspace_inode = workspace.inode;
  call->workspace_fd.Reset(fcntl(workspace.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!call->workspace_fd.ok()) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the workspace cannot be held open: %s", std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status HoldProgram(const Draft& draft, const HostPath& cwd, const CellView& view,
                         PreparedCall* call) {
  if (call->shown_argv.empty() || call->shown_argv.front().empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: there is no program to run", draft.field));
  }
  ProgramRequest request;
  request.argv = call->shown_argv;
  request.shown = draft.shown_words.front();
  request.field = draft.field;
  request.base_fd = draft.from_cwd ? cwd.fd.get() : call->workspace_fd.get();
  request.base_path = draft.from_cwd ? cwd.path : call->workspace_path;
  for (const Variable& variable : call->environment) {
    if (variable.name == "PATH") request.search_path = variable.value;
  }
  absl::StatusOr<ResolvedProgram> program = ResolveProgram(request, view);
  if (!program.ok()) return program.status();
  call->argv = std::move(program->argv);
  call->files = std::move(program->files);
  return absl::OkStatus();
}

// The steps that a tool's call and an operator's command share, once the words are known.
absl::Status Complete(const Draft& draft, PreparedCall* call) {
  const CellView view(*draft.context->workspace, call->policy);
  absl::StatusOr<std::vector<Variable>> environment = LayerEnvironment(
      call->policy, draft.inherited, draft.context->cell_variables, draft.manifest_env);
  if (!environment.ok()) return environment.status();
  call->environment = *std::move(environment);

  absl::Status held = HoldWorkspace(*draft.context->workspace, call);
  if (!held.ok()) return held;
  absl::StatusOr<HostPath> cwd = OpenCwd(draft, view);
  if (!cwd.ok()) return cwd.status();
  call->cwd_path = cwd->path;
  call->cwd_device = cwd->status.st_dev;
  call->cwd_inode = cwd->status.st_ino;

  held = HoldProgram(draft, *cwd, view, call);
  if (!held.ok()) return held;
  call->command_with_variables = draft.shown_words;
  call->input_digest = Digest(call->input);
  call->timeout_ms = CutTimeout(call->tool.timeout_ms, call->policy);
  return CheckExecSize(*call);
}

// The tool that an operator's command line stands for. Its digest tells one command line from
// another.
ToolSpec CommandAsTool(const std::vector<std::string>& argv, const std::string& cwd) {
  ToolSpec tool;
  tool.name = "exec";
  tool.description = "operator's command line";
  tool.command = argv;
  tool.timeout_ms = kCommandTimeoutMs;
  tool.source = "command line";
  std::string entry = absl::StrFormat("exec %d:%s", cwd.size(), cwd);
  for (const std::string& word : argv) entry += absl::StrFormat(" %d:%s", word.size(), word);
  tool.entry_digest = Digest(entry);
  return tool;
}

}  // namespace

const char* VariableOriginName(VariableOrigin origin) {
  switch (origin) {
    case VariableOrigin::kInherited:
      return "inherited";
    case VariableOrigin::kOperator:
      return "operator";
    case VariableOrigin::kManifest:
      return "manifest";
    case VariableOrigin::kCell:
      return "cell";
  }
  return "invalid";
}

absl::StatusOr<PreparedCall> PrepareCall(const ToolSpec& tool, const CallContext& context,
                                         std::string input) {
  const std::string where = absl::StrFormat("tool %s", Quoted(tool.name));
  absl::Status done = CheckContext(context);
  if (!done.ok()) return WithPrefix(done, where);
  PreparedCall call;
  call.tool = tool;
  call.policy = *context.policy;
  call.input = input.empty() ? "{}" : std::move(input);
  Draft draft;
  draft.context = &context;
  draft.field = "command[0]";
  draft.shown_words = tool.command;
  draft.inherited = ReadInherited(context.inherited);

  done = CheckInput(tool, call.input);
  if (done.ok()) done = ExpandManifest(tool, &call, &draft);
  if (done.ok()) done = Complete(draft, &call);
  if (!done.ok()) return WithPrefix(done, where);
  return call;
}

absl::StatusOr<PreparedCall> PrepareCommand(const std::vector<std::string>& argv,
                                            const std::string& cwd, const CallContext& context) {
  absl::Status done = CheckContext(context);
  if (!done.ok()) return WithPrefix(done, "command line");
  for (const std::string& word : argv) {
    if (word.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError("command line: holds a NUL byte");
    }
  }
  PreparedCall call;
  call.tool = CommandAsTool(argv, cwd);
  call.policy = *context.policy;
  call.shown_argv = argv;
  Draft draft;
  draft.context = &context;
  draft.field = "program";
  draft.shown_words = argv;
  draft.cwd = draft.shown_cwd = cwd;
  draft.from_cwd = true;
  draft.inherited = ReadInherited(context.inherited);

  done = Complete(draft, &call);
  if (!done.ok()) return WithPrefix(done, "command line");
  return call;
}

}  // namespace warder::manifest
