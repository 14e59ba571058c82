// Rules: an operator's file that decides tickets without a person. Deny overrides allow; order
// never matters.
#ifndef WARDER_APPROVAL_RULES_H_
#define WARDER_APPROVAL_RULES_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "approval/decision.h"
#include "approval/ticket.h"
#include "manifest/json.h"

namespace warder::approval {

// How one word or value is compared. Exactly one member is set.
struct Match {
  // JSON array of the values of which one must be equal; `equals` in a file is an array of one.
  // Values are typed: 1 is not "1" and not true; 1 and 1.0 are the same number; the order of
  // members does not matter.
  std::shared_ptr<const manifest::Json> any_of;
  // '*' and '?' inside one argv word or string value; neither matches '/'. '?' is one Unicode
  // character.
  std::optional<std::string> glob;
};

struct ArgvPredicate {
  std::size_t index = 0;
  Match match;
};
struct InputPredicate {
  std::string pointer;  // RFC 6901
  // An absent value: the predicate does not hold. A glob on a value that is no string cannot be
  // evaluated.
  Match match;
};

struct Rule {
  std::string name;
  std::string reason;
  bool allow = false;
  // Equal as a whole. `workspace` is an absolute path; a trailing "/**" covers what lies below.
  // `manifest_entry` is the hexadecimal digest of the manifest's entry: only with it does a rule
  // hold for one definition of a tool.
  std::optional<std::string> tool, manifest_entry, workspace, policy, side_effect, via;
  std::vector<ArgvPredicate> argv;  // over the manifest's own words, expanded
  std::optional<std::size_t> argv_length;
  std::vector<InputPredicate> input;
};

struct RuleTrace {
  std::string rule;
  bool matched = false;
  bool failed = false;  // the rule could not be evaluated, which denies
  std::string why;  // the predicate that differs or cannot be evaluated, or "all predicates hold"
};

class RuleSet {
 public:
  // Reads a rules file; its format is documented in approval/README.md. Unknown keys are errors,
  // and so is an allow rule without any predicate. Errors: kInvalidArgument "SOURCE:LINE:COLUMN:
  // rule `NAME`: field: what"; kResourceExhausted.
  static absl::StatusOr<RuleSet> Parse(std::string_view bytes, std::string_view source);
  // All rules of both; errors: kInvalidArgument when a name appears twice.
  absl::Status Merge(RuleSet other);

  // The decision for `ticket`, or nullopt when no rule matches. Any matching deny rule denies, then
  // any rule that cannot be evaluated fails (which denies), then any matching allow rule allows; of
  // several, the first by name is named. `trace` gets one row for each rule, in their order.
  std::optional<Decision> Decide(const Ticket& ticket,
                                 std::vector<RuleTrace>* trace = nullptr) const;
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;
};

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_RULES_H_
