// PolicySuggestion: the smallest policy that would have allowed what a call was denied, for the
// operator to read. Nothing is applied.
#ifndef WARDER_SUPERVISOR_POLICY_SUGGESTION_H_
#define WARDER_SUPERVISOR_POLICY_SUGGESTION_H_

#include <cstdint>
#include <nlohmann/json.hpp>  // a member, whole
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/json.h"
#include "manifest/policy_file.h"

namespace warder::supervisor {

// What a suggestion says of one denial.
enum class Advice : std::uint8_t {
  kAllow,       // the fragment allows the call
  kBoundary,    // part of the cell's wall: never suggested
  kKill,        // the policy kills for it: never suggested
  kConditions,  // the rule has conditions, and a policy that extends another cannot lift those
  kUnknown,     // the policy of today has no such rule
};
const char* AdviceName(Advice advice);

struct Advised {
  std::string operation, object, place, reason;  // as in the record; place and reason of the rule
  Advice advice = Advice::kUnknown;
};

struct PolicySuggestion {
  std::vector<Advised> denials;  // in the order of the record
  manifest::Json fragment;       // a policy file; null when no denial can be lifted
  bool complete = false;         // the fragment lifts every denial
};

// The name of the policy that the outcome, or the outcome's audit record, was made under.
// Errors: kInvalidArgument (not an outcome, or one of a call that started nothing).
absl::StatusOr<std::string> PolicyOfOutcome(const manifest::Json& outcome);

// `outcome` is what `--json` printed, or the audit log's record of it; `policy` is that policy as
// it is today. Only names of calls and places of rules are taken from the outcome, and only when
// `policy` has them. Errors: kInvalidArgument (`denials` is missing, or not as documented).
absl::StatusOr<PolicySuggestion> SuggestPolicy(const manifest::Json& outcome,
                                               const manifest::NamedPolicy& policy);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_POLICY_SUGGESTION_H_
