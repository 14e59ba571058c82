#include "supervisor/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "supervisor/audit_chain.h"
#include "supervisor/audit_file.h"
#include "supervisor/audit_record.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;

constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;

// The directories above `path`, so far as they are missing.
absl::Status MakeDirectories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    if (::mkdir(directory.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      return AuditFault(path, absl::StrCat("mkdir ", directory), errno);
    }
  }
  return absl::OkStatus();
}

// Makes the name of a new log last: without this a crash can lose the file with its records.
absl::Status SyncDirectory(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) return AuditFault(path, "fsync " + directory, errno);
  return absl::OkStatus();
}

absl::Status CheckFile(const UniqueFd& fd, const std::string& path) {
  struct stat file{};
  if (::fstat(fd.get(), &file) != 0) return AuditFault(path, "fstat", errno);
  if (!S_ISREG(file.st_mode)) return AuditFault(path, "it is not a regular file; move it away");
  if (file.st_uid != ::geteuid()) {
    return AuditFault(path, absl::StrCat("it belongs to uid ", file.st_uid,
                                         ", this process is uid ", ::geteuid(), "; move it away"));
  }
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return AuditFault(path, "others may write to it; check its records, then `chmod 600` it");
  }
  return absl::OkStatus();
}

// Whether `path` still names the open file. A log that was moved or removed would take records that
// nobody finds.
absl::Status CheckName(const UniqueFd& fd, const std::string& path) {
  struct stat open{}, named{};
  if (::fstat(fd.get(), &open) != 0) return AuditFault(path, "fstat", errno);
  if (::lstat(path.c_str(), &named) != 0 || open.st_dev != named.st_dev ||
      open.st_ino != named.st_ino) {
    return AuditFault(path, "it was moved or removed while in use; start Warder again");
  }
  return absl::OkStatus();
}

// Writes `line` at the end, durably, or leaves the log as it was.
absl::Status WriteLine(const UniqueFd& fd, const std::string& path, std::uint64_t end,
                       std::string_view line) {
  const auto undo = [&](const char* what) {
    const int error = errno;
    // If this fails too, the line is torn and the next append repairs it.
    const bool torn = ::ftruncate(fd.get(), static_cast<off_t>(end)) != 0;
    return AuditFault(path, torn ? "write, and take the torn line back" : what, error);
  };
  while (!line.empty()) {
    const ssize_t put = ::write(fd.get(), line.data(), line.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return undo("write");
    line.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fdatasync(fd.get()) != 0) return undo("fdatasync");
  return absl::OkStatus();
}

absl::Status AppendRecord(const UniqueFd& fd, const std::string& path, const manifest::Json& record,
                          AuditTail& tail) {
  ChainLink link;
  const auto line = ChainLine(tail.last, absl::Now(), record, link);
  if (!line.ok()) return line.status();
  const absl::Status written = WriteLine(fd, path, tail.end, *line);
  if (!written.ok()) return written;
  tail.last = std::move(link);
  tail.end += line->size();
  return absl::OkStatus();
}

// A line without its newline is what a crash or a full disk left of an append whose caller never
// heard that it succeeded. It goes, and a record says so.
absl::Status Repair(const UniqueFd& fd, const std::string& path, AuditTail& tail) {
  if (tail.torn.empty()) return absl::OkStatus();
  if (::ftruncate(fd.get(), static_cast<off_t>(tail.end)) != 0) {
    return AuditFault(path, "ftruncate", errno);
  }
  return AppendRecord(fd, path, RepairedRecord(std::exchange(tail.torn, {})), tail);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path) {
  if (path.empty() || path.front() != '/') return AuditFault(path, "its path must be absolute");
  if (const absl::Status made = MakeDirectories(path); !made.ok()) return made;
  // O_NONBLOCK: opening a pipe that someone put in its place must not wait.
  constexpr int kFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  UniqueFd fd(::open(path.c_str(), kFlags | O_CREAT, kFileMode));
  if (!fd.ok()) return AuditFault(path, "open", errno);
  if (const absl::Status file = CheckFile(fd, path); !file.ok()) return file;
  {
    const auto lock = LockAudit(fd, path, AuditLock::kExclusive);
    if (!lock.ok()) return lock.status();
    const auto tail = ReadAuditTail(fd, path);
    if (!tail.ok()) return tail.status();
    const bool fresh = tail->end == 0;
    if (const absl::Status synced = fresh ? SyncDirectory(path) : absl::OkStatus(); !synced.ok()) {
      return synced;
    }
  }
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(fd), path));
}

absl::StatusOr<std::uint64_t> AuditLog::Append(const manifest::Json& record) {
  const auto lock = LockAudit(fd_, path_, AuditLock::kExclusive);
  if (!lock.ok()) return lock.status();
  if (const absl::Status name = CheckName(fd_, path_); !name.ok()) return name;
  auto tail = ReadAuditTail(fd_, path_);
  if (!tail.ok()) return tail.status();
  if (const absl::Status repaired = Repair(fd_, path_, *tail); !repaired.ok()) return repaired;
  const absl::Status appended = AppendRecord(fd_, path_, record, *tail);
  if (!appended.ok()) return appended;
  return tail->last.sequence;
}

absl::StatusOr<std::uint64_t> AuditLog::RecordAsk(const approval::Ticket& ticket) {
  return Append(AskRecord(ticket));
}

absl::StatusOr<std::uint64_t> AuditLog::RecordDecision(const approval::Ticket& ticket,
                                                       const approval::Decision& decision) {
  return Append(DecisionRecord(ticket, decision));
}

absl::StatusOr<std::uint64_t> AuditLog::RecordUse(const approval::Ticket& ticket) {
  return Append(UseRecord(ticket));
}

absl::StatusOr<std::uint64_t> AuditLog::RecordRefusal(const approval::Ticket& ticket,
                                                      const approval::Refusal& refusal) {
  return Append(RefusalRecord(ticket, refusal));
}

absl::StatusOr<std::uint64_t> AuditLog::RecordRejected(const std::string& tool,
                                                       const std::string& workspace,
                                                       const approval::Refusal& refusal) {
  return Append(RejectedRecord(tool, workspace, refusal));
}

absl::StatusOr<std::uint64_t> AuditLog::RecordOutcome(const approval::Ticket& ticket,
                                                      const Outcome& outcome) {
  return Append(OutcomeRecord(ticket, outcome));
}

}  // namespace warder::supervisor
