#include "approval/rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "approval/rule_match.h"
#include "manifest/digest.h"

namespace warder::approval {
namespace {

using manifest::Json;

// Looks at one rule. All predicates are looked at, so that their order does not matter: one that
// differs outweighs one that cannot be evaluated. What it says names fields, never values.
class Evaluation {
 public:
  Evaluation(const Ticket& ticket, const absl::StatusOr<Json>& input)
      : ticket_(ticket), input_(input) {}

  RuleTrace Evaluate(const Rule& rule) && {
    Equal("tool", rule.tool, ticket_.tool);
    Equal("manifest_entry", rule.manifest_entry, manifest::Hex(ticket_.manifest_entry));
    Note("workspace", !rule.workspace || PathMatches(*rule.workspace, ticket_.workspace_path)
                          ? Verification::kHolds
                          : Verification::kDiffers);
    Equal("policy", rule.policy, ticket_.policy);
    Equal("side_effect", rule.side_effect, ticket_.side_effect);
    Equal("via", rule.via, ticket_.requester.via);
    if (rule.argv_length && *rule.argv_length != ticket_.shown_argv.size()) {
      Note("argv_length", Verification::kDiffers);
    }
    for (const ArgvPredicate& predicate : rule.argv) Argv(predicate);
    for (const InputPredicate& predicate : rule.input) Input(predicate);
    RuleTrace trace;
    trace.rule = rule.name;
    trace.matched = differs_.empty() && fails_.empty();
    trace.failed = differs_.empty() && !fails_.empty();
    trace.why = !differs_.empty() ? absl::StrCat(differs_, " differs")
                : !fails_.empty() ? absl::StrCat(fails_, " cannot be evaluated")
                                  : "all predicates hold";
    return trace;
  }

 private:
  void Note(const std::string& what, Verification result) {
    if (result == Verification::kDiffers && differs_.empty()) differs_ = what;
    if (result == Verification::kFails && fails_.empty()) fails_ = what;
  }
  void Equal(const char* what, const std::optional<std::string>& wanted, std::string_view found) {
    if (wanted && *wanted != found) Note(what, Verification::kDiffers);
  }
  void Argv(const ArgvPredicate& predicate) {
    const std::string what = absl::StrCat("argv[", predicate.index, "]");
    if (predicate.index >= ticket_.shown_argv.size()) return Note(what, Verification::kDiffers);
    Note(what, Compare(predicate.match, Json(ticket_.shown_argv[predicate.index])));
  }
  void Input(const InputPredicate& predicate) {
    const std::string what = absl::StrCat("input at \"", predicate.pointer, "\"");
    // A command line of the operator has no input: nothing is there to be compared.
    if (ticket_.input.empty()) return Note(what, Verification::kDiffers);
    if (!input_.ok()) return Note(what, Verification::kFails);
    const Json::json_pointer pointer(predicate.pointer);
    if (!input_->contains(pointer)) return Note(what, Verification::kDiffers);
    Note(what, Compare(predicate.match, input_->at(pointer)));
  }

  const Ticket& ticket_;
  const absl::StatusOr<Json>& input_;
  std::string differs_, fails_;
};

const Rule* FirstByName(const Rule* a, const Rule* b) {
  return a == nullptr || b->name < a->name ? b : a;
}

Decision Answer(const Rule& rule, const Ticket& ticket) {
  Decision decision;
  decision.approver = absl::StrCat("rule ", rule.name);
  decision.reason = rule.reason;
  decision.ticket_digest = TicketDigestHex(ticket);
  return decision;
}

}  // namespace

absl::Status RuleSet::Merge(RuleSet other) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules_) names.insert(rule.name);
  for (const Rule& rule : other.rules_) {
    if (!names.insert(rule.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("rule `", rule.name, "`: name: there is another rule of this name"));
    }
  }
  std::move(other.rules_.begin(), other.rules_.end(), std::back_inserter(rules_));
  return absl::OkStatus();
}

std::optional<Decision> RuleSet::Decide(const Ticket& ticket, std::vector<RuleTrace>* trace) const {
  const absl::StatusOr<Json> input = manifest::ParseStrictJson(ticket.input, "input");
  const Rule* deny = nullptr;
  const Rule* failed = nullptr;
  const Rule* allow = nullptr;
  std::string failure;
  for (const Rule& rule : rules_) {
    RuleTrace row = Evaluation(ticket, input).Evaluate(rule);
    if (row.matched) {
      const Rule*& slot = rule.allow ? allow : deny;
      slot = FirstByName(slot, &rule);
    } else if (row.failed && FirstByName(failed, &rule) == &rule) {
      failed = &rule;
      failure = row.why;
    }
    if (trace != nullptr) trace->push_back(std::move(row));
  }
  if (deny != nullptr) return Answer(*deny, ticket);
  if (failed != nullptr) {
    return FailedDecision(RefusalCode::kApproverError, absl::StrCat("rule ", failed->name),
                          failure);
  }
  if (allow == nullptr) return std::nullopt;
  Decision decision = Answer(*allow, ticket);
  decision.verdict = Verdict::kAllow;
  return decision;
}

}  // namespace warder::approval
