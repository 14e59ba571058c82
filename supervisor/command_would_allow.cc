// warder policy would-allow.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sandbox/filter_answer.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"
#include "supervisor/policy_store.h"
#include "supervisor/syscall_words.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using sandbox::Cause;
using sandbox::FilterAnswer;
using sandbox::SyscallRule;
using sandbox::Verdict;

// One question and its answer.
struct Asked {
  const Options& options;
  seccomp_data call;
  FilterAnswer answer;
  std::vector<unsigned> assumed;  // arguments that decide and were not given
};

std::string VerdictWords(const FilterAnswer& answer) {
  switch (answer.verdict) {
    case Verdict::kAllow:
      return "allowed; what the file view, Landlock and the kernel say to it comes after";
    case Verdict::kErrno:
      return absl::StrFormat("refused with %s, without a record", strerrorname_np(answer.error));
    case Verdict::kNotify:
      return absl::StrFormat("refused with %s, and recorded as a denial",
                             strerrorname_np(answer.error));
    case Verdict::kKill:
      break;
  }
  return "the process is killed (SIGSYS)";
}

std::string WithoutRule(Cause cause) {
  return cause == Cause::kForeignAbi
             ? "none: a call through another ABI kills, whatever its number"
             : "none matches: such a call is answered as on a kernel that lacks it";
}

std::vector<std::string> Conditions(const SyscallRule& rule) {
  std::vector<std::string> conditions;
  for (const sandbox::ArgMatch& match : rule.when) {
    conditions.push_back(
        absl::StrFormat("argument %u & %#x is %#x", match.index, match.mask, match.value));
  }
  return conditions;
}

Json ArgumentsJson(const Asked& asked) {
  Json arguments = Json::array();
  for (std::size_t i = 0; i < asked.options.arguments.size(); ++i) {
    arguments.push_back(absl::StrFormat("0x%x", asked.call.args[i]));
  }
  return arguments;
}

Json AnswerJson(const Asked& asked) {
  const FilterAnswer& answer = asked.answer;
  Json error, rule;
  if (answer.error != 0) {
    error = {{"number", answer.error}, {"name", strerrorname_np(answer.error)}};
  }
  if (answer.rule != nullptr) {
    rule = {{"effect", answer.cause == Cause::kAllowRule ? "allow" : "deny"},
            {"place", answer.rule->place},
            {"group", answer.rule->group.empty() ? Json() : Json(answer.rule->group)},
            {"conditions", Conditions(*answer.rule)},
            {"reason", answer.rule->reason}};
  }
  return {{"policy", asked.options.policy.value_or(kDefaultPolicy)},
          {"abi", asked.options.abi},
          {"call", asked.options.name},
          {"number", asked.call.nr},
          {"arguments", ArgumentsJson(asked)},
          {"assumed_zero", asked.assumed},
          {"allowed", answer.verdict == Verdict::kAllow},
          {"verdict", sandbox::VerdictName(answer.verdict)},
          {"errno", std::move(error)},
          {"rule", std::move(rule)}};
}

std::string AnswerTable(const Asked& asked, int columns) {
  const SyscallRule* rule = asked.answer.rule;
  std::vector<std::string> arguments;
  for (const Json& argument : ArgumentsJson(asked)) arguments.push_back(argument);
  Table table(
      {"CALL", absl::StrFormat("%s(%s), number %#x of %s", asked.options.name,
                               absl::StrJoin(arguments, ", "), asked.call.nr, asked.options.abi)});
  table.Add({"POLICY", asked.options.policy.value_or(kDefaultPolicy)});
  table.Add({"VERDICT", VerdictWords(asked.answer)});
  if (rule == nullptr) {
    table.Add({"RULE", WithoutRule(asked.answer.cause)});
  } else {
    const char* effect = asked.answer.cause == Cause::kAllowRule ? "allow" : "deny";
    table.Add({"RULE", rule->place + ": " + effect});
    if (!rule->when.empty()) table.Add({"IF", absl::StrJoin(Conditions(*rule), ", ")});
    if (!rule->group.empty()) table.Add({"GROUP", rule->group});
    table.Add({"REASON", rule->reason});
  }
  if (!asked.assumed.empty()) {
    table.Add(
        {"NOTE", "not given, decides, taken as 0: argument " + absl::StrJoin(asked.assumed, ", ")});
  }
  return table.Render(columns);
}

}  // namespace

int RunPolicyWouldAllow(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  const auto abi = ParseAbi(options.abi);
  if (!abi.ok()) return Fail(abi.status(), kExitUsage);
  const auto call = ParseCall(*abi, options.name, options.arguments);
  if (!call.ok()) return Fail(call.status(), kExitUsage);
  PolicyStore policies(places->config);
  const auto policy = policies.Get(options.policy.value_or(kDefaultPolicy));
  if (!policy.ok()) return Fail(policy.status());
  const sandbox::FilterAnswers answers((*policy)->policy.confinement.syscalls, (*policy)->filter);
  const auto answer = answers.To(*call);
  if (!answer.ok()) return Fail(answer.status());
  Asked asked = {options, *call, *answer, {}};
  if (*abi == sandbox::Abi::kNative) asked.assumed = answers.DecidingArguments(call->nr);
  std::erase_if(asked.assumed, [&](unsigned index) { return index < options.arguments.size(); });
  const int code = answer->verdict == Verdict::kAllow ? kExitOk : kExitProblems;
  if (options.json) return PrintJson(AnswerJson(asked), code);
  return Print(AnswerTable(asked, TerminalColumns(STDOUT_FILENO)), code);
}

}  // namespace warder::supervisor
