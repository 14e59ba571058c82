#include "manifest/pinning.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/digest.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // since Linux 6.3; glibc 2.36 does not know it
#endif

namespace warder::manifest {
namespace {

constexpr mode_t kExecutable = S_IXUSR | S_IXGRP | S_IXOTH;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr unsigned kMemoryFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
// Distinct system programs that tools of one host start; 100 bytes each.
constexpr std::size_t kMaxRememberedDigests = 1024;

std::int64_t Nanoseconds(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool SameContent(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && Nanoseconds(a.st_mtim) == Nanoseconds(b.st_mtim) &&
         Nanoseconds(a.st_ctim) == Nanoseconds(b.st_ctim);
}

absl::Status SystemError(int error, const char* doing) {
  const std::string message = absl::StrFormat("cannot be %s: %s", doing, std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(message);
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InvalidArgumentError(message);
  }
}

// The digests of files that only root can change. Root changing one changes its ctime. For the one
// thread of a process.
class DigestMemory {
 public:
  static DigestMemory& Get() {
    static DigestMemory memory;
    return memory;
  }
  std::optional<Sha256> Find(const struct stat& file) {
    const auto found = digests_.find(KeyOf(file));
    if (found == digests_.end()) return std::nullopt;
    return found->second;
  }
  void Add(const struct stat& file, const Sha256& digest) {
    if (digests_.size() >= kMaxRememberedDigests) digests_.clear();
    digests_[KeyOf(file)] = digest;
  }

 private:
  using Key = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;
  static Key KeyOf(const struct stat& file) {
    return {file.st_dev, file.st_ino, file.st_size, Nanoseconds(file.st_mtim),
            Nanoseconds(file.st_ctim)};
  }
  std::map<Key, Sha256> digests_;
};

absl::Status CheckStartable(const HostPath& file) {
  if (!S_ISREG(file.status.st_mode)) {
    return absl::InvalidArgumentError(S_ISDIR(file.status.st_mode) ? "is a directory, not a program"
                                                                   : "is not a regular file");
  }
  if ((file.status.st_mode & kExecutable) == 0) {
    return absl::PermissionDeniedError("is not executable: `chmod +x` makes it so");
  }
  if (static_cast<std::uint64_t>(file.status.st_size) > kMaxProgramBytes) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("is larger than a program may be (%d MiB)", kMaxProgramBytes >> 20));
  }
  if ((file.file_system.f_flags & ST_NOEXEC) != 0) {
    return absl::PermissionDeniedError("is on a file system that is mounted noexec");
  }
  return absl::OkStatus();
}

// Through /proc: the same inode, whatever has become of its name.
absl::StatusOr<sandbox::UniqueFd> Reopen(int fd) {
  const std::string path = absl::StrFormat("/proc/self/fd/%d", fd);
  sandbox::UniqueFd opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!opened.ok()) return SystemError(errno, "read");
  return opened;
}

absl::Status CheckUnchanged(const HostPath& file) {
  struct stat now = {};
  if (fstat(file.fd.get(), &now) != 0 || !SameContent(now, file.status)) {
    return absl::AbortedError("was changed while it was read: try again");
  }
  return absl::OkStatus();
}

absl::StatusOr<sandbox::UniqueFd> MakeExecutableMemory() {
  sandbox::UniqueFd memory(memfd_create("warder-program", kMemoryFlags | MFD_EXEC));
  if (!memory.ok() && errno == EINVAL) memory.Reset(memfd_create("warder-program", kMemoryFlags));
  if (memory.ok()) return memory;
  if (errno == EACCES) {
    return absl::FailedPreconditionError(
        "cannot be pinned: this host forbids executable memory files: set sysctl vm.memfd_noexec "
        "to 1 or 0");
  }
  return SystemError(errno, "copied to memory");
}

