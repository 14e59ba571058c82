// warder check: reads everything that a call here would read, and says what is wrong with it.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "approval/rules.h"
#include "manifest/catalog.h"
#include "manifest/expansion.h"
#include "manifest/input_schema.h"
#include "manifest/policy_file.h"
#include "sandbox/syscall_filter.h"
#include "supervisor/choose_approver.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"
#include "supervisor/resolve.h"

namespace warder::supervisor {
namespace {

// What a check found, each one line that names file, place and remedy.
struct Findings {
  std::vector<std::string> errors, warnings;
  std::size_t tools = 0, policies = 0, rules = 0;

  void Take(const absl::Status& status) {
    if (status.ok()) return;
    std::string text(status.message());
    // One file that several things use is one fault.
    if (errors.empty() || errors.back() != text) errors.push_back(std::move(text));
  }
};

void CheckCommand(const manifest::ToolSpec& tool, Findings* findings) {
  std::vector<std::string> names;
  for (const std::string& word : tool.command) {
    // Only the names matter here; loading the manifest has refused what cannot be expanded.
    manifest::Expand(word, [](std::string_view) { return std::string(); }, &names).IgnoreError();
    if (word.find("{{") != std::string::npos) {
      findings->warnings.push_back(absl::StrFormat(
          "%s: tool `%s`: command: `{{` is not filled in; the input arrives on stdin as JSON",
          tool.source, tool.name));
    }
  }
  for (const std::string& name : names) {
    findings->warnings.push_back(absl::StrFormat(
        "%s: tool `%s`: command: ${%s} is put into argv, where every process of the host's user "
        "can read it; put it into `env` if it is a secret",
        tool.source, tool.name, name));
  }
}

void CheckTool(const manifest::Config& config, const manifest::Workspace& workspace,
               const manifest::ToolSpec& tool, Findings* findings) {
  CheckCommand(tool, findings);
  for (const std::string& place : tool.input_schema->Unenforced()) {
    findings->warnings.push_back(absl::StrFormat("%s: tool `%s`: input_schema: %s is not enforced",
                                                 tool.source, tool.name, place));
  }
  const manifest::BindingQuery query{tool.name, workspace.path, "cli call", tool.side_effect};
  findings->Take(ChoosePolicy(config, std::nullopt, query).status());
}

void CheckTools(const Places& places, Findings* findings) {
  // The workspace's own file first: a fault there must not hide one in the global file.
  const auto own = manifest::LoadCatalog(places.workspace, "");
  findings->Take(own.status());
  const auto catalog = LoadTools(places.config, places.workspace);
  findings->Take(catalog.status());
  if (!catalog.ok()) return;
  for (const manifest::ToolSpec& tool : catalog->tools) {
    CheckTool(places.config, places.workspace, tool, findings);
  }
  for (const manifest::ShadowedTool& tool : catalog->shadowed) {
    findings->warnings.push_back(
        absl::StrFormat("%s: tool `%s`: is not used; the workspace's entry in %s comes first",
                        tool.source, tool.name, tool.shadowed_by));
  }
  findings->tools = catalog->tools.size();
}

// Returns the names of those that there are, also of broken ones.
std::vector<std::string> CheckPolicies(const manifest::Config& config, Findings* findings) {
  const auto names = manifest::ListPolicies(config);
  findings->Take(names.status());
  if (!names.ok()) return {};
  for (const std::string& name : *names) {
    const auto policy = manifest::LoadPolicy(config, name);
    findings->Take(policy.status());
    if (!policy.ok()) continue;
    const auto filter = sandbox::CompileSyscallFilter(policy->confinement.syscalls);
    if (!filter.ok()) {
      findings->errors.push_back(
          absl::StrFormat("%s: syscalls: %s", policy->source, filter.status().message()));
    }
    ++findings->policies;
  }
  return *names;
}

void CheckRules(const manifest::Config& config, const std::vector<std::string>& policies,
                Findings* findings) {
  const auto rules = LoadRules(config, std::nullopt);
  findings->Take(rules.status());
  if (!rules.ok()) return;
  findings->rules = rules->rules().size();
  for (const std::string& name : policies) findings->Take(LoadRules(config, name).status());
}

std::string Count(std::size_t count, const char* one, const char* many) {
  return absl::StrFormat("%d %s", count, count == 1 ? one : many);
}

}  // namespace

int RunCheck(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  Findings findings;
  CheckTools(*places, &findings);
  findings.Take(manifest::LoadBindings(places->config).status());
  CheckRules(places->config, CheckPolicies(places->config, &findings), &findings);

  const int code = findings.errors.empty() ? kExitOk : kExitProblems;
  if (options.json) {
    return PrintJson(manifest::Json{{"workspace", places->workspace.path},
                                    {"errors", findings.errors},
                                    {"warnings", findings.warnings},
                                    {"tools", findings.tools},
                                    {"policies", findings.policies},
                                    {"operator_rules", findings.rules}},
                     code);
  }
  std::string text;
  for (const std::string& error : findings.errors) text += SafeLine("error: " + error) + "\n";
  for (const std::string& warning : findings.warnings) {
    text += SafeLine("warning: " + warning) + "\n";
  }
  text += absl::StrFormat(
      "%s: %s, %s in %s, %s and %s of the operator\n", SafeLine(places->workspace.path),
      Count(findings.errors.size(), "error", "errors"),
      Count(findings.warnings.size(), "warning", "warnings"),
      Count(findings.tools, "tool", "tools"), Count(findings.policies, "policy", "policies"),
      Count(findings.rules, "rule", "rules"));
  return Print(text, code);
}

}  // namespace warder::supervisor
