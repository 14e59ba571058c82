// Ticket: the immutable record of one call that is put to an approver. Its digest names exactly
// what would run.
#ifndef WARDER_APPROVAL_TICKET_H_
#define WARDER_APPROVAL_TICKET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "manifest/prepared_call.h"

namespace warder::approval {

// Who asks. Taken from the kernel, never from what a caller says of itself.
struct Requester {
  std::uint32_t uid = 0, gid = 0;
  std::int64_t pid = 0;
  std::uint64_t start_ticks =
      0;            // /proc/PID/stat field 22: tells one process from a later one with its pid
  std::string via;  // "cli call", "cli exec", later the socket
};

struct TicketFile {
  std::string role, path;
  std::uint64_t device = 0, inode = 0, size = 0;
  std::uint32_t mode = 0, owner = 0;
  bool copied = false;
  manifest::Sha256 digest{};
};

struct TicketVariable {
  std::string name, origin;
  bool changes_loading = false;
  // HMAC-SHA-256 of the value under a key that lives as long as this process: equal values can be
  // seen to be equal, nothing can be tried against it later.
  manifest::Sha256 fingerprint{};
};

// Everything that decides what runs. Values only; environment values are not in it.
struct Ticket {
  std::string id;  // 16 random bytes, as raw bytes; shown as hexadecimal
  Requester requester;
  std::string workspace_path;
  std::uint64_t workspace_device = 0, workspace_inode = 0;
  std::string tool, tool_source, description, side_effect;
  manifest::Sha256 manifest_entry{};
  std::vector<std::string> argv;         // what execve gets
  std::vector<std::string> shown_argv;   // the manifest's words, expanded
  std::vector<std::string> stored_argv;  // the manifest's words, unexpanded: what logs may hold
  std::vector<TicketFile> files;
  std::string cwd_path;
  std::string stored_cwd;  // as the manifest writes it, unexpanded; "" when it names none
  std::uint64_t cwd_device = 0, cwd_inode = 0;
  std::vector<TicketVariable> environment;
  std::vector<std::string> variables_read;
  bool argv_holds_variables = false;
  std::string input;  // exact bytes
  manifest::Sha256 input_digest{};
  std::string policy, policy_source;
  manifest::Sha256 policy_digest{};
  std::vector<std::string> confinement;  // sentences: what the cell may read, write and reach
  std::int64_t timeout_ms = 0;
  // 0: the policy sets no limit.
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0, memory_bytes = 0, processes = 0;
  // CLOCK_BOOTTIME, milliseconds. Not part of the digest: they say when, not what.
  std::int64_t asked_at_ms = 0, ask_deadline_ms = 0, use_by_ms = 0;
};

// Makes the ticket of `call`, with a new id. Its ask deadline is the policy's ask timeout away, at
// most a week; `use_by_ms` counts from the decision and is set by the gate.
Ticket MakeTicket(const manifest::PreparedCall& call, const Requester& requester,
                  std::int64_t now_boottime_ms);

// The canonical encoding: every field but the times in the order above, tagged, with lengths; one
// text has one reading. Documented in approval/README.md.
std::string EncodeTicket(const Ticket& ticket);
// SHA-256 over EncodeTicket.
manifest::Sha256 TicketDigest(const Ticket& ticket);
std::string TicketDigestHex(const Ticket& ticket);

// CLOCK_BOOTTIME in milliseconds: goes on during suspend, cannot be set back.
std::int64_t BoottimeMs();

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_TICKET_H_
