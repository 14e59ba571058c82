// RecordedTicket: a ticket with every field filled, made by hand.
#ifndef WARDER_TESTS_SUPPORT_SAMPLE_TICKET_H_
#define WARDER_TESTS_SUPPORT_SAMPLE_TICKET_H_

#include "approval/ticket.h"

namespace warder::testing {

// What must be in no log: the value of the variable that the ticket's argv holds.
inline constexpr char kSampleSecret[] = "s3cr3t-value";
// The input of the ticket.
inline constexpr char kSampleInput[] = R"({"path":"private/notes"})";

// Tool "lint" of "/srv/ws": `/bin/x --token ${TOK}`. Its ask deadline is 60 s away.
approval::Ticket RecordedTicket();

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_SAMPLE_TICKET_H_
