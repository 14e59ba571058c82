#include "supervisor/policy_suggestion.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "supervisor/console.h"

namespace warder::supervisor {
namespace {

using manifest::Json;

// The text member `name` of an object; "" when there is none.
std::string Text(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_string()) return "";
  return object[name].get<std::string>();
}

// The rule that the record names, as the policy has it today. Records have places made visible.
const sandbox::SyscallRule* FindRule(const manifest::NamedPolicy& policy, const Json& denial) {
  if (!denial.contains("rule")) return nullptr;
  const std::string operation = Text(denial, "operation");
  const std::string place = Text(denial["rule"], "place");
  const std::string reason = Text(denial["rule"], "reason");
  const auto& rules = policy.confinement.syscalls.deny;
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const auto& rule) {
    return rule.name == operation && SafeLine(rule.place) == place &&
           SafeLine(rule.reason) == reason;
  });
  return found == rules.end() ? nullptr : &*found;
}

Advice AdviceOn(const sandbox::SyscallRule* rule) {
  if (rule == nullptr) return Advice::kUnknown;
  if (rule->action == sandbox::DenyAction::kKillProcess) return Advice::kKill;
  if (rule->boundary) return Advice::kBoundary;
  return rule->when.empty() ? Advice::kAllow : Advice::kConditions;
}

// Adds `call` to the entry of `entries` that lifts the same rule.
void AddCall(const sandbox::SyscallRule& rule, Json& entries) {
  const std::string reason = "Say why this is needed here. It is denied because: " + rule.reason;
  for (Json& entry : entries) {
    if (entry["reason"] != reason) continue;
    Json& calls = entry["calls"];
    if (std::find(calls.begin(), calls.end(), rule.name) == calls.end()) calls.push_back(rule.name);
    return;
  }
  entries.push_back({{"calls", {rule.name}}, {"reason", reason}});
}

}  // namespace

const char* AdviceName(Advice advice) {
  switch (advice) {
    case Advice::kAllow:
      return "allow";
    case Advice::kBoundary:
      return "boundary";
    case Advice::kKill:
      return "kill";
    case Advice::kConditions:
      return "conditions";
    case Advice::kUnknown:
      return "unknown";
  }
  return "invalid";
}

absl::StatusOr<std::string> PolicyOfOutcome(const Json& outcome) {
  std::string name;
  if (outcome.is_object()) {
    name = outcome.contains("attestation") ? Text(outcome["attestation"], "policy")
                                           : Text(outcome, "policy");
  }
  if (!name.empty()) return name;
  return absl::InvalidArgumentError(
      "this is no outcome of a call that was started: it names no policy");
}

absl::StatusOr<PolicySuggestion> SuggestPolicy(const Json& outcome,
                                               const manifest::NamedPolicy& policy) {
  if (!outcome.contains("denials") || !outcome["denials"].is_array()) {
    return absl::InvalidArgumentError(
        "the outcome has no record of denials: the kernel told nobody of them");
  }
  PolicySuggestion suggestion;
  suggestion.complete = true;
  Json entries = Json::array();
  for (const Json& denial : outcome["denials"]) {
    const sandbox::SyscallRule* rule = denial.is_object() ? FindRule(policy, denial) : nullptr;
    const Advice advice = AdviceOn(rule);
    suggestion.complete = suggestion.complete && advice == Advice::kAllow;
    if (advice == Advice::kAllow) AddCall(*rule, entries);
    suggestion.denials.push_back(
        {SafeLine(Text(denial, "operation")), SafeLine(Text(denial, "object")),
         rule == nullptr ? "" : rule->place, rule == nullptr ? "" : rule->reason, advice});
  }
  if (entries.empty()) return suggestion;
  Json& fragment = suggestion.fragment;
  fragment["schema"] = 1;
  fragment["extends"] = policy.name;
  fragment["description"] =
      absl::StrFormat("%s, and system calls that a call was denied.", policy.name);
  fragment["syscalls"]["allow"] = std::move(entries);
  return suggestion;
}

}  // namespace warder::supervisor
