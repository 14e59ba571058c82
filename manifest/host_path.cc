#include "manifest/host_path.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"

namespace warder::manifest {
namespace {

// The kernel follows at most this many links in one look-up (path_resolution(7)).
constexpr int kMaxLinks = 40;
constexpr std::size_t kMaxQuotedBytes = 200;  // one line of a terminal, twice over

absl::Status OpenError(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError("does not exist");
    case ELOOP:
      return absl::InvalidArgumentError(
          "goes through a link of /proc, which means something else to every process, or through a "
          "loop of links: "
          "write the path that it stands for");
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError("is in a directory that may not be searched");
    case ENAMETOOLONG:
      return absl::InvalidArgumentError("is longer than a path may be");
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(
          absl::StrFormat("cannot be opened: %s", std::strerror(error)));
    case ENOSYS:
      return absl::FailedPreconditionError(
          "cannot be opened: this kernel has no openat2 (Linux 5.6)");
    default:
      return absl::InvalidArgumentError(
          absl::StrFormat("cannot be opened: %s", std::strerror(error)));
  }
}

absl::StatusOr<std::string> RealPathOf(int fd) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t size =
      readlink(absl::StrFormat("/proc/self/fd/%d", fd).c_str(), buffer.data(), buffer.size());
  if (size <= 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "cannot be named: %s; /proc must be mounted", size < 0 ? std::strerror(errno) : "empty"));
  }
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool IsBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  if (!path.starts_with(directory)) return false;
  return path.size() == directory.size() || path[directory.size()] == '/';
}

// How long the name is by which `granted` covers `path`; 0 when it does not. The grant's own path
// first: the real path costs a look-up for each of its names.
std::size_t Covers(const std::string& granted, const std::string& path) {
  if (IsBelow(path, granted)) return granted.size();
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(granted, error);
  return !error && IsBelow(path, real.native()) ? real.native().size() : 0;
}

}  // namespace

absl::StatusOr<HostPath> OpenHostPath(int base_fd, const std::string& path) {
  // A NUL would end the path for the kernel before it ends for us.
  if (path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("holds a NUL byte");
  }
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  HostPath opened;
  opened.fd.Reset(static_cast<int>(syscall(SYS_openat2, base_fd, path.c_str(), &how, sizeof how)));
  if (!opened.fd.ok()) return OpenError(errno);

  if (fstat(opened.fd.get(), &opened.status) != 0 ||
      fstatfs(opened.fd.get(), &opened.file_system) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("cannot be examined: %s", std::strerror(errno)));
  }
  if (opened.file_system.f_type == PROC_SUPER_MAGIC) {
    return absl::InvalidArgumentError("is in /proc, which means something else to every process");
  }
  absl::StatusOr<std::string> real = RealPathOf(opened.fd.get());
  if (!real.ok()) return real.status();
  opened.path = *std::move(real);

  // The kernel appends " (deleted)" to the name of a file that is gone, so the name is proven
  // before it is believed.
  struct stat named = {};
  if (lstat(opened.path.c_str(), &named) != 0 || !SameFile(named, opened.status)) {
    return absl::AbortedError("was moved or removed while it was opened: try again");
  }
  return opened;
}

CellView::CellView(const Workspace& workspace, const NamedPolicy& policy)
    : workspace_(workspace), policy_(policy) {}

// The longest path decides, and the hidden one of two equal ones: as the mounts of the cell do.
absl::Status CellView::Check(const std::string& real_path) const {
  std::size_t shown = IsBelow(real_path, workspace_.path) ? workspace_.path.size() : 0;
  const sandbox::FilesystemPolicy& filesystem = policy_.confinement.filesystem;
  for (const sandbox::PathGrant& grant : filesystem.grants) {
    if (shown != 0 && filesystem.hide.empty()) break;  // any cover will do
    shown = std::max(shown, Covers(grant.path, real_path));
  }
  for (const sandbox::HiddenPath& hidden : filesystem.hide) {
    const std::size_t covered = Covers(hidden.path, real_path);
    if (covered != 0 && covered >= shown) {
      return absl::PermissionDeniedError(absl::StrFormat(
          "policy %s hides %s from a cell (filesystem.hide: %s): %s", Quoted(policy_.name),
          Quoted(real_path), Quoted(hidden.path), hidden.reason));
    }
  }
  if (shown != 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrFormat("policy %s does not let a cell see %s: move it into the workspace, or grant "
                      "it under `filesystem` in a policy",
                      Quoted(policy_.name), Quoted(real_path)));
}

absl::Status CellView::CheckWithLinks(const std::string& written, const HostPath& target) const {
  std::filesystem::path path = written;
  for (int link = 0; link < kMaxLinks && path != target.path; ++link) {
    std::error_code error;
    const std::filesystem::path directory = std::filesystem::canonical(path.parent_path(), error);
    if (error) break;  // changed since it was opened; `target` is what counts
    const std::filesystem::path here = directory / path.filename();
    const std::filesystem::path next = std::filesystem::read_symlink(here, error);
    if (error) break;  // no link: the end of the chain
    absl::Status seen = Check(here.native());
    if (!seen.ok()) return seen;
    path = directory / next;  // an absolute `next` replaces `directory`
  }
  return Check(target.path);
}

bool CellView::MayBeWritable(const std::string& real_path) const {
  if (IsBelow(real_path, workspace_.path)) return true;
  for (const sandbox::PathGrant& grant : policy_.confinement.filesystem.grants) {
    if (grant.access == sandbox::PathAccess::kReadWrite && Covers(grant.path, real_path) != 0) {
      return true;
    }
  }
  return false;
}

std::string Quoted(std::string_view word) {
  std::string text = "`";
  for (const char c : word.substr(0, kMaxQuotedBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += absl::StrFormat("\\x%02x", byte);
    } else {
      text += c;
    }
  }
  if (word.size() > kMaxQuotedBytes) text += "...";
  return text + "`";
}

absl::Status WithPrefix(const absl::Status& status, std::string_view prefix) {
  const std::string message(status.message());
  return absl::Status(status.code(), absl::StrFormat("%s: %s", prefix, message));
}

}  // namespace warder::manifest
