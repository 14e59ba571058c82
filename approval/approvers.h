// Approvers that need no terminal and no process.
#ifndef WARDER_APPROVAL_APPROVERS_H_
#define WARDER_APPROVAL_APPROVERS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "approval/approver.h"
#include "approval/rules.h"

namespace warder::approval {

std::unique_ptr<Approver>
MakeAllowAll();  // for operators who say so on the command line or in a policy
std::unique_ptr<Approver> MakeDenyAll();
// Decides by `rules`; when no rule matches, asks `otherwise`, or, when that is null, fails with
// kNoApprover.
std::unique_ptr<Approver> MakeRuleApprover(RuleSet rules, std::unique_ptr<Approver> otherwise);
// Asks at `tty_path` (normally "/dev/tty"). Errors: kUnavailable (there is no terminal).
absl::StatusOr<std::unique_ptr<Approver>> MakeTerminalApprover(const std::string& tty_path);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_APPROVERS_H_
