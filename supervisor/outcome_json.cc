#include <string.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/strings/escaping.h"
#include "manifest/digest.h"
#include "supervisor/capture.h"
#include "supervisor/console.h"
#include "supervisor/denials.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {
namespace {

using manifest::Json;

constexpr int kSchema = 1;

// Text that every JSON reader takes: UTF-8 without NUL.
bool IsText(const std::string& bytes) {
  if (bytes.find('\0') != std::string::npos) return false;
  try {
    static_cast<void>(Json(bytes).dump());
    return true;
  } catch (const Json::type_error&) {  // invalid UTF-8
    return false;
  }
}

// A stream that was cut carries both parts joined, and where the cut is. Text loses the pieces of a
// character that the cut split; base64 is exact.
Json StreamJson(const Captured& stream) {
  std::string_view head = stream.head;
  std::string_view tail = stream.tail;
  if (stream.truncated()) TrimToCharacters(head, tail);
  std::string kept = std::string(head).append(tail);
  Json json;
  if (IsText(kept)) {
    json["text"] = kept;
  } else {
    head = stream.head;
    kept = stream.head + stream.tail;
    std::string encoded;
    absl::Base64Escape(kept, &encoded);
    json["base64"] = encoded;
  }
  json["total_bytes"] = stream.total_bytes;
  json["truncated"] = stream.truncated();
  json["dropped_bytes"] = stream.total_bytes - kept.size();
  if (stream.truncated()) json["cut_at"] = head.size();
  return json;
}

// The members that only some endings have.
void AddEnding(Json& json, const Ending& ending) {
  json["ending"] = EndingName(ending);
  if (const auto* exited = std::get_if<Exited>(&ending)) {
    json["code"] = exited->code;
  } else if (const auto* signaled = std::get_if<Signaled>(&ending)) {
    json["signal"] = {{"number", signaled->signal}, {"name", SignalName(signaled->signal)}};
  } else if (const auto* timed_out = std::get_if<TimedOut>(&ending)) {
    json["limit_ms"] = timed_out->limit_ms;
  } else if (const auto* failure = std::get_if<CouldNotStart>(&ending)) {
    json["step"] = SafeText(failure->step);
    if (failure->error != 0) {
      const char* name = strerrorname_np(failure->error);
      json["errno"] = {{"number", failure->error}, {"name", name != nullptr ? name : "unknown"}};
    }
    json["detail"] = SafeText(failure->detail);
  } else if (const auto* refused = std::get_if<Refused>(&ending)) {
    json["refusal"] = {{"code", approval::RefusalCodeName(refused->code)},
                       {"reason", SafeText(refused->reason)}};
  }
}

// Null when nothing was started: an empty list of layers next to a tier would look like a claim.
Json AttestationJson(const sandbox::Attestation& attestation) {
  if (attestation.layers.empty()) return nullptr;
  Json layers = Json::array();
  for (const sandbox::Layer& layer : attestation.layers) {
    layers.push_back({{"name", SafeText(layer.name)},
                      {"required", layer.required},
                      {"state", sandbox::LayerStateName(layer.state)},
                      {"proof", SafeText(layer.proof)}});
  }
  return {{"tier", sandbox::TierName(attestation.tier)},
          {"policy", SafeText(attestation.policy)},
          {"layers", layers}};
}

// Null where nobody could have learned of any: an empty list would claim that there were none.
void AddDenials(Json& json, const Outcome& outcome) {
  const sandbox::DenialReport& report = outcome.denials;
  json["denials"] = nullptr;
  if (!report.watched && report.denials.empty()) return;
  Json denials = Json::array();
  for (const sandbox::Denial& denial : report.denials) {
    denials.push_back(DenialJson(denial, outcome.attestation.policy));
  }
  json["denials"] = std::move(denials);
  json["denials_unlisted"] = report.unlisted;
  json["denials_stopped"] = report.stopped;
}

// A path is bytes; the exact ones are there when the visible form is not the same.
void AddPath(Json& json, const std::string& path) {
  json["path"] = SafeLine(path);
  if (json["path"] == Json(path)) return;
  std::string encoded;
  absl::Base64Escape(path, &encoded);
  json["path_base64"] = encoded;
}

Json SensitiveJson(const std::optional<SensitiveChanges>& found) {
  if (!found) return nullptr;
  Json changes = Json::array();
  for (const SensitiveChange& change : found->changes) {
    Json json{{"kind", change.kind}};
    AddPath(json, change.path);
    json["sha256"] = change.sha256 ? Json(manifest::Hex(*change.sha256)) : Json(nullptr);
    json["action"] = change.removed            ? "removed"
                     : change.moved_to.empty() ? "reported"
                                               : "quarantined";
    if (!change.moved_to.empty()) json["moved_to"] = SafeLine(change.moved_to);
    if (!change.fault.empty()) json["fault"] = SafeText(change.fault);
    changes.push_back(std::move(json));
  }
  Json unseen = Json::array();
  for (const sandbox::WalkGap& gap : found->unseen) {
    Json json{{"reason", gap.why}};
    AddPath(json, gap.path);
    unseen.push_back(std::move(json));
  }
  return {{"changes", std::move(changes)},
          {"left_out", found->left_out},
          {"not_looked_at", std::move(unseen)},
          {"not_looked_at_count", found->unseen_count}};
}

}  // namespace

Json OutcomeJson(const Outcome& outcome) {
  Json json;
  json["schema"] = kSchema;
  json["tool"] = SafeText(outcome.tool);
  AddEnding(json, outcome.ending);
  json["exit_code"] = ExitCode(outcome.ending);
  json["text"] = OutcomeText(outcome);
  json["stdout"] = StreamJson(outcome.out);
  json["stderr"] = StreamJson(outcome.err);
  json["duration_ms"] = outcome.duration_ms;
  json["usage"] = {{"user_us", outcome.usage.user_us},
                   {"system_us", outcome.usage.system_us},
                   {"max_rss_kib", outcome.usage.max_rss_kib}};
  json["attestation"] = AttestationJson(outcome.attestation);
  AddDenials(json, outcome);
  json["sensitive_changes"] = SensitiveJson(outcome.sensitive);
  json["ticket_digest"] =
      outcome.ticket_digest.empty() ? Json(nullptr) : Json(outcome.ticket_digest);
  json["audit_sequence"] =
      outcome.audit_sequence == 0 ? Json(nullptr) : Json(outcome.audit_sequence);
  return json;
}

}  // namespace warder::supervisor
