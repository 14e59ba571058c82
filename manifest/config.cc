#include "manifest/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "manifest/host_path.h"
#include "sandbox/workspace_tree.h"

namespace warder::manifest {
namespace {

constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

// An absolute path, or nothing: the XDG specification says to ignore others.
std::optional<std::string> AbsolutePath(const VariableLookup& variable, std::string_view name) {
  std::optional<std::string> value = variable(name);
  if (!value || !value->starts_with('/')) return std::nullopt;
  return value;
}

// Errors: kFailedPrecondition when neither `name` nor HOME says where.
absl::StatusOr<std::string> UserPlace(const VariableLookup& variable, std::string_view name,
                                      std::string_view below_home) {
  std::optional<std::string> base = AbsolutePath(variable, name);
  if (base) return *base + "/warder";
  base = AbsolutePath(variable, "HOME");
  if (base) return absl::StrFormat("%s/%s/warder", *base, below_home);
  return absl::FailedPreconditionError(absl::StrFormat(
      "configuration: neither %s nor HOME is an absolute path: set one of them", name));
}

// Whoever may write a directory may replace the files in it. In a sticky directory only their owner
// may.
absl::Status CheckTrusted(const std::string& path, const struct stat& status, bool sticky_is_fine) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "%s: is owned by user %d, neither root nor the user that runs warder: chown %d '%s'", path,
        status.st_uid, ::geteuid(), path));
  }
  const bool sticky = sticky_is_fine && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & kWritableByOthers) != 0 && !sticky) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "%s: may be written by its group or by everybody (mode %04o): chmod go-w '%s'", path,
        status.st_mode & 07777u, path));
  }
  return absl::OkStatus();
}

// The directory itself and those above it, up to the root or to the shipped files, which are no
// more trusted than the program beside them.
absl::Status CheckDirectories(const Config& config, std::filesystem::path directory) {
  for (bool parent = false;; parent = true) {
    struct stat status = {};
    if (::stat(directory.c_str(), &status) != 0) {
      return absl::PermissionDeniedError(
          absl::StrFormat("%s: cannot be examined: %s", directory.native(), std::strerror(errno)));
    }
    absl::Status trusted = CheckTrusted(directory.native(), status, /*sticky_is_fine=*/parent);
    if (!trusted.ok()) return trusted;
    if (directory == config.share_dir || directory == directory.root_path()) return trusted;
    directory = directory.parent_path();
  }
}

// `directory` holds what was written as `path`.
absl::Status CheckPlace(const Config& config, const std::string& path,
                        const std::filesystem::path& directory) {
  for (const std::string& workspace : config.workspaces) {
    if (!(directory.native() + "/").starts_with(workspace + "/")) continue;
    return absl::PermissionDeniedError(absl::StrFormat(
        "%s: lies inside the workspace %s: move it out, a workspace configures nothing", path,
        workspace));
  }
  return CheckDirectories(config, directory);
}

}  // namespace

absl::StatusOr<Config> LocateConfigFrom(bool root, const VariableLookup& variable,
                                        const std::string& executable) {
  Config config;
  std::error_code error;
  const std::filesystem::path prefix =
      std::filesystem::path(executable).parent_path().parent_path();
  config.share_dir = std::filesystem::weakly_canonical(prefix / "share/warder", error).native();
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s/share/warder: %s", prefix.native(), error.message()));
  }
  if (root) {
    config.config_dir = "/etc/warder";
    config.state_dir = "/var/lib/warder";
    config.runtime_dir = "/run/warder";
    return config;
  }
  absl::StatusOr<std::string> config_dir = UserPlace(variable, "XDG_CONFIG_HOME", ".config");
  if (!config_dir.ok()) return config_dir.status();
  absl::StatusOr<std::string> state_dir = UserPlace(variable, "XDG_STATE_HOME", ".local/state");
  if (!state_dir.ok()) return state_dir.status();
  config.config_dir = *std::move(config_dir);
  config.state_dir = *std::move(state_dir);
  const std::optional<std::string> runtime = AbsolutePath(variable, "XDG_RUNTIME_DIR");
  config.runtime_dir = runtime ? *runtime + "/warder" : config.state_dir + "/run";
  return config;
}

absl::StatusOr<Config> LocateConfig() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrFormat("/proc/self/exe: %s: mount /proc", error.message()));
  }
  const auto variable = [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return LocateConfigFrom(::geteuid() == 0, variable, executable.native());
}

absl::StatusOr<TrustedFile> ReadTrustedFile(const Config& config, const std::string& path,
                                            std::size_t limit_bytes) {
  absl::StatusOr<HostPath> file = OpenHostPath(AT_FDCWD, path);
  if (!file.ok()) return WithPrefix(file.status(), path);
  const std::filesystem::path directory = std::filesystem::path(file->path).parent_path();
  absl::Status place = CheckPlace(config, path, directory);
  if (!place.ok()) return place;

  // When `path` is a link, whoever may replace the link chooses the file.
  std::error_code error;
  const std::filesystem::path here = std::filesystem::absolute(path, error).parent_path();
  const std::filesystem::path written = std::filesystem::canonical(here, error);
  if (error) {
    return absl::PermissionDeniedError(absl::StrFormat("%s: %s", here.native(), error.message()));
  }
  if (written != directory) place = CheckPlace(config, path, written);
  if (!place.ok()) return place;

  absl::Status trusted = CheckTrusted(file->path, file->status, /*sticky_is_fine=*/false);
  if (!trusted.ok()) return trusted;
  absl::StatusOr<std::string> bytes =
      sandbox::ReadRegularFile(file->fd.get(), file->path, limit_bytes);
  if (!bytes.ok()) return bytes.status();
  return TrustedFile{file->path, *std::move(bytes)};
}

}  // namespace warder::manifest
