#include "supervisor/audit_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;

constexpr long kLockPollNs = 500'000;
constexpr std::size_t kReadBytes = 64u << 10;

const char* Remedy(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return ": run as the user that owns it, or name another state directory";
    case EROFS:
      return ": name a state directory on a writable file system";
    case ENOSPC:
    case EDQUOT:
      return ": free some space; until then no call runs";
    case EFBIG:
      return ": raise the file size limit (ulimit -f); until then no call runs";
    case ELOOP:
    case EISDIR:
    case ENOTDIR:
      return ": move away what is in its place";
    default:
      return "";
  }
}

struct flock WholeFile(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

absl::StatusOr<std::uint64_t> SizeOf(int fd, const std::string& path) {
  struct stat file{};
  if (::fstat(fd, &file) != 0) return AuditFault(path, "fstat", errno);
  return static_cast<std::uint64_t>(file.st_size);
}

// Appends up to `bytes` bytes at `offset` to `into`; fewer only at the end of the file.
absl::Status ReadAt(int fd, std::uint64_t offset, std::size_t bytes, std::string& into) {
  const std::size_t before = into.size();
  into.resize(before + bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd, into.data() + before + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "audit log: read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  into.resize(before + done);
  return absl::OkStatus();
}

}  // namespace

absl::Status AuditFault(const std::string& path, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat("audit log ", path, ": ", what));
}

absl::Status AuditFault(const std::string& path, const std::string& what, int error) {
  const absl::Status status =
      absl::ErrnoToStatus(error, absl::StrCat("audit log ", path, ": ", what));
  absl::StatusCode code = status.code();
  if (error == EFBIG) code = absl::StatusCode::kResourceExhausted;
  if (error == ELOOP || error == ENOTDIR) code = absl::StatusCode::kFailedPrecondition;
  return absl::Status(code, absl::StrCat(status.message(), Remedy(error)));
}

AuditLockGuard::~AuditLockGuard() {
  if (fd_ < 0) return;
  struct flock unlock = WholeFile(F_UNLCK);
  static_cast<void>(::fcntl(fd_, F_OFD_SETLK, &unlock));
}

absl::StatusOr<AuditLockGuard> LockAudit(const UniqueFd& fd, const std::string& path,
                                         AuditLock kind, std::chrono::milliseconds wait) {
  const short type = kind == AuditLock::kShared ? F_RDLCK : F_WRLCK;
  const auto give_up = std::chrono::steady_clock::now() + wait;
  for (;;) {
    struct flock lock = WholeFile(type);
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return AuditLockGuard(fd.get());
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      return AuditFault(path, "lock", errno);
    }
    if (std::chrono::steady_clock::now() >= give_up) {
      return absl::UnavailableError(absl::StrCat("audit log ", path,
                                                 ": another process has held its lock for ",
                                                 wait.count(), " ms; `fuser` names the process"));
    }
    const timespec pause{0, kLockPollNs};
    ::nanosleep(&pause, nullptr);
  }
}

absl::StatusOr<AuditTail> ReadAuditTail(const UniqueFd& fd, const std::string& path) {
  const auto size = SizeOf(fd.get(), path);
  if (!size.ok()) return size.status();
  // Room for one whole line and one torn one.
  std::string bytes;
  std::uint64_t start = *size;
  std::size_t newline = std::string::npos, before = std::string::npos;
  while (start > 0 && *size - start < 2 * kMaxAuditLineBytes && before == std::string::npos) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(start, kReadBytes));
    start -= step;
    std::string chunk;
    absl::Status read = ReadAt(fd.get(), start, step, chunk);
    if (!read.ok()) return read;
    bytes.insert(0, chunk);
    newline = bytes.rfind('\n');
    if (newline != std::string::npos && newline > 0) before = bytes.rfind('\n', newline - 1);
  }
  AuditTail tail;
  if (newline == std::string::npos) {
    if (start > 0) {
      return AuditFault(path, "its last line is too long to be one of Warder's; move it away");
    }
    tail.torn = std::move(bytes);
    return tail;
  }
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  const auto record = ParseChainLine(std::string_view(bytes).substr(first, newline - first));
  if (!record.ok()) {
    return AuditFault(path, absl::StrCat("its last record is damaged: ", record.status().message(),
                                         "; see `warder audit verify`, then move the file away"));
  }
  tail.last = record->link;
  tail.end = start + newline + 1;
  tail.torn = bytes.substr(newline + 1);
  return tail;
}

absl::Status AuditLines::Fill() {
  buffer_.erase(0, used_);
  used_ = 0;
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(end_ - offset_, kReadBytes));
  const std::size_t before = buffer_.size();
  absl::Status read = ReadAt(fd_, offset_, bytes, buffer_);
  if (!read.ok()) return read;
  offset_ += buffer_.size() - before;
  if (buffer_.size() - before < bytes) end_ = offset_;  // it became shorter meanwhile
  return absl::OkStatus();
}

absl::StatusOr<AuditLines::Kind> AuditLines::Next(std::string_view& line) {
  std::size_t newline = buffer_.find('\n', used_);
  while (newline == std::string::npos && offset_ < end_ &&
         buffer_.size() - used_ <= kMaxAuditLineBytes) {
    absl::Status filled = Fill();
    if (!filled.ok()) return filled;
    newline = buffer_.find('\n', used_);
  }
  line = std::string_view(buffer_).substr(used_,
                                          newline == std::string::npos ? newline : newline - used_);
  if (newline != std::string::npos) {
    used_ = newline + 1;
    return line.size() < kMaxAuditLineBytes ? Kind::kLine : Kind::kTooLong;
  }
  used_ = buffer_.size();
  if (line.empty()) return Kind::kEnd;
  return offset_ < end_ ? Kind::kTooLong : Kind::kTorn;
}

}  // namespace warder::supervisor
