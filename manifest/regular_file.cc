#include "manifest/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "sandbox/unique_fd.h"

namespace warder::manifest {
namespace {

const char* KindName(mode_t mode) {
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

absl::StatusOr<std::string> ReadRegularFile(int fd, const std::string& name,
                                            std::size_t limit_bytes) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return Failed(errno, name, "examined");
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: is %s: only a regular file is read", name, KindName(status.st_mode)));
  }
  const std::string itself = absl::StrFormat("/proc/self/fd/%d", fd);
  const sandbox::UniqueFd file(
      ::open(itself.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
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

}  // namespace warder::manifest
