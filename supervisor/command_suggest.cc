// warder policy suggest.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "manifest/policy_file.h"
#include "supervisor/audit_log.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"
#include "supervisor/policy_suggestion.h"

namespace warder::supervisor {
namespace {

using manifest::Json;

// The log's record of an outcome: number `call`, or the last one.
absl::StatusOr<Json> FromLog(const std::string& path, std::optional<std::uint64_t> call) {
  std::optional<Json> chosen;
  absl::Status read = ReadAudit(path, [&](const Json& record) {
    if (!record.contains("event") || record["event"] != "outcome") return;
    if (!call || record["seq"] == *call) chosen = record;
  });
  if (!read.ok()) return read;
  if (chosen) return *std::move(chosen);
  if (!call) return absl::NotFoundError(absl::StrFormat("%s: holds no outcome yet", path));
  return absl::NotFoundError(
      absl::StrFormat("%s: record %d is no outcome; `warder audit show` lists them", path, *call));
}

absl::StatusOr<Json> ReadOutcome(const Options& options, const manifest::Config& config) {
  if (options.last > 0 || options.call) return FromLog(AuditPath(config), options.call);
  auto bytes = ReadUpTo(STDIN_FILENO, manifest::JsonLimits{}.bytes);
  if (!bytes.ok()) return bytes.status();
  return manifest::ParseStrictJson(*bytes, "standard input");
}

std::string Explain(const Advised& denial) {
  const std::string what =
      denial.operation + (denial.object.empty() ? "" : " (" + denial.object + ")");
  switch (denial.advice) {
    case Advice::kAllow:
      return absl::StrFormat("%s: would be allowed. It is denied at %s: %s", what, denial.place,
                             denial.reason);
    case Advice::kBoundary:
      return absl::StrFormat("%s: never suggested, for it is part of the cell's wall. %s: %s", what,
                             denial.place, denial.reason);
    case Advice::kKill:
      return absl::StrFormat("%s: never suggested, for the policy kills for it. %s: %s", what,
                             denial.place, denial.reason);
    case Advice::kConditions:
      return absl::StrFormat(
          "%s: the rule at %s has conditions, which a policy that extends this one cannot lift; "
          "write a policy without that rule. %s",
          what, denial.place, denial.reason);
    case Advice::kUnknown:
      break;
  }
  return absl::StrFormat("%s: the policy has no such rule today, or a kill was all that was seen",
                         what);
}

Json SuggestionJson(const PolicySuggestion& suggestion) {
  Json denials = Json::array();
  for (const Advised& denial : suggestion.denials) {
    denials.push_back({{"operation", denial.operation},
                       {"object", denial.object},
                       {"advice", AdviceName(denial.advice)},
                       {"place", denial.place},
                       {"reason", denial.reason}});
  }
  return {{"policy", suggestion.fragment}, {"denials", std::move(denials)}, {"applied", false}};
}

}  // namespace

int RunPolicySuggest(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  const auto outcome = ReadOutcome(options, places->config);
  if (!outcome.ok()) return Fail(outcome.status());
  const auto name = PolicyOfOutcome(*outcome);
  if (!name.ok()) return Fail(name.status());
  const auto policy = manifest::LoadPolicy(places->config, *name);
  if (!policy.ok()) return Fail(policy.status());
  const auto suggestion = SuggestPolicy(*outcome, *policy);
  if (!suggestion.ok()) return Fail(suggestion.status());
  const int code = suggestion->complete ? kExitOk : kExitProblems;
  if (options.json) return PrintJson(SuggestionJson(*suggestion), code);
  for (const Advised& denial : suggestion->denials) Complain(Explain(denial));
  if (suggestion->denials.empty()) Complain("the call was denied nothing");
  if (suggestion->fragment.is_null()) return code;
  Complain("nothing was applied: read this, give your reasons, and save it as a policy yourself");
  return Print(suggestion->fragment.dump(2, ' ', /*ensure_ascii=*/true) + "\n", code);
}

}  // namespace warder::supervisor
