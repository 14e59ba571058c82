#include "approval/decision.h"

#include <utility>

namespace warder::approval {

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDeny:
      return "deny";
    case Verdict::kAllow:
      return "allow";
    case Verdict::kDenyForSession:
      return "deny-for-session";
    case Verdict::kAllowForSession:
      return "allow-for-session";
  }
  return "invalid";
}

const char* RefusalCodeName(RefusalCode code) {
  switch (code) {
    case RefusalCode::kDenied:
      return "denied";
    case RefusalCode::kDeniedForSession:
      return "denied_for_session";
    case RefusalCode::kNoApprover:
      return "no_approver";
    case RefusalCode::kAskTimeout:
      return "ask_timeout";
    case RefusalCode::kApproverError:
      return "approver_error";
    case RefusalCode::kExpired:
      return "expired";
    case RefusalCode::kAlreadyUsed:
      return "already_used";
    case RefusalCode::kChanged:
      return "changed";
    case RefusalCode::kAuditUnavailable:
      return "audit_unavailable";
    case RefusalCode::kInvalidInput:
      return "invalid_input";
    case RefusalCode::kNotRunnable:
      return "not_runnable";
    case RefusalCode::kNoPolicy:
      return "no_policy";
    case RefusalCode::kSandboxUnavailable:
      return "sandbox_unavailable";
    case RefusalCode::kWithdrawn:
      return "withdrawn";
  }
  return "invalid";
}

Decision FailedDecision(RefusalCode failure, std::string approver, std::string reason) {
  Decision decision;
  decision.failed = true;
  decision.failure = failure;
  decision.approver = std::move(approver);
  decision.reason = std::move(reason);
  return decision;
}

}  // namespace warder::approval
