#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "supervisor/audit_file.h"
#include "supervisor/audit_log.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using sandbox::UniqueFd;

// A log that is damaged all over needs no line for each of its lines.
constexpr std::size_t kMaxFaults = 100;

struct OpenLog {
  UniqueFd fd;
  std::uint64_t end = 0;
};

// Opens for reading and finds where the log ends while nobody writes.
absl::StatusOr<OpenLog> OpenToRead(const std::string& path) {
  OpenLog log;
  log.fd.Reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!log.fd.ok()) return AuditFault(path, "open", errno);
  const auto lock = LockAudit(log.fd, path, AuditLock::kShared);
  if (!lock.ok()) return lock.status();
  struct stat file{};
  if (::fstat(log.fd.get(), &file) != 0) return AuditFault(path, "fstat", errno);
  if (!S_ISREG(file.st_mode)) return AuditFault(path, "it is not a regular file");
  log.end = static_cast<std::uint64_t>(file.st_size);
  return log;
}

// The record of one line, or what is wrong with it.
absl::StatusOr<ChainRecord> RecordOf(AuditLines::Kind kind, std::string_view line) {
  if (kind == AuditLines::Kind::kLine) return ParseChainLine(line);
  if (kind == AuditLines::Kind::kTooLong) return absl::DataLossError("it is too long");
  return absl::DataLossError(absl::StrCat(
      line.size(), " bytes without a line end: an append was cut off; the next one repairs this"));
}

// Calls `each(line number, record or fault)` for every line until it returns false.
template <class Each>
absl::Status ForEachLine(const std::string& path, Each each) {
  const auto log = OpenToRead(path);
  if (!log.ok()) return log.status();
  AuditLines lines(log->fd.get(), log->end);
  for (std::uint64_t number = 1;; ++number) {
    std::string_view line;
    const auto kind = lines.Next(line);
    if (!kind.ok()) return kind.status();
    if (*kind == AuditLines::Kind::kEnd || !each(number, RecordOf(*kind, line))) {
      return absl::OkStatus();
    }
  }
}

std::string TextOf(const Json& record, const char* name) {
  const auto member = record.find(name);
  return member != record.end() && member->is_string() ? member->get<std::string>() : "";
}

class Verifier {
 public:
  void Add(std::uint64_t number, const absl::StatusOr<ChainRecord>& record) {
    line_ = number;
    if (!record.ok()) {
      Fault(std::string(record.status().message()));
      // What follows cannot be compared with a line that cannot be read.
      last_.reset();
      return;
    }
    CheckLink(*record);
    last_ = record->link;
    ++report_.records;
    report_.last_hash = record->link.hash;
    Follow(record->json, record->link.sequence);
  }

  AuditReport Take() {
    std::map<std::uint64_t, std::string> by_sequence;
    for (const auto& [ticket, sequence] : running_) by_sequence[sequence] = ticket;
    for (const auto& [sequence, ticket] : by_sequence) {
      report_.unfinished.push_back(absl::StrCat(ticket, ": used by record ", sequence));
    }
    return std::move(report_);
  }

 private:
  void Fault(const std::string& what) {
    if (report_.faults.size() > kMaxFaults) return;
    report_.faults.push_back(report_.faults.size() == kMaxFaults
                                 ? absl::StrCat("line ", line_, ": and more, not listed")
                                 : absl::StrCat("line ", line_, ": ", what));
  }

  void CheckLink(const ChainRecord& record) {
    if (!last_) return;
    if (record.link.sequence != last_->sequence + 1) {
      Fault(absl::StrCat("sequence ", record.link.sequence, " follows ", last_->sequence));
    }
    if (record.previous_hash != last_->hash) {
      Fault("hash of the record before does not match");
    }
  }

  // Nothing may be used that was not allowed before, and what was used should end.
  void Follow(const Json& record, std::uint64_t sequence) {
    const std::string event = TextOf(record, "event");
    const std::string ticket = TextOf(record, "ticket");
    if (event == "decision") {
      const bool allows = TextOf(record, "verdict").starts_with("allow");
      if (allows && !record.contains("failure")) allowed_.insert(ticket);
    } else if (event == "refusal") {
      allowed_.erase(ticket);
    } else if (event == "use") {
      if (allowed_.erase(ticket) == 0) Fault("a ticket is used that was not allowed");
      running_[ticket] = sequence;
    } else if (event == "outcome") {
      running_.erase(ticket);
    }
  }

  AuditReport report_;
  std::uint64_t line_ = 0;
  std::optional<ChainLink> last_ = ChainLink{};
  std::unordered_set<std::string> allowed_;
  std::unordered_map<std::string, std::uint64_t> running_;
};

}  // namespace

absl::StatusOr<AuditReport> VerifyAudit(const std::string& path) {
  Verifier verifier;
  absl::Status read =
      ForEachLine(path, [&](std::uint64_t number, const absl::StatusOr<ChainRecord>& record) {
        verifier.Add(number, record);
        return true;
      });
  if (!read.ok()) return read;
  return verifier.Take();
}

absl::Status ReadAudit(const std::string& path, const std::function<void(const Json&)>& each) {
  absl::Status damage;
  absl::Status read =
      ForEachLine(path, [&](std::uint64_t number, const absl::StatusOr<ChainRecord>& record) {
        if (record.ok()) {
          each(record->json);
        } else {
          damage =
              absl::DataLossError(absl::StrCat(path, ":", number, ": ", record.status().message()));
        }
        return record.ok();
      });
  return read.ok() ? damage : read;
}

}  // namespace warder::supervisor