// A sealed copy of `size` bytes of `source`, open for reading only.
absl::StatusOr<sandbox::UniqueFd> CopySealed(int source, std::uint64_t size) {
  absl::StatusOr<sandbox::UniqueFd> memory = MakeExecutableMemory();
  if (!memory.ok()) return memory.status();
  off_t offset = 0;
  while (static_cast<std::uint64_t>(offset) < size) {
    const std::uint64_t left = size - static_cast<std::uint64_t>(offset);
    const ssize_t sent = sendfile(memory->get(), source, &offset, static_cast<std::size_t>(left));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return SystemError(errno, "copied to memory");
    if (sent == 0) return absl::AbortedError("was cut while it was read: try again");
  }
  if (fchmod(memory->get(), S_IRUSR | S_IRGRP | S_IROTH | kExecutable) != 0 ||
      fcntl(memory->get(), F_ADD_SEALS, kSeals) != 0) {
    return SystemError(errno, "sealed");
  }
  return Reopen(memory->get());
}

// Hashes the sealed bytes themselves, so no writer can come between the copy and the digest.
absl::Status HoldCopy(const HostPath& file, PinnedFile* pinned) {
  absl::StatusOr<sandbox::UniqueFd> source = Reopen(file.fd.get());
  if (!source.ok()) return source.status();
  absl::StatusOr<sandbox::UniqueFd> copy = CopySealed(source->get(), pinned->size);
  if (!copy.ok()) return copy.status();
  absl::Status unchanged = CheckUnchanged(file);
  if (!unchanged.ok()) return unchanged;
  absl::StatusOr<Sha256> digest = DigestFile(copy->get(), kMaxProgramBytes);
  if (!digest.ok()) return digest.status();
  pinned->digest = *digest;
  pinned->fd = *std::move(copy);
  return absl::OkStatus();
}

absl::Status HoldHostFile(const HostPath& file, PinnedFile* pinned) {
  absl::StatusOr<sandbox::UniqueFd> opened = Reopen(file.fd.get());
  if (!opened.ok()) return opened.status();
  pinned->fd = *std::move(opened);
  if (const std::optional<Sha256> known = DigestMemory::Get().Find(file.status)) {
    pinned->digest = *known;
    return absl::OkStatus();
  }
  absl::StatusOr<Sha256> digest = DigestFile(pinned->fd.get(), kMaxProgramBytes);
  if (!digest.ok()) return digest.status();
  absl::Status unchanged = CheckUnchanged(file);
  if (!unchanged.ok()) return unchanged;
  pinned->digest = *digest;
  DigestMemory::Get().Add(file.status, *digest);
  return absl::OkStatus();
}

}  // namespace

bool OthersMayChange(const HostPath& file) {
  if (file.status.st_uid != 0) return true;
  const bool sticky = S_ISDIR(file.status.st_mode) && (file.status.st_mode & S_ISVTX) != 0;
  if ((file.status.st_mode & kOthersWrite) != 0 && !sticky) return true;
  // A FUSE mount shows the owners that its server, any user's program, makes up.
  if (file.file_system.f_type == FUSE_SUPER_MAGIC) return true;
  std::string directory = file.path;
  while (directory.size() > 1) {
    directory.resize(std::max<std::size_t>(directory.rfind('/'), 1));
    struct stat status = {};
    if (lstat(directory.c_str(), &status) != 0 || status.st_uid != 0) return true;
    if ((status.st_mode & kOthersWrite) != 0 && (status.st_mode & S_ISVTX) == 0) return true;
  }
  return false;
}

absl::StatusOr<PinnedFile> Pin(const HostPath& file, const CellView& view, FileRole role,
                               std::string written) {
  absl::Status startable = CheckStartable(file);
  if (!startable.ok()) return startable;
  PinnedFile pinned;
  pinned.role = role;
  pinned.path = file.path;
  pinned.written = std::move(written);
  pinned.device = file.status.st_dev;
  pinned.inode = file.status.st_ino;
  pinned.size = static_cast<std::uint64_t>(file.status.st_size);
  pinned.mtime_ns = Nanoseconds(file.status.st_mtim);
  pinned.ctime_ns = Nanoseconds(file.status.st_ctim);
  pinned.mode = file.status.st_mode;
  pinned.owner = file.status.st_uid;
  pinned.copied = view.MayBeWritable(file.path) || OthersMayChange(file);
  absl::Status held = pinned.copied ? HoldCopy(file, &pinned) : HoldHostFile(file, &pinned);
  if (!held.ok()) return held;
  return pinned;
}

}  // namespace warder::manifest
