// warder policy list and policy show.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "manifest/digest.h"
#include "manifest/policy_file.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using manifest::NamedPolicy;
using Number = std::optional<std::uint64_t>;

Json LimitsJson(const sandbox::Limits& limits) {
  Json json = Json::object();
  const auto add = [&json](const char* name, const Number& value) {
    json[name] = value ? Json(*value) : Json();
  };
  add("wall_ms", limits.wall_ms);
  add("cpu_ms", limits.cpu_ms);
  add("memory_bytes", limits.memory_bytes);
  add("processes", limits.processes);
  add("open_files", limits.open_files);
  add("file_bytes", limits.file_bytes);
  add("disk_bytes", limits.disk_bytes);
  add("stdout_bytes", limits.stdout_bytes);
  add("stderr_bytes", limits.stderr_bytes);
  return json;
}

Json FilesystemJson(const sandbox::FilesystemPolicy& filesystem) {
  Json grants = Json::array();
  for (const sandbox::PathGrant& grant : filesystem.grants) {
    const bool write = grant.access == sandbox::PathAccess::kReadWrite;
    grants.push_back({{"path", grant.path},
                      {"access", write ? "read-write" : "read"},
                      {"optional", grant.optional},
                      {"reason", grant.reason}});
  }
  Json hide = Json::array();
  for (const sandbox::HiddenPath& path : filesystem.hide) {
    hide.push_back({{"path", path.path}, {"reason", path.reason}});
  }
  Json protect = Json::array();
  for (const sandbox::ProtectedPath& path : filesystem.protect) {
    protect.push_back({{"path", path.path}, {"reason", path.reason}});
  }
  return {{"workspace", sandbox::WorkspaceModeName(filesystem.workspace)},
          {"grants", std::move(grants)},
          {"hide", std::move(hide)},
          {"protect", std::move(protect)}};
}

Json RulesJson(const std::vector<sandbox::SyscallRule>& rules, bool deny) {
  Json json = Json::array();
  for (const sandbox::SyscallRule& rule : rules) {
    Json when = Json::array();
    for (const sandbox::ArgMatch& match : rule.when) {
      when.push_back({{"arg", match.index},
                      {"mask", absl::StrFormat("0x%x", match.mask)},
                      {"value", absl::StrFormat("0x%x", match.value)}});
    }
    Json row = {{"call", rule.name}, {"when", std::move(when)}};
    if (deny) {
      const bool kills = rule.action == sandbox::DenyAction::kKillProcess;
      row["action"] = kills ? Json("kill") : Json(rule.error);
    }
    row["reason"] = rule.reason;
    json.push_back(std::move(row));
  }
  return json;
}

Json EnvironmentJson(const manifest::EnvironmentPolicy& environment) {
  Json fixed = Json::array();  // names: a value may be a secret of the operator's
  for (const auto& [name, value] : environment.fixed) fixed.push_back(name);
  Json json = {{"inherit_all", environment.inherit_all},
               {"baseline", environment.baseline},
               {"fixed", std::move(fixed)}};
  json["readable"] = environment.readable ? Json(*environment.readable) : Json();
  json["loader_names"] = environment.loader_names;
  json["trusted_path_only"] = environment.trusted_path_only;
  return json;
}

Json PolicyJson(const NamedPolicy& policy) {
  const sandbox::Policy& cell = policy.confinement;
  const auto on_missing = [](sandbox::OnMissing action) {
    return action == sandbox::OnMissing::kRefuse ? "refuse" : "degrade";
  };
  return {{"name", policy.name},
          {"description", policy.description},
          {"abstract", policy.abstract},
          {"source", policy.source},
          {"digest", manifest::Hex(policy.digest)},
          {"minimum_tier", sandbox::TierName(cell.minimum_tier)},
          {"without_cgroup", on_missing(cell.without_cgroup)},
          {"without_landlock", on_missing(cell.without_landlock)},
          {"filesystem", FilesystemJson(cell.filesystem)},
          {"network", sandbox::NetworkModeName(cell.network)},
          {"capabilities", cell.capabilities},
          {"limits", LimitsJson(cell.limits)},
          {"environment", EnvironmentJson(policy.environment)},
          {"approval",
           {{"approver", policy.approval.approver},
            {"program", policy.approval.program},
            {"ask_timeout_ms", policy.approval.ask_timeout_ms},
            {"use_by_ms", policy.approval.use_by_ms},
            {"session_grants", policy.approval.session_grants}}},
          {"syscalls",
           {{"allow", RulesJson(cell.syscalls.allow, false)},
            {"deny", RulesJson(cell.syscalls.deny, true)}}}};
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "-" : text;
}

