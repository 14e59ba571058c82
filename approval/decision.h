// Decision: what an approver said, and Refusal: why a call does not run.
#ifndef WARDER_APPROVAL_DECISION_H_
#define WARDER_APPROVAL_DECISION_H_

#include <cstdint>
#include <string>

namespace warder::approval {

// Constants far apart in their bits: no flipped bit turns a deny into an allow. Anything else
// denies.
enum class Verdict : std::uint32_t {
  kDeny = 0x5ac3369d,
  kAllow = 0xa53cc962,
  kDenyForSession = 0x3c96a55a,
  kAllowForSession = 0xc3695aa5,
};
// "deny", "allow", "deny-for-session", "allow-for-session", else "invalid".
const char* VerdictName(Verdict verdict);

// Why a call does not run. Codes are stable: they go to users, audit and the wire.
enum class RefusalCode : std::uint32_t {
  kDenied = 0x11,  // an approver or a rule said no
  kDeniedForSession = 0x12,
  kNoApprover = 0x21,     // nobody could be asked
  kAskTimeout = 0x22,     // no answer in time, or an answer that came late
  kApproverError = 0x23,  // crash, end of file, garbage, two answers, wrong ticket
  kExpired = 0x31,        // allowed, but not started before its use-by time
  kAlreadyUsed = 0x32,
  kChanged = 0x33,           // what would run is no longer what was shown
  kAuditUnavailable = 0x41,  // the audit log cannot be written
  kInvalidInput = 0x51,      // the input breaks the tool's schema
  kNotRunnable = 0x52,  // nothing to ask about: program missing, policy forbids, expansion failed
  kNoPolicy = 0x53,     // no binding, or a policy that does not exist
  kSandboxUnavailable = 0x61,  // a layer that the policy requires is missing here
  kWithdrawn = 0x71,           // the caller went away or cancelled
};
// "denied", "no_approver", ... (lower snake case); "invalid" for a value that is none of them.
const char* RefusalCodeName(RefusalCode code);

// What one approver answers. The default denies.
struct Decision {
  Verdict verdict = Verdict::kDeny;
  std::string reason;         // for the caller; escaped and capped before anyone sees it
  std::string approver;       // who: "terminal", "rule deny-prod", "program /etc/...", "allow-all"
  std::string ticket_digest;  // hex; must repeat the ticket's
  bool failed = false;        // the approver did not decide: see `failure`
  RefusalCode failure = RefusalCode::kApproverError;  // used when `failed`
};

// The answer of an approver that did not decide.
Decision FailedDecision(RefusalCode failure, std::string approver, std::string reason);

struct Refusal {
  RefusalCode code = RefusalCode::kDenied;
  std::string reason;  // one sentence
};

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_DECISION_H_
