// warder call, exec and preview.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "approval/preview.h"
#include "manifest/json.h"
#include "sandbox/unique_fd.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"
#include "supervisor/denials.h"
#include "supervisor/embedded.h"
#include "supervisor/outcome.h"
#include "supervisor/supervisor.h"

namespace warder::supervisor {
namespace {

// The bytes that --input names. One byte more than the strict reader takes is enough to let it say
// so.
absl::StatusOr<std::string> ReadInput(const std::string& input) {
  const std::size_t limit = manifest::JsonLimits{}.bytes;
  if (input == "-") return ReadUpTo(STDIN_FILENO, limit);
  if (!input.starts_with('@')) return input;
  const std::string path = input.substr(1);
  const sandbox::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) {
    return absl::ErrnoToStatus(errno, absl::StrFormat("--input: cannot open `%s`", path));
  }
  auto bytes = ReadUpTo(file.get(), limit);
  if (bytes.ok()) return bytes;
  return absl::InvalidArgumentError(
      absl::StrFormat("--input: `%s`: %s", path, bytes.status().message()));
}

absl::StatusOr<CallRequest> NewRequest(const Options& options, const char* via) {
  CallRequest request;
  request.policy = options.policy;
  request.timeout_ms = options.timeout_ms;
  auto requester = ThisRequester(via);
  if (!requester.ok()) return requester.status();
  request.requester = *std::move(requester);
  return request;
}

// What a person can do about a refusal, where the command line is the place to do it; "" otherwise.
std::string Remedy(const Outcome& outcome, const Options& options) {
  const auto* refusal = std::get_if<Refused>(&outcome.ending);
  if (refusal == nullptr) return "";
  if (refusal->code == approval::RefusalCode::kNoApprover) {
    return "there is no terminal to ask at; name who decides: --approve rules:FILE (see "
           "approval/README.md), --approve program:/PATH, or `approval.approver` in the policy";
  }
  const bool is_json =
      options.input.starts_with('{') || options.input.starts_with('@') || options.input == "-";
  if (refusal->code == approval::RefusalCode::kInvalidInput && !is_json) {
    return "--input takes JSON text, @FILE, or - for standard input";
  }
  return "";
}

// The exit code of a call: a signal that this process got counts only when it was what ended the
// call.
int CodeOf(const Outcome& outcome, int signal) {
  const bool by_signal = std::holds_alternative<Cancelled>(outcome.ending) ||
                         std::holds_alternative<Refused>(outcome.ending);
  return signal != 0 && by_signal ? 128 + signal : ExitCode(outcome.ending);
}

// With the exit code that this process really has.
manifest::Json JsonOf(const Outcome& outcome, int code) {
  manifest::Json json = OutcomeJson(outcome);
  json["exit_code"] = code;
  return json;
}

// The run is in the audit log since before it began; a missing end is still a fault that nobody may
// overlook.
int WithRecord(const CallResult& result, int code) {
  if (result.recorded.ok()) return code;
  Complain("the outcome is not in the audit log:");
  return Fail(result.recorded);
}

bool ExitedZero(const Outcome& outcome) {
  const auto* exited = std::get_if<Exited>(&outcome.ending);
  return exited != nullptr && exited->code == 0;
}

void NoteTruncation(const char* stream, const Captured& captured) {
  if (!captured.truncated()) return;
  const std::uint64_t kept = captured.head.size() + captured.tail.size();
  Complain(absl::StrFormat(
      "%s: %d of %d bytes are missing after byte %d; the policy's limits.%s_bytes says how many "
      "are kept",
      stream, captured.total_bytes - kept, captured.total_bytes, captured.head.size(), stream));
}

// Where the tool's own output is all that is printed otherwise.
void TellWhatTheCellSaw(const Outcome& outcome) {
  for (const std::string& text : {DenialText(outcome.denials), SensitiveText(outcome)}) {
    if (!text.empty()) Complain(text);
  }
}

// The result: exact bytes, unless a terminal would act on them.
int PrintResult(const Outcome& outcome) {
  const std::string errors = outcome.err.head + outcome.err.tail;
  WriteAll(STDERR_FILENO, SafeText(errors)).IgnoreError();
  NoteTruncation("stderr", outcome.err);
  const bool told = outcome.out.total_bytes == 0 && ::isatty(STDERR_FILENO) == 1;
  if (told) Complain(OutcomeText(outcome));
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  for (const std::string& part : {outcome.out.head, outcome.out.tail}) {
    const int code = Print(terminal ? SafeText(part) : part);
    if (code != kExitOk) return code;
  }
  NoteTruncation("stdout", outcome.out);
  if (!told) TellWhatTheCellSaw(outcome);
  return kExitOk;
}

int ReportCall(const CallResult& result, const Options& options, int signal) {
  const Outcome& outcome = result.outcome;
  int code = CodeOf(outcome, signal);
  if (options.json) {
    code = PrintJson(JsonOf(outcome, code), code);
  } else if (ExitedZero(outcome)) {
    code = PrintResult(outcome);
  } else {
    Complain(OutcomeText(outcome));
  }
  const std::string remedy = Remedy(outcome, options);
  if (!remedy.empty()) Complain(remedy);
  return WithRecord(result, code);
}

int ReportExec(const CallResult& result, const Options& options, int signal) {
  const Outcome& outcome = result.outcome;
  const int code = CodeOf(outcome, signal);
  if (std::holds_alternative<Exited>(outcome.ending)) {
    TellWhatTheCellSaw(outcome);
  } else {
    Complain(OutcomeText(outcome));
  }
  const std::string remedy = Remedy(outcome, options);
  if (!remedy.empty()) Complain(remedy);
  if (options.json || options.json_fd) {
    const std::string line = manifest::WriteJson(JsonOf(outcome, code), true) + "\n";
    const absl::Status written = WriteAll(options.json_fd.value_or(STDERR_FILENO), line);
    if (!written.ok()) return Fail(written);
  }
  return WithRecord(result, code);
}

// The directory of the shell when it is in the workspace, as for any command; else the workspace's
// root.
std::string ExecDirectory(const std::string& workspace) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  return !error && here.starts_with(workspace + "/") ? here : workspace;
}

