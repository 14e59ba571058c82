// warder audit show and audit verify.
#include <unistd.h>

#include <deque>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "absl/strings/str_format.h"
#include "supervisor/audit_log.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"

namespace warder::supervisor {
namespace {

using manifest::Json;

// The member `name` as text; "" when it is absent.
std::string Member(const Json& record, const char* name) {
  const auto found = record.find(name);
  if (found == record.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : manifest::WriteJson(*found, true);
}

// Tools by ticket: only the first record of a ticket names its tool.
class Tools {
 public:
  // The tool that `record` is about.
  std::string Of(const Json& record) {
    const std::string ticket = Member(record, "ticket");
    std::string tool = Member(record, "tool");
    if (ticket.empty()) return tool;
    if (!tool.empty()) return tools_[ticket] = tool;
    const auto known = tools_.find(ticket);
    return known == tools_.end() ? "" : known->second;
  }

 private:
  std::unordered_map<std::string, std::string> tools_;
};

// The members `names` that are there, with spaces between them.
std::string Words(const Json& record, std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) {
    const std::string word = Member(record, name);
    if (!word.empty()) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// What happened, in a few words. Texts in the log are visible already.
std::string Summary(const Json& record) {
  const std::string event = Member(record, "event");
  if (event == "ask") {
    const std::string policy = record.contains("policy") ? Member(record["policy"], "name") : "";
    return absl::StrFormat("policy %s, argv %s", policy, Member(record, "argv"));
  }
  if (event == "decision") return Words(record, {"verdict", "approver", "reason"});
  if (event == "outcome") {
    const std::string duration = Member(record, "duration_ms");
    return Words(record, {"ending", "code", "signal", "step", "reason"}) + ", " + duration + " ms";
  }
  if (event == "repaired") return Member(record, "removed_bytes") + " bytes of a torn line removed";
  return Words(record, {"code", "reason"});
}

// "2026-01-31T12:00:00Z": the log has nanoseconds.
std::string Second(const std::string& time) {
  constexpr std::size_t kUntilSeconds = 19;
  if (time.size() <= kUntilSeconds) return time;
  std::string second(time, 0, kUntilSeconds);
  second.push_back('Z');
  return second;
}

// The records that the flags ask for, oldest first.
absl::StatusOr<std::deque<std::pair<std::string, Json>>> Select(const std::string& path,
                                                                const Options& options) {
  std::deque<std::pair<std::string, Json>> records;
  Tools tools;
  absl::Status read = ReadAudit(path, [&](const Json& record) {
    std::string tool = tools.Of(record);
    if (!options.tool.empty() && tool != options.tool) return;
    records.emplace_back(std::move(tool), record);
    if (options.last > 0 && records.size() > options.last) records.pop_front();
  });
  if (!read.ok()) return read;
  return records;
}

}  // namespace

int RunAuditShow(const Options& options) {
  const auto config = FindConfig(options);
  if (!config.ok()) return Fail(config.status());
  const auto records = Select(AuditPath(*config), options);
  if (!records.ok()) return Fail(records.status());
  if (options.json) {
    std::string lines;
    for (const auto& [tool, record] : *records) lines += manifest::WriteJson(record, true) + "\n";
    return Print(lines);
  }
  Table table({"SEQ", "TIME", "EVENT", "TOOL", "WHAT"});
  for (const auto& [tool, record] : *records) {
    table.Add({Member(record, "seq"), Second(Member(record, "time")), Member(record, "event"), tool,
               Summary(record)});
  }
  return Print(table.Render(TerminalColumns(STDOUT_FILENO)));
}

int RunAuditVerify(const Options& options) {
  const auto config = FindConfig(options);
  if (!config.ok()) return Fail(config.status());
  const std::string path = AuditPath(*config);
  const auto report = VerifyAudit(path);
  if (!report.ok()) return Fail(report.status());
  const int code = report->faults.empty() ? kExitOk : kExitProblems;
  if (options.json) {
    return PrintJson(Json{{"ok", report->faults.empty()},
                          {"path", path},
                          {"records", report->records},
                          {"last_hash", report->last_hash},
                          {"faults", report->faults},
                          {"unfinished", report->unfinished}},
                     code);
  }
  std::string text;
  for (const std::string& fault : report->faults) text += SafeLine("fault: " + fault) + "\n";
  for (const std::string& ticket : report->unfinished) {
    text += SafeLine("no outcome: " + ticket) + " (it runs now, or its supervisor died)\n";
  }
  text += absl::StrFormat("%s: %d records, %d faults, %d without an outcome\nlast hash: %s\n",
                          SafeLine(path), report->records, report->faults.size(),
                          report->unfinished.size(), report->last_hash);
  return Print(text, code);
}

}  // namespace warder::supervisor
