#include "sandbox/filter_answer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "absl/strings/str_format.h"
#include "sandbox/bpf_evaluator.h"

namespace warder::sandbox {
namespace {

// What `verdict` does to the caller of `call`; without a cause, which the bytes do not hold.
absl::StatusOr<FilterAnswer> FromBytes(const SyscallFilter& filter, const seccomp_data& call) {
  const absl::StatusOr<std::uint32_t> value = RunFilters({filter.allow, filter.deny}, call);
  if (!value.ok()) return value.status();
  FilterAnswer answer;
  switch (*value & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      answer.verdict = Verdict::kAllow;
      return answer;
    case SECCOMP_RET_KILL_PROCESS:
      answer.verdict = Verdict::kKill;
      return answer;
    case SECCOMP_RET_ERRNO:
      answer.verdict = Verdict::kErrno;
      answer.error = static_cast<int>(*value & SECCOMP_RET_DATA);
      return answer;
    case SECCOMP_RET_USER_NOTIF:
      answer.verdict = Verdict::kNotify;
      if (const SyscallRule* rule = NotifyingRule(filter, call); rule != nullptr) {
        answer.error = rule->error;
        return answer;
      }
      return absl::InternalError(
          absl::StrFormat("the filter asks the listener about call %d, which has no rule that says "
                          "what to answer",
                          call.nr));
    default:
      return absl::InternalError(
          absl::StrFormat("the filter answers call %d with %s", call.nr, VerdictText(*value)));
  }
}

// Without a listener the filter itself gives the errno that a listener would.
bool SameForTheCaller(const FilterAnswer& bytes, const FilterAnswer& rules) {
  const auto refuses = [](const FilterAnswer& answer) {
    return answer.verdict == Verdict::kErrno || answer.verdict == Verdict::kNotify;
  };
  if (refuses(bytes) && refuses(rules)) {
    const bool unrecorded = rules.verdict == Verdict::kErrno && bytes.verdict == Verdict::kNotify;
    return bytes.error == rules.error && !unrecorded;
  }
  return bytes.verdict == rules.verdict;
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAllow:
      return "allow";
    case Verdict::kErrno:
      return "errno";
    case Verdict::kNotify:
      return "notify";
    case Verdict::kKill:
      return "kill";
  }
  return "invalid";
}

std::string AnswerText(const FilterAnswer& answer) {
  if (answer.error == 0) return VerdictName(answer.verdict);
  const char* name = ::strerrorname_np(answer.error);
  return name == nullptr ? absl::StrFormat("%s %d", VerdictName(answer.verdict), answer.error)
                         : absl::StrFormat("%s %s", VerdictName(answer.verdict), name);
}

FilterAnswers::FilterAnswers(const SyscallPolicy& policy, const SyscallFilter& filter)
    : filter_(filter), allow_(ByNumber(policy.allow)), deny_(ByNumber(policy.deny)) {}

FilterAnswers::Rules FilterAnswers::ByNumber(const std::vector<SyscallRule>& rules) {
  Rules by_number;
  for (const SyscallRule& rule : rules) by_number[SyscallNumber(rule.name)].push_back(&rule);
  return by_number;
}

const SyscallRule* FilterAnswers::FirstMatch(const Rules& rules, const seccomp_data& call) {
  const auto of_call = rules.find(call.nr);
  if (call.nr < 0 || of_call == rules.end()) return nullptr;
  const auto found =
      std::find_if(of_call->second.begin(), of_call->second.end(),
                   [&](const SyscallRule* rule) { return ConditionsHold(*rule, call); });
  return found == of_call->second.end() ? nullptr : *found;
}

FilterAnswer FilterAnswers::FromRules(const seccomp_data& call) const {
  if (IsForeign(call)) return {Verdict::kKill, 0, Cause::kForeignAbi, nullptr};
  if (const SyscallRule* rule = FirstMatch(deny_, call); rule != nullptr) {
    if (rule->action == DenyAction::kKillProcess) {
      return {Verdict::kKill, 0, Cause::kDenyRule, rule};
    }
    const Verdict verdict = rule->error == ENOSYS ? Verdict::kErrno : Verdict::kNotify;
    return {verdict, rule->error, Cause::kDenyRule, rule};
  }
  if (const SyscallRule* rule = FirstMatch(allow_, call); rule != nullptr) {
    return {Verdict::kAllow, 0, Cause::kAllowRule, rule};
  }
  return {Verdict::kErrno, ENOSYS, Cause::kNoRule, nullptr};
}

absl::StatusOr<FilterAnswer> FilterAnswers::To(const seccomp_data& call) const {
  absl::StatusOr<FilterAnswer> answer = FromBytes(filter_, call);
  if (!answer.ok()) return answer;
  const FilterAnswer rules = FromRules(call);
  if (!SameForTheCaller(*answer, rules)) {
    return absl::InternalError(
        absl::StrFormat("call %d: the compiled filter answers `%s`, the policy's rules say `%s`: "
                        "this is a fault of "
                        "Warder or libseccomp, report it and do not rely on this policy",
                        call.nr, AnswerText(*answer), AnswerText(rules)));
  }
  answer->cause = rules.cause;
  answer->rule = rules.rule;
  return answer;
}

std::vector<unsigned> FilterAnswers::DecidingArguments(int number) const {
  std::set<unsigned> indices;
  for (const Rules* rules : {&allow_, &deny_}) {
    const auto of_call = rules->find(number);
    if (of_call == rules->end()) continue;
    for (const SyscallRule* rule : of_call->second) {
      for (const ArgMatch& match : rule->when) indices.insert(match.index);
    }
  }
  return {indices.begin(), indices.end()};
}

}  // namespace warder::sandbox
