// AuditLog: JSON lines, each chained to the one before by SHA-256, written before anything runs.
#ifndef WARDER_SUPERVISOR_AUDIT_LOG_H_
#define WARDER_SUPERVISOR_AUDIT_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "approval/gate.h"
#include "sandbox/unique_fd.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {

// One log file, appended to by any number of processes at once: each append takes an exclusive
// lock, reads the last record for sequence and hash, writes one line and syncs it (fdatasync). No
// value of an environment variable and no input byte is ever in it: argv is stored unexpanded,
// input as length and digest.
class AuditLog : public approval::Journal {
 public:
  // Opens (creates, 0600, directory 0700) `path`, which is absolute. Errors: kPermissionDenied,
  // kFailedPrecondition (not a regular file of this user that only this user may write; last record
  // damaged), kResourceExhausted (no space), kUnavailable (locked). Appends return the same errors,
  // and kFailedPrecondition when the file was moved or removed; the log is then as it was before.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path);

  absl::StatusOr<std::uint64_t> RecordAsk(const approval::Ticket& ticket) override;
  absl::StatusOr<std::uint64_t> RecordDecision(const approval::Ticket& ticket,
                                               const approval::Decision& decision) override;
  absl::StatusOr<std::uint64_t> RecordUse(const approval::Ticket& ticket) override;
  absl::StatusOr<std::uint64_t> RecordRefusal(const approval::Ticket& ticket,
                                              const approval::Refusal& refusal) override;
  // A call that never became a ticket (unknown tool, bad input): `tool` and `workspace` as asked,
  // made visible.
  absl::StatusOr<std::uint64_t> RecordRejected(const std::string& tool,
                                               const std::string& workspace,
                                               const approval::Refusal& refusal);
  // `ticket_digest` and sizes from `outcome`; the streams' digests, never their bytes.
  absl::StatusOr<std::uint64_t> RecordOutcome(const approval::Ticket& ticket,
                                              const Outcome& outcome);

 private:
  AuditLog(sandbox::UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  absl::StatusOr<std::uint64_t> Append(const manifest::Json& record);
  sandbox::UniqueFd fd_;
  std::string path_;
};

struct AuditReport {
  std::uint64_t records = 0;
  std::string last_hash;
  std::vector<std::string> faults;  // "line 7: hash of the record before does not match"
  // "TICKET: used by record N" for each ticket that was used and has no outcome, oldest first: it
  // runs now, or its supervisor died.
  std::vector<std::string> unfinished;
};
// Reads the log and checks every line, link and number, and that no ticket was used without an
// allow. Faults are in the report; errors: kNotFound, kPermissionDenied, kFailedPrecondition (not a
// file), kUnavailable (locked). That records are missing at the end cannot be seen from the log
// alone: keep `records` and `last_hash` elsewhere.
absl::StatusOr<AuditReport> VerifyAudit(const std::string& path);
// Calls `each` with every record, oldest first. Errors: as VerifyAudit, and kDataLoss "PATH:LINE:
// what" at the first line that is damaged.
absl::Status ReadAudit(const std::string& path,
                       const std::function<void(const manifest::Json&)>& each);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_AUDIT_LOG_H_
