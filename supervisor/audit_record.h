// What the audit log says of each event. The one place that chooses what is kept of a ticket and an
// outcome.
//
// No value of an environment variable, no input byte and no output byte is in a record: argv and
// cwd are as the manifest writes them, unexpanded; variables are names; input and output are
// lengths and digests. Texts are visible ASCII or printable Unicode, and every text and list is
// bounded.
#ifndef WARDER_SUPERVISOR_AUDIT_RECORD_H_
#define WARDER_SUPERVISOR_AUDIT_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "approval/decision.h"
#include "approval/ticket.h"
#include "manifest/json.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {

// As it is shown and as approvers repeat it.
std::string TicketIdHex(const approval::Ticket& ticket);

// Each starts with its "event": "ask", "decision", "use", "refusal", "rejected", "outcome",
// "repaired". Members: README.
manifest::Json AskRecord(const approval::Ticket& ticket);
manifest::Json DecisionRecord(const approval::Ticket& ticket, const approval::Decision& decision);
manifest::Json UseRecord(const approval::Ticket& ticket);
manifest::Json RefusalRecord(const approval::Ticket& ticket, const approval::Refusal& refusal);
manifest::Json RejectedRecord(const std::string& tool, const std::string& workspace,
                              const approval::Refusal& refusal);
manifest::Json OutcomeRecord(const approval::Ticket& ticket, const Outcome& outcome);
// A line that was never finished was removed from the end of the log.
manifest::Json RepairedRecord(std::string_view removed);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_AUDIT_RECORD_H_
