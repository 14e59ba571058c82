#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/json_reader.h"
#include "manifest/policy_file.h"
#include "manifest/policy_fragment.h"

namespace warder::manifest {
namespace {

constexpr std::string_view kBelow = "/**";

bool EndsInBelow(const std::string& workspace) {
  return workspace.size() >= kBelow.size() &&
         workspace.compare(workspace.size() - kBelow.size(), kBelow.size(), kBelow) == 0;
}

bool MatchesWorkspace(const std::string& pattern, const std::string& workspace) {
  if (!EndsInBelow(pattern)) return pattern == workspace;
  const std::string prefix = pattern.substr(0, pattern.size() - 2);  // keeps the slash
  return workspace.size() > prefix.size() && workspace.compare(0, prefix.size(), prefix) == 0;
}

bool Matches(const Binding& binding, const BindingQuery& query) {
  return (!binding.tool.has_value() || *binding.tool == query.tool) &&
         (!binding.workspace.has_value() ||
          MatchesWorkspace(*binding.workspace, query.workspace)) &&
         (!binding.caller.has_value() || *binding.caller == query.caller) &&
         (!binding.side_effect.has_value() || *binding.side_effect == query.side_effect);
}

// Compared from left to right: how many fields, which ones, how long a workspace.
std::array<std::size_t, 6> Specificity(const Binding& binding) {
  const std::size_t tool = binding.tool.has_value() ? 1 : 0;
  const std::size_t workspace = binding.workspace.has_value() ? 1 : 0;
  const std::size_t caller = binding.caller.has_value() ? 1 : 0;
  const std::size_t side_effect = binding.side_effect.has_value() ? 1 : 0;
  return {tool + workspace + caller + side_effect, tool, workspace, caller, side_effect,
          binding.workspace.value_or("").size()};
}

void ReadBinding(JsonObjectReader& reader, std::vector<Binding>& bindings) {
  Binding binding;
  binding.tool = reader.OptionalString("tool");
  binding.workspace = reader.OptionalString("workspace");
  if (binding.workspace.has_value()) {
    const std::string path =
        EndsInBelow(*binding.workspace)
            ? binding.workspace->substr(0, binding.workspace->size() - kBelow.size())
            : *binding.workspace;
    const std::string fault = path.empty() ? "" : PathFault(path, /*absolute=*/true);
    if (!fault.empty() || binding.workspace->empty()) {
      reader.Fail("workspace", "must be an absolute path; `/**` at its end covers what lies below");
    }
  }
  binding.caller = reader.OptionalString("caller");
  if (const auto effect = reader.OptionalChoice("side_effect", {"process", "external"})) {
    binding.side_effect = *effect == 1 ? SideEffect::kExternal : SideEffect::kProcess;
  }
  binding.policy = reader.String("policy");
  binding.reason = ReadReason(reader);
  bindings.push_back(std::move(binding));
}

absl::StatusOr<TrustedFile> ReadBindingsFile(const Config& config) {
  absl::StatusOr<TrustedFile> file = ReadTrustedFile(config, config.config_dir + "/bindings.json");
  if (!absl::IsNotFound(file.status())) return file;
  return ReadTrustedFile(config, config.share_dir + "/policies/bindings.json");
}

}  // namespace

absl::StatusOr<std::vector<Binding>> LoadBindings(const Config& config) {
  const absl::StatusOr<TrustedFile> file = ReadBindingsFile(config);
  if (!file.ok()) return file.status();
  JsonPositions positions;
  const absl::StatusOr<Json> json = ParseStrictJson(file->bytes, file->path, {}, &positions);
  if (!json.ok()) return json.status();
  JsonObjectReader reader(*json, positions, file->path);
  std::vector<Binding> bindings;
  reader.Integer("schema", 1, 1);
  if (!reader.Has("bindings")) reader.Fail("bindings", "is missing, and required");
  reader.EachObject("bindings", [&](JsonObjectReader& entry) { ReadBinding(entry, bindings); });
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return bindings;
}

absl::StatusOr<Binding> SelectBinding(const std::vector<Binding>& bindings,
                                      const BindingQuery& query) {
  const Binding* best = nullptr;
  const Binding* rival = nullptr;  // as specific as `best`, and names another policy
  for (const Binding& binding : bindings) {
    if (!Matches(binding, query)) continue;
    if (best == nullptr || Specificity(binding) > Specificity(*best)) {
      best = &binding;
      rival = nullptr;
    } else if (Specificity(binding) == Specificity(*best) && binding.policy != best->policy) {
      rival = &binding;
    }
  }
  const std::string call =
      absl::StrFormat("tool `%s` called by `%s` in %s (side_effect %s)", query.tool, query.caller,
                      query.workspace, SideEffectName(query.side_effect));
  if (best == nullptr) {
    return absl::NotFoundError(absl::StrFormat(
        "bindings.json: no binding matches %s: add one that names its policy", call));
  }
  if (rival != nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "bindings.json: policies `%s` and `%s` match equally well for %s: make one more specific",
        best->policy, rival->policy, call));
  }
  return *best;
}

}  // namespace warder::manifest
