// SampleCall and SampleTicket: made-up values with every field set, for tests that need one and run
// nothing.
#ifndef WARDER_TESTS_SUPPORT_SAMPLE_CALL_H_
#define WARDER_TESTS_SUPPORT_SAMPLE_CALL_H_

#include "approval/ticket.h"
#include "manifest/prepared_call.h"

namespace warder::testing {

// A python script in the workspace "/ws", declared as tool "report". Holds no descriptor.
manifest::PreparedCall SampleCall();

// The same as a ticket, written down by hand: fixed id "0123456789abcdef", asked at 1000 ms,
// deadline 301000 ms.
approval::Ticket SampleTicket();

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_SAMPLE_CALL_H_
