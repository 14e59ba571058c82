// Commands: what the command line was asked to do, and one function for each command.
#ifndef WARDER_SUPERVISOR_COMMANDS_H_
#define WARDER_SUPERVISOR_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/catalog.h"
#include "manifest/config.h"
#include "manifest/json.h"

namespace warder::supervisor {

// Exit codes that are not a tool's (DESIGN 7.6).
inline constexpr int kExitOk = 0;
inline constexpr int kExitProblems =
    1;  // check, doctor, audit verify: what was looked at has faults; would-allow: it would not
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFault = 125;
inline constexpr int kExitRefused = 126;

// The policy that a command looks at when none is named and no binding is asked.
inline constexpr char kDefaultPolicy[] = "default";

// Everything that a command line can say. Each command reads the members that its --help names.
struct Options {
  std::string workspace = ".";
  std::string config_dir, state_dir;  // "": the places of DESIGN 7.8
  std::optional<std::string> policy;
  std::optional<std::string> approve;
  bool json = false;
  std::optional<std::int64_t> timeout_ms;
  std::string input = "{}";            // JSON text, "@FILE" or "-"
  std::string tool;                    // call, preview, audit show
  std::vector<std::string> command;    // exec
  std::optional<int> json_fd;          // exec
  std::string name;                    // policy show; the call's of policy would-allow
  std::vector<std::string> arguments;  // policy would-allow
  std::string abi = "x86_64";          // policy would-allow
  std::size_t last = 0;                // audit show; 0: all. policy suggest: the last call when 1
  std::optional<std::uint64_t> call;   // policy suggest: number of an outcome's audit record
};

// Each does its work, writes to this process's stdout and stderr, and returns the exit code.
int RunList(const Options& options);
int RunCheck(const Options& options);
int RunPreview(const Options& options);
int RunCall(const Options& options);
int RunExec(const Options& options);
int RunDoctor(const Options& options);
int RunAuditShow(const Options& options);
int RunAuditVerify(const Options& options);
int RunPolicyList(const Options& options);
int RunPolicyShow(const Options& options);
int RunPolicySuggest(const Options& options);
int RunPolicyWouldAllow(const Options& options);

// Writes "warder: MESSAGE" to stderr, made safe for a terminal. A message may have several lines.
void Complain(std::string_view message);
// Complains, in one line whatever the message holds, and returns `exit_code`.
int Fail(const absl::Status& status, int exit_code = kExitFault);
// Writes `text` to stdout. Returns `exit_code`, or 128 + SIGPIPE when the reader is gone, or Fail's
// code.
int Print(std::string_view text, int exit_code = kExitOk);
// The same with `value` as one line of ASCII JSON.
int PrintJson(const manifest::Json& value, int exit_code = kExitOk);

// The operator's places, with what the flags say, and the workspace. Reads nothing of a stranger
// but the workspace's name.
struct Places {
  manifest::Config config;
  manifest::Workspace workspace;
};
absl::StatusOr<manifest::Config> FindConfig(const Options& options);
absl::StatusOr<Places> FindPlaces(const Options& options);
// FindPlaces after this process gave up the privileges that only a launcher needs: for commands
// that run nothing.
absl::StatusOr<Places> FindPlacesUnprivileged(const Options& options);

// Where the audit log of `config` is.
std::string AuditPath(const manifest::Config& config);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_COMMANDS_H_
