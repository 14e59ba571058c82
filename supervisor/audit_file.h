// The file of the audit log: its lock, its end, its lines. Shared by the writer and the verifier.
#ifndef WARDER_SUPERVISOR_AUDIT_FILE_H_
#define WARDER_SUPERVISOR_AUDIT_FILE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/unique_fd.h"
#include "supervisor/audit_chain.h"

namespace warder::supervisor {

// "audit log PATH: what" as kFailedPrecondition.
absl::Status AuditFault(const std::string& path, const std::string& what);
// "audit log PATH: what: errno: remedy". kPermissionDenied, kNotFound, kResourceExhausted (no
// space, file size limit), kFailedPrecondition (a symlink or a directory is in its place),
// otherwise as absl::ErrnoToStatus.
absl::Status AuditFault(const std::string& path, const std::string& what, int error);

enum class AuditLock : std::uint8_t { kShared, kExclusive };

// Holds the lock of the open log `fd` until destroyed. `fd` outlives it.
class AuditLockGuard {
 public:
  explicit AuditLockGuard(int fd) : fd_(fd) {}
  AuditLockGuard(AuditLockGuard&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  AuditLockGuard& operator=(AuditLockGuard&&) = delete;
  AuditLockGuard(const AuditLockGuard&) = delete;
  AuditLockGuard& operator=(const AuditLockGuard&) = delete;
  ~AuditLockGuard();

 private:
  int fd_;
};
// An append takes milliseconds; hundreds of processes that append at once fit in this.
inline constexpr std::chrono::milliseconds kAuditLockWait{30'000};
// Waits at most `wait`. Errors: kUnavailable (someone holds it), kInternal.
absl::StatusOr<AuditLockGuard> LockAudit(const sandbox::UniqueFd& fd, const std::string& path,
                                         AuditLock kind,
                                         std::chrono::milliseconds wait = kAuditLockWait);

struct AuditTail {
  ChainLink last;         // of the last whole record
  std::uint64_t end = 0;  // where the last whole line ends
  std::string torn;       // the bytes after it: a line without its newline
};
// Reads the end of the locked log. Errors: kFailedPrecondition (the last record is damaged).
absl::StatusOr<AuditTail> ReadAuditTail(const sandbox::UniqueFd& fd, const std::string& path);

// The lines of the first `end` bytes of a log, one after the other, in bounded memory.
class AuditLines {
 public:
  AuditLines(int fd, std::uint64_t end) : fd_(fd), end_(end) {}
  enum class Kind : std::uint8_t { kLine, kTorn, kTooLong, kEnd };
  // `line` (no newline) is valid until the next call. kTorn: bytes without a newline, always last.
  // kTooLong: `line` is its beginning; reading goes on after it. Errors: kInternal (read error).
  absl::StatusOr<Kind> Next(std::string_view& line);

 private:
  absl::Status Fill();
  int fd_;
  std::uint64_t end_;
  std::uint64_t offset_ = 0;  // of the next byte to read
  std::string buffer_;
  std::size_t used_ = 0;  // bytes of buffer_ that were given out
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_AUDIT_FILE_H_
