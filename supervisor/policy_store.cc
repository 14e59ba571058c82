#include "supervisor/policy_store.h"

#include "absl/strings/str_format.h"

namespace warder::supervisor {

absl::Status PolicyStore::LoadAll() {
  const auto names = manifest::ListPolicies(config_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    auto policy = manifest::LoadPolicy(config_, name);
    if (!policy.ok()) return policy.status();
    loaded_.emplace(name, std::move(*policy));
  }
  sealed_ = true;
  return absl::OkStatus();
}

absl::StatusOr<manifest::NamedPolicy> PolicyStore::Load(const std::string& name) {
  if (const auto known = loaded_.find(name); known != loaded_.end()) return known->second;
  if (sealed_) {
    return absl::NotFoundError(
        absl::StrFormat("policy `%s`: was not there when the launcher started", name));
  }
  return manifest::LoadPolicy(config_, name);
}

absl::StatusOr<std::shared_ptr<const CompiledPolicy>> PolicyStore::Get(const std::string& name) {
  if (const auto known = compiled_.find(name); known != compiled_.end()) return known->second;
  auto policy = Load(name);
  if (!policy.ok()) return policy.status();
  if (policy->abstract) {
    return absl::InvalidArgumentError(
        absl::StrFormat("policy `%s` is only there to be extended", name));
  }
  auto filter = sandbox::CompileSyscallFilter(policy->confinement.syscalls, answer_);
  if (!filter.ok()) return filter.status();
  auto compiled = std::make_shared<const CompiledPolicy>(
      CompiledPolicy{std::move(*policy), std::move(*filter)});
  compiled_[name] = compiled;
  return compiled;
}

}  // namespace warder::supervisor
