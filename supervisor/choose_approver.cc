#include "supervisor/choose_approver.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "approval/approvers.h"
#include "supervisor/approver_program.h"

namespace warder::supervisor {
namespace {

using approval::Approver;
using approval::RuleSet;

constexpr char kTerminal[] = "/dev/tty";
constexpr std::size_t kMostRuleFiles = 256;  // an operator's folder; more is a mistake
// Approver programs are read once to see whose they are; the largest interpreters are a fraction of
// this.
constexpr std::size_t kMostProgramBytes = 256u << 20;

absl::Status MergeFile(const manifest::Config& config, const std::string& path, RuleSet* rules) {
  const auto file = manifest::ReadTrustedFile(config, path);
  if (!file.ok()) return file.status();
  auto parsed = RuleSet::Parse(file->bytes, file->path);
  if (!parsed.ok()) return parsed.status();
  return rules->Merge(*std::move(parsed));
}

// Sorted, so that a message about two files does not depend on the file system. A folder that is
// not there has no rules.
absl::StatusOr<std::vector<std::string>> RuleFiles(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return files;
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".json") files.push_back(entries->path().string());
  }
  if (error) {
    return absl::PermissionDeniedError(
        absl::StrFormat("%s: cannot list the rules: %s", folder, error.message()));
  }
  if (files.size() > kMostRuleFiles) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%s: more than %d rules files; merge them", folder, kMostRuleFiles));
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::unique_ptr<Approver>> TerminalIfThereIsOne() {
  auto terminal = approval::MakeTerminalApprover(kTerminal);
  if (absl::IsUnavailable(terminal.status())) return nullptr;
  return terminal;
}

absl::StatusOr<std::unique_ptr<Approver>> TrustedProgram(const manifest::Config& config,
                                                         std::vector<std::string> argv) {
  if (argv.empty()) {
    return absl::InvalidArgumentError(
        "approver `program`: no program is named; use --approve program:/PATH or the policy's "
        "approval.program");
  }
  // A workspace must not bring its own approver, and nobody else may be able to swap it.
  const auto file = manifest::ReadTrustedFile(config, argv.front(), kMostProgramBytes);
  if (!file.ok()) return file.status();
  return MakeProgramApprover(std::move(argv));
}

absl::StatusOr<std::unique_ptr<Approver>> MakeNamed(const manifest::Config& config,
                                                    const manifest::NamedPolicy& policy,
                                                    const ApproveFlag& flag) {
  if (flag.who == "allow-all") return approval::MakeAllowAll();
  if (flag.who == "deny-all") return approval::MakeDenyAll();
  if (flag.who == "program") {
    return TrustedProgram(config, flag.argument.empty() ? policy.approval.program
                                                        : std::vector<std::string>{flag.argument});
  }
  if (flag.who == "ask" || flag.who == "rules") return TerminalIfThereIsOne();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: approval.approver: `%s` is not an approver", policy.source, flag.who));
}

}  // namespace

absl::StatusOr<ApproveFlag> ParseApproveFlag(std::string_view text) {
  const std::size_t colon = text.find(':');
  ApproveFlag flag{std::string(text.substr(0, colon)), ""};
  const bool has_argument = colon != std::string_view::npos;
  if (has_argument) flag.argument = text.substr(colon + 1);
  const bool plain = flag.who == "ask" || flag.who == "allow-all" || flag.who == "deny-all";
  if (plain && !has_argument) return flag;
  if (flag.who == "rules" && has_argument != flag.argument.empty()) return flag;
  if (flag.who == "program" && flag.argument.starts_with('/')) return flag;
  return absl::InvalidArgumentError(
      "must be ask, allow-all, deny-all, rules, rules:FILE or program:/ABSOLUTE/PATH");
}

absl::StatusOr<RuleSet> LoadRules(const manifest::Config& config,
                                  const std::optional<std::string>& shipped_policy) {
  RuleSet rules;
  if (shipped_policy) {
    const std::string path =
        absl::StrFormat("%s/policies/rules/%s.json", config.share_dir, *shipped_policy);
    absl::Status merged = MergeFile(config, path, &rules);
    if (!merged.ok() && !absl::IsNotFound(merged)) return merged;
  }
  const auto files = RuleFiles(config.config_dir + "/rules");
  if (!files.ok()) return files.status();
  for (const std::string& path : *files) {
    if (absl::Status merged = MergeFile(config, path, &rules); !merged.ok()) return merged;
  }
  return rules;
}

absl::StatusOr<std::unique_ptr<Approver>> ChooseApprover(const manifest::Config& config,
                                                         const manifest::NamedPolicy& policy,
                                                         const std::optional<ApproveFlag>& flag) {
  const ApproveFlag chosen = flag ? *flag : ApproveFlag{policy.approval.approver, ""};
  const bool by_rules = chosen.who == "rules";
  const bool by_file = by_rules && !chosen.argument.empty();
  auto rules = LoadRules(config, by_rules && !by_file ? std::optional(policy.name) : std::nullopt);
  if (!rules.ok()) return rules.status();
  if (by_file) {
    absl::Status merged = MergeFile(config, chosen.argument, &*rules);
    if (!merged.ok()) return merged;
  }
  auto named = MakeNamed(config, policy, chosen);
  if (!named.ok() || rules->rules().empty()) return named;
  return approval::MakeRuleApprover(*std::move(rules), *std::move(named));
}

}  // namespace warder::supervisor
