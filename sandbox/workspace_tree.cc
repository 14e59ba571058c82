#include "sandbox/workspace_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "absl/strings/str_format.h"

namespace warder::sandbox {
namespace {

// openat2 gives up when a directory moves meanwhile; then it is asked again.
constexpr int kMaxRaces = 16;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

absl::Status Failed(int error, const std::string& name, const char* doing) {
  const std::string text =
      absl::StrFormat("%s: cannot be %s: %s", name, doing, std::strerror(error));
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    return absl::ResourceExhaustedError(text);
  }
  return absl::InternalError(text);
}

}  // namespace

absl::StatusOr<UniqueFd> OpenPath(int under, const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (under != AT_FDCWD) how.resolve |= RESOLVE_BENEATH;
  long fd = -1;
  for (int attempt = 0; attempt < kMaxRaces; ++attempt) {
    fd = ::syscall(SYS_openat2, under, path.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  if (errno == ENOENT || errno == ENOTDIR) {
    return absl::NotFoundError(absl::StrFormat("%s: no such file or directory", path));
  }
  if (errno == ELOOP || errno == EXDEV) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: a symbolic link is in the way; name the place it leads to", path));
  }
  return absl::ErrnoToStatus(errno, absl::StrFormat("%s: open", path));
}

absl::StatusOr<TreeNode> OpenNode(int under, const std::string& path) {
  auto fd = OpenPath(under, path);
  if (!fd.ok()) return fd.status();
  TreeNode node{*std::move(fd), {}};
  if (::fstat(node.fd.get(), &node.status) != 0) return Failed(errno, path, "examined");
  return node;
}

const char* FileKind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

absl::StatusOr<std::string> ReadLink(int fd, const std::string& name) {
  std::array<char, PATH_MAX> text = {};
  const ssize_t size = ::readlinkat(fd, "", text.data(), text.size());
  if (size <= 0) return Failed(errno, name, "read");
  return std::string(text.data(), static_cast<std::size_t>(size));
}

absl::StatusOr<std::vector<std::string>> ListDirectory(int fd, std::size_t limit) {
  UniqueFd listed(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed.ok()) return Failed(errno, "a directory", "listed");
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(listed.get()));
  if (directory == nullptr) return Failed(errno, "a directory", "listed");
  static_cast<void>(listed.Release());  // closedir closes it
  std::vector<std::string> names;
  while (names.size() < limit) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr && errno != 0) return Failed(errno, "a directory", "listed");
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && !name.empty()) path += '/';
  return path.append(name);
}

absl::StatusOr<std::string> ReadRegularFile(int fd, const std::string& name,
                                            std::size_t limit_bytes) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return Failed(errno, name, "examined");
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: is %s: only a regular file is read", name, FileKind(status.st_mode)));
  }
  const std::string itself = absl::StrFormat("/proc/self/fd/%d", fd);
  const UniqueFd file(::open(itself.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.ok()) return Failed(errno, name, "opened");

  // One byte more than the limit tells a file that is too large, also one that grows meanwhile.
  std::string bytes(std::min(static_cast<std::size_t>(status.st_size), limit_bytes) + 1, '\0');
  std::size_t have = 0;
  while (true) {
    if (have > limit_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("%s: is larger than the limit of %d bytes", name, limit_bytes));
    }
    if (have == bytes.size()) bytes.resize(std::min(2 * have, limit_bytes + 1));
    const ssize_t count = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(errno, name, "read");
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace warder::sandbox
