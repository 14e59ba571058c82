// The chain of the audit log: how one record becomes a line, and how a line is proven.
#ifndef WARDER_SUPERVISOR_AUDIT_CHAIN_H_
#define WARDER_SUPERVISOR_AUDIT_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manifest/json.h"

namespace warder::supervisor {

// Of one line. Every list and text of a record is bounded (audit_record.h) so that this is never
// reached.
inline constexpr std::size_t kMaxAuditLineBytes = 512u << 10;

// The place of one record. The default is the place before the first.
struct ChainLink {
  std::uint64_t sequence = 0;
  std::string hash = std::string(64, '0');  // lower-case hexadecimal
};

// {"seq", "time", "event", "prev", members of `record`, "hash"} and a newline. `record` starts with
// its "event". The hash is SHA-256 over the line without its newline and without `,"hash":"..."`.
// Every byte is ASCII. Sets `link` to the record's own. Errors: kInternal (longer than
// kMaxAuditLineBytes).
absl::StatusOr<std::string> ChainLine(const ChainLink& previous, absl::Time time,
                                      const manifest::Json& record, ChainLink& link);

struct ChainRecord {
  ChainLink link;
  std::string previous_hash;
  manifest::Json json;
};
// Reads `line` (no newline) and proves its own hash; whether it follows another is for the caller
// to see. Errors: kDataLoss, "what" without a place.
absl::StatusOr<ChainRecord> ParseChainLine(std::string_view line);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_AUDIT_CHAIN_H_
