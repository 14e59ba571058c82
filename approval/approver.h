// Approver: whoever decides a ticket.
#ifndef WARDER_APPROVAL_APPROVER_H_
#define WARDER_APPROVAL_APPROVER_H_

#include <asio/awaitable.hpp>
#include <string>

#include "approval/decision.h"
#include "approval/ticket.h"

namespace warder::approval {

class Approver {
 public:
  virtual ~Approver() = default;
  // Decides `ticket` before ticket.ask_deadline_ms. Runs on the supervisor's one thread and must
  // not block it; ends soon after its coroutine is cancelled, which is how the gate keeps the
  // deadline. The gate treats an exception, a late answer, a wrong digest or an unknown verdict
  // as a failure, which denies.
  virtual asio::awaitable<Decision> Ask(const Ticket& ticket) = 0;
  // For messages: "terminal /dev/tty", "rules", ...
  virtual std::string Name() const = 0;
};

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_APPROVER_H_
