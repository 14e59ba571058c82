// ChooseApprover: who decides a call of the command line.
#ifndef WARDER_SUPERVISOR_CHOOSE_APPROVER_H_
#define WARDER_SUPERVISOR_CHOOSE_APPROVER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "approval/approver.h"
#include "approval/rules.h"
#include "manifest/config.h"
#include "manifest/policy_file.h"

namespace warder::supervisor {

// What --approve says. `argument` is the rules file or the program after the colon, "" when there
// is none.
struct ApproveFlag {
  std::string who;  // "ask", "allow-all", "deny-all", "rules" or "program"
  std::string argument;
};
// Errors: kInvalidArgument (not one of the documented forms).
absl::StatusOr<ApproveFlag> ParseApproveFlag(std::string_view text);

// The rules of the operator's `rules/*.json`, and with `shipped_policy` those that Warder ships for
// that policy. Errors: those of ReadTrustedFile and RuleSet::Parse.
absl::StatusOr<approval::RuleSet> LoadRules(const manifest::Config& config,
                                            const std::optional<std::string>& shipped_policy);

// The approver that `flag` or, when that is absent, `policy` names. The operator's own rules are
// asked before it, so that a deny rule holds whoever decides the rest; "rules" adds the shipped
// rules of the policy, "rules:FILE" that file's, and falls back to the terminal. Null when that is
// nobody: no terminal here and no rule. Errors: a rules file or a program that cannot be trusted or
// used.
absl::StatusOr<std::unique_ptr<approval::Approver>> ChooseApprover(
    const manifest::Config& config, const manifest::NamedPolicy& policy,
    const std::optional<ApproveFlag>& flag);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_CHOOSE_APPROVER_H_