// The descriptor is the caller's, for Warder alone: the launcher and the tool must not get it.
bool KeepForOurselves(int fd) { return ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

}  // namespace

int RunCall(const Options& options) {
  const auto embedded = Embedded::Start(options);
  if (!embedded.ok()) return Fail(embedded.status());
  auto input = ReadInput(options.input);
  if (!input.ok()) return Fail(input.status(), kExitUsage);
  auto request = NewRequest(options, "cli call");
  if (!request.ok()) return Fail(request.status());
  request->tool = options.tool;
  request->input = *std::move(input);
  const auto result = (*embedded)->Call(*std::move(request));
  if (!result.ok()) return Fail(result.status());
  return ReportCall(*result, options, (*embedded)->signal());
}

int RunExec(const Options& options) {
  if (options.json_fd && !KeepForOurselves(*options.json_fd)) {
    Complain(absl::StrFormat("--json-fd: descriptor %d is not open", *options.json_fd));
    return kExitUsage;
  }
  const auto embedded = Embedded::Start(options);
  if (!embedded.ok()) return Fail(embedded.status());
  auto request = NewRequest(options, "cli exec");
  if (!request.ok()) return Fail(request.status());
  request->command = options.command;
  request->cwd = ExecDirectory((*embedded)->places().workspace.path);
  request->live_stdio = true;
  const auto result = (*embedded)->Call(*std::move(request));
  if (!result.ok()) return Fail(result.status());
  return ReportExec(*result, options, (*embedded)->signal());
}

int RunPreview(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  auto input = ReadInput(options.input);
  if (!input.ok()) return Fail(input.status(), kExitUsage);
  // As `call` would ask, so that bindings choose the same policy.
  auto request = NewRequest(options, "cli call");
  if (!request.ok()) return Fail(request.status());
  request->tool = options.tool;
  request->input = *std::move(input);

  SupervisorParts parts;
  parts.config = &places->config;
  parts.workspace = &places->workspace;
  parts.environment = ThisEnvironment();
  const auto preview = Supervisor(std::move(parts)).Preview(*request);
  if (!preview.ok()) return Fail(preview.status());
  if (const auto* refusal = std::get_if<approval::Refusal>(&*preview)) {
    CallResult refused;
    refused.outcome.tool = options.tool;
    refused.outcome.ending = *refusal;
    return ReportCall(refused, options, 0);
  }
  const auto& ticket = std::get<approval::Ticket>(*preview);
  if (options.json) return PrintJson(approval::PreviewJson(ticket));
  const approval::Style style{TerminalColumns(STDOUT_FILENO), WantsColor(STDOUT_FILENO)};
  std::string text;
  for (const std::string& line : approval::RenderPreview(ticket, style)) text += line + "\n";
  return Print(text);
}

}  // namespace warder::supervisor
