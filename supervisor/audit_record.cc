#include "supervisor/audit_record.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "approval/preview.h"
#include "manifest/digest.h"
#include "supervisor/denials.h"

namespace warder::supervisor {
namespace {

using approval::Ticket;
using manifest::Json;

// Of one text, before it is made visible: more than any sane path, word or reason.
constexpr std::size_t kTextBytes = 1024;
// Of one list, as written. The ticket's digest covers what is left out.
constexpr std::size_t kListBytes = 64u << 10;

std::string Text(std::string_view text) {
  if (text.size() <= kTextBytes) return approval::Visible(text);
  return absl::StrCat(approval::Visible(text.substr(0, kTextBytes)), "[", text.size() - kTextBytes,
                      " bytes more]");
}

// Adds `items` as an array, and how many were left out when they are too long together.
template <class Items, class ToJson>
void AddList(Json& record, const std::string& name, const Items& items, ToJson to_json) {
  Json list = Json::array();
  std::size_t bytes = 0;
  for (const auto& item : items) {
    Json value = to_json(item);
    bytes += manifest::WriteJson(value, /*ascii=*/true).size();
    if (bytes > kListBytes) break;
    list.push_back(std::move(value));
  }
  const std::size_t left_out = items.size() - list.size();
  record[name] = std::move(list);
  if (left_out > 0) record[name + "_left_out"] = left_out;
}

Json Event(const char* name) {
  Json record;
  record["event"] = name;
  return record;
}

Json TicketEvent(const char* name, const Ticket& ticket, const std::string& digest) {
  Json record = Event(name);
  record["ticket"] = TicketIdHex(ticket);
  record["digest"] = digest;
  return record;
}

Json TicketEvent(const char* name, const Ticket& ticket) {
  return TicketEvent(name, ticket, approval::TicketDigestHex(ticket));
}

// The path of a program that the manifest names with a variable would hold the variable's value.
Json FileJson(const approval::TicketFile& file, bool hide_program) {
  Json json;
  json["role"] = file.role;
  if (file.role != "program" || !hide_program) json["path"] = Text(file.path);
  json["device"] = file.device;
  json["inode"] = file.inode;
  json["bytes"] = file.size;
  json["copied"] = file.copied;
  json["sha256"] = manifest::Hex(file.digest);
  return json;
}

void AddRefusal(Json& record, const approval::Refusal& refusal) {
  record["code"] = approval::RefusalCodeName(refusal.code);
  record["reason"] = Text(refusal.reason);
}

void AddEnding(Json& record, const Ending& ending) {
  record["ending"] = EndingName(ending);
  if (const auto* exited = std::get_if<Exited>(&ending)) {
    record["code"] = exited->code;
  } else if (const auto* signaled = std::get_if<Signaled>(&ending)) {
    record["signal"] = SignalName(signaled->signal);
  } else if (const auto* timed_out = std::get_if<TimedOut>(&ending)) {
    record["limit_ms"] = timed_out->limit_ms;
  } else if (const auto* failure = std::get_if<CouldNotStart>(&ending)) {
    record["step"] = Text(failure->step);
    record["errno"] = failure->error;
    record["detail"] = Text(failure->detail);
  } else if (const auto* refused = std::get_if<Refused>(&ending)) {
    AddRefusal(record, *refused);
  }
}

Json StreamJson(const Captured& stream) {
  return {{"bytes", stream.total_bytes},
          {"kept", stream.head.size() + stream.tail.size()},
          {"kept_sha256", manifest::Hex(manifest::Digest(stream.head + stream.tail))}};
}

Json LayerJson(const sandbox::Layer& layer) {
  return {{"name", Text(layer.name)},
          {"required", layer.required},
          {"state", sandbox::LayerStateName(layer.state)}};
}

Json ChangeJson(const SensitiveChange& change) {
  Json json{{"kind", change.kind}, {"path", Text(change.path)}};
  if (change.sha256) json["sha256"] = manifest::Hex(*change.sha256);
  if (!change.moved_to.empty()) json["moved_to"] = Text(change.moved_to);
  if (!change.fault.empty()) json["fault"] = Text(change.fault);
  return json;
}

}  // namespace

std::string TicketIdHex(const Ticket& ticket) {
  return manifest::Hex({reinterpret_cast<const std::uint8_t*>(ticket.id.data()), ticket.id.size()});
}

Json AskRecord(const Ticket& ticket) {
  const auto text = [](const std::string& item) { return Json(Text(item)); };
  const auto file = [&](const approval::TicketFile& item) {
    return FileJson(item, !ticket.stored_argv.empty() &&
                              ticket.stored_argv.front().find("${") != std::string::npos);
  };
  Json record = TicketEvent("ask", ticket);
  record["requester"] = {{"uid", ticket.requester.uid},
                         {"gid", ticket.requester.gid},
                         {"pid", ticket.requester.pid},
                         {"via", Text(ticket.requester.via)}};
  record["workspace"] = {{"path", Text(ticket.workspace_path)},
                         {"device", ticket.workspace_device},
                         {"inode", ticket.workspace_inode}};
  record["tool"] = Text(ticket.tool);
  record["tool_source"] = Text(ticket.tool_source);
  record["side_effect"] = Text(ticket.side_effect);
  record["manifest_entry"] = manifest::Hex(ticket.manifest_entry);
  AddList(record, "argv", ticket.stored_argv, text);
  AddList(record, "files", ticket.files, file);
  record["cwd"] = {{"written", Text(ticket.stored_cwd)},
                   {"device", ticket.cwd_device},
                   {"inode", ticket.cwd_inode}};
  AddList(record, "environment", ticket.environment, [](const approval::TicketVariable& item) {
    return Json{{"name", Text(item.name)}, {"origin", Text(item.origin)}};
  });
  AddList(record, "variables_read", ticket.variables_read, text);
  record["input"] = {{"bytes", ticket.input.size()},
                     {"sha256", manifest::Hex(ticket.input_digest)}};
  record["policy"] = {{"name", Text(ticket.policy)},
                      {"source", Text(ticket.policy_source)},
                      {"sha256", manifest::Hex(ticket.policy_digest)}};
  record["timeout_ms"] = ticket.timeout_ms;
  return record;
}

Json DecisionRecord(const Ticket& ticket, const approval::Decision& decision) {
  Json record = TicketEvent("decision", ticket);
  record["verdict"] = approval::VerdictName(decision.verdict);
  record["approver"] = Text(decision.approver);
  record["reason"] = Text(decision.reason);
  record["answered_digest"] = Text(decision.ticket_digest);
  if (decision.failed) record["failure"] = approval::RefusalCodeName(decision.failure);
  return record;
}

Json UseRecord(const Ticket& ticket) { return TicketEvent("use", ticket); }

Json RefusalRecord(const Ticket& ticket, const approval::Refusal& refusal) {
  Json record = TicketEvent("refusal", ticket);
  AddRefusal(record, refusal);
  return record;
}

Json RejectedRecord(const std::string& tool, const std::string& workspace,
                    const approval::Refusal& refusal) {
  Json record = Event("rejected");
  record["tool"] = Text(tool);
  record["workspace"] = Text(workspace);
  AddRefusal(record, refusal);
  return record;
}

Json OutcomeRecord(const Ticket& ticket, const Outcome& outcome) {
  // Not computed from the ticket again: its input may have gone to the program.
  Json record = TicketEvent("outcome", ticket, outcome.ticket_digest);
  record["tool"] = Text(outcome.tool);
  AddEnding(record, outcome.ending);
  record["duration_ms"] = outcome.duration_ms;
  record["stdout"] = StreamJson(outcome.out);
  record["stderr"] = StreamJson(outcome.err);
  record["usage"] = {{"user_us", outcome.usage.user_us},
                     {"system_us", outcome.usage.system_us},
                     {"max_rss_kib", outcome.usage.max_rss_kib}};
  if (outcome.denials.watched || !outcome.denials.denials.empty()) {
    AddList(record, "denials", outcome.denials.denials, [&](const sandbox::Denial& denial) {
      Json json = DenialJson(denial, outcome.attestation.policy);
      json["object"] = Text(denial.object);
      return json;
    });
    record["denials_unlisted"] = outcome.denials.unlisted;
    record["denials_stopped"] = outcome.denials.stopped;
  }
  if (!outcome.attestation.layers.empty()) {
    record["policy"] = Text(outcome.attestation.policy);
    record["tier"] = sandbox::TierName(outcome.attestation.tier);
    AddList(record, "layers", outcome.attestation.layers, LayerJson);
  }
  if (outcome.sensitive) {
    AddList(record, "sensitive_changes", outcome.sensitive->changes, ChangeJson);
    if (outcome.sensitive->left_out > 0) {
      record["sensitive_changes_not_kept"] = outcome.sensitive->left_out;
    }
    record["not_looked_at"] = outcome.sensitive->unseen_count;
  }
  return record;
}

Json RepairedRecord(std::string_view removed) {
  Json record = Event("repaired");
  record["removed_bytes"] = removed.size();
  record["removed_sha256"] = manifest::Hex(manifest::Digest(removed));
  return record;
}

}  // namespace warder::supervisor