Table SummaryTable(const NamedPolicy& policy) {
  const sandbox::Policy& cell = policy.confinement;
  const manifest::EnvironmentPolicy& environment = policy.environment;
  Table table({"POLICY", policy.name});
  table.Add({"description", policy.description});
  table.Add({"file", policy.source});
  table.Add({"minimum tier", sandbox::TierName(cell.minimum_tier)});
  table.Add({"workspace", sandbox::WorkspaceModeName(cell.filesystem.workspace)});
  table.Add({"network", sandbox::NetworkModeName(cell.network)});
  table.Add({"capabilities", Join(cell.capabilities)});
  table.Add({"approver", policy.approval.approver});
  table.Add({"ask timeout", absl::StrFormat("%d ms", policy.approval.ask_timeout_ms)});
  table.Add({"inherits", environment.inherit_all ? "every variable" : Join(environment.baseline)});
  table.Add(
      {"manifest reads", environment.readable ? Join(*environment.readable) : "any variable"});
  return table;
}

std::string PathTable(const sandbox::FilesystemPolicy& filesystem, int columns) {
  Table table({"PATH", "ACCESS", "REASON"});
  for (const sandbox::PathGrant& grant : filesystem.grants) {
    const bool write = grant.access == sandbox::PathAccess::kReadWrite;
    table.Add({grant.path, write ? "read-write" : "read", grant.reason});
  }
  for (const sandbox::HiddenPath& path : filesystem.hide) {
    table.Add({path.path, "hidden", path.reason});
  }
  for (const sandbox::ProtectedPath& path : filesystem.protect) {
    table.Add({path.path, "protected", path.reason});
  }
  return table.Render(columns);
}

std::string LimitTable(const sandbox::Limits& limits, int columns) {
  Table table({"LIMIT", "VALUE"});
  const Json values = LimitsJson(limits);  // outlives the loop, which only refers to it
  for (const auto& [name, value] : values.items()) {
    table.Add({name, value.is_null() ? "none" : value.dump()});
  }
  return table.Render(columns);
}

// Calls with the same reason share a row: there are some four hundred of them.
std::string SyscallTable(const sandbox::SyscallPolicy& syscalls, int columns) {
  Table table({"EFFECT", "SYSTEM CALLS"});
  const auto add = [&table](const char* effect, const std::vector<sandbox::SyscallRule>& rules) {
    std::vector<std::pair<std::string, std::vector<std::string>>> rows;
    for (const sandbox::SyscallRule& rule : rules) {
      const std::string call = rule.name + (rule.when.empty() ? "" : "(...)");
      if (rows.empty() || rows.back().first != rule.reason) rows.push_back({rule.reason, {}});
      auto& calls = rows.back().second;
      if (calls.empty() || calls.back() != call) calls.push_back(call);
    }
    for (const auto& [reason, calls] : rows) {
      table.Add({effect, reason});
      table.Add({"", Join(calls)});
    }
  };
  add("allow", syscalls.allow);
  add("deny", syscalls.deny);
  return table.Render(columns);
}

}  // namespace

int RunPolicyList(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  const auto names = manifest::ListPolicies(places->config);
  if (!names.ok()) return Fail(names.status());
  Json json = Json::array();
  Table table({"POLICY", "WORKSPACE", "NETWORK", "APPROVER", "DESCRIPTION"});
  for (const std::string& name : *names) {
    const auto policy = manifest::LoadPolicy(places->config, name);
    if (!policy.ok()) return Fail(policy.status());
    const sandbox::Policy& cell = policy->confinement;
    table.Add({name, sandbox::WorkspaceModeName(cell.filesystem.workspace),
               sandbox::NetworkModeName(cell.network), policy->approval.approver,
               policy->description});
    json.push_back(
        {{"name", name}, {"description", policy->description}, {"source", policy->source}});
  }
  if (options.json) return PrintJson(Json{{"policies", std::move(json)}});
  return Print(table.Render(TerminalColumns(STDOUT_FILENO)));
}

int RunPolicyShow(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  const auto policy = manifest::LoadPolicy(places->config, options.name);
  if (!policy.ok()) return Fail(policy.status());
  if (options.json) return PrintJson(PolicyJson(*policy));
  const int columns = TerminalColumns(STDOUT_FILENO);
  const sandbox::Policy& cell = policy->confinement;
  return Print(SummaryTable(*policy).Render(columns) + "\n" + PathTable(cell.filesystem, columns) +
               "\n" + LimitTable(cell.limits, columns) + "\n" +
               SyscallTable(cell.syscalls, columns));
}

}  // namespace warder::supervisor
