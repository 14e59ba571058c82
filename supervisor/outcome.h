// Outcome: what became of a call. A closed set of values, never an error.
#ifndef WARDER_SUPERVISOR_OUTCOME_H_
#define WARDER_SUPERVISOR_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "approval/decision.h"
#include "manifest/json.h"
#include "sandbox/attestation.h"
#include "sandbox/denial.h"
#include "supervisor/sensitive_changes.h"

namespace warder::supervisor {

struct Exited {
  int code = 0;
};
struct Signaled {
  int signal = 0;
};
struct TimedOut {
  std::int64_t limit_ms = 0;
};
struct CpuLimit {};
struct MemoryLimit {};
struct ProcessLimit {};
struct OutputLimit {};
struct Cancelled {};
struct CouldNotStart {
  std::string step;
  int error = 0;
  std::string detail;
};  // detail: one sentence, with the remedy
using Refused = approval::Refusal;

using Ending = std::variant<Exited, Signaled, TimedOut, CpuLimit, MemoryLimit, ProcessLimit,
                            OutputLimit, Cancelled, CouldNotStart, Refused>;

// What was kept of one stream. When total_bytes > head.size() + tail.size(), bytes between head and
// tail were dropped.
struct Captured {
  std::string head, tail;
  std::uint64_t total_bytes = 0;
  bool truncated() const { return total_bytes > head.size() + tail.size(); }
};

struct Usage {
  std::int64_t user_us = 0, system_us = 0, max_rss_kib = 0;
};

struct Outcome {
  std::string tool;
  Ending ending;
  Captured out, err;
  std::int64_t duration_ms = 0;  // from the start of the program to its end, CLOCK_MONOTONIC
  Usage usage;
  sandbox::Attestation attestation;  // no layers when nothing was started
  sandbox::DenialReport denials;     // what the kernel refused to the tool
  std::string ticket_digest;         // hex, "" when no ticket was made
  std::uint64_t audit_sequence = 0;
  // Absent when there was nothing to look at: the workspace was not writable, or nothing ran.
  std::optional<SensitiveChanges> sensitive;
};

std::string SignalName(int signal);            // "SIGKILL"
const char* EndingName(const Ending& ending);  // "exited", "signaled", "timed_out", ...
// DESIGN 7.6: the tool's own code, 128+n, 124 timeout, 125 Warder failed, 126 refused, 127 could
// not start. Limits: 128+9 for cpu/memory/process/output limits; cancelled 130.
int ExitCode(const Ending& ending);
// One sentence for people and models: names the tool and what happened; on failure stderr follows
// (stdout if that is blank).
std::string OutcomeText(const Outcome& outcome);
// The last lines of that text: what changed that would act later, and what was not looked at. ""
// when there is neither.
std::string SensitiveText(const Outcome& outcome);
// Stable form for machines (documented in supervisor/README.md). Bytes that are not UTF-8 become
// {"base64": "..."}.
manifest::Json OutcomeJson(const Outcome& outcome);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_OUTCOME_H_
