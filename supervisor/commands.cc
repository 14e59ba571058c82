#include "supervisor/commands.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "sandbox/privileges.h"
#include "supervisor/console.h"

namespace warder::supervisor {
namespace {

// An absolute path for a flag's `value`; the directory need not exist.
absl::StatusOr<std::string> AbsoluteFlag(const char* flag, const std::string& value) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(value, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: cannot make `%s` absolute: %s", flag, value, error.message()));
  }
  return path.lexically_normal().string();
}

}  // namespace

void Complain(std::string_view message) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  // Nobody is left to tell when stderr itself cannot be written.
  WriteAll(STDERR_FILENO, "warder: " + SafeText(message) + "\n").IgnoreError();
}

int Fail(const absl::Status& status, int exit_code) {
  const absl::string_view message = status.message();
  Complain(SafeLine({message.data(), message.size()}));
  return exit_code;
}

int Print(std::string_view text, int exit_code) {
  const absl::Status written = WriteAll(STDOUT_FILENO, text);
  if (absl::IsCancelled(written)) return 128 + SIGPIPE;
  return written.ok() ? exit_code : Fail(written);
}

int PrintJson(const manifest::Json& value, int exit_code) {
  return Print(manifest::WriteJson(value, true) + "\n", exit_code);
}

absl::StatusOr<manifest::Config> FindConfig(const Options& options) {
  auto config = manifest::LocateConfig();
  if (!config.ok()) return config;
  if (!options.config_dir.empty()) {
    auto path = AbsoluteFlag("--config-dir", options.config_dir);
    if (!path.ok()) return path.status();
    if (std::error_code error; !std::filesystem::is_directory(*path, error)) {
      return absl::NotFoundError(
          absl::StrFormat("--config-dir: `%s` is not a directory that can be read", *path));
    }
    config->config_dir = *std::move(path);
  }
  if (!options.state_dir.empty()) {
    auto path = AbsoluteFlag("--state-dir", options.state_dir);
    if (!path.ok()) return path.status();
    config->state_dir = *std::move(path);
    config->runtime_dir = config->state_dir + "/run";
  }
  return config;
}

absl::StatusOr<Places> FindPlaces(const Options& options) {
  auto config = FindConfig(options);
  if (!config.ok()) return config.status();
  auto workspace = manifest::OpenWorkspace(options.workspace);
  if (!workspace.ok()) return workspace.status();
  config->workspaces = {workspace->path};
  return Places{*std::move(config), *std::move(workspace)};
}

absl::StatusOr<Places> FindPlacesUnprivileged(const Options& options) {
  if (absl::Status dropped = sandbox::DropSupervisorPrivileges(); !dropped.ok()) {
    return dropped;
  }
  return FindPlaces(options);
}

std::string AuditPath(const manifest::Config& config) { return config.state_dir + "/audit.jsonl"; }

}  // namespace warder::supervisor
