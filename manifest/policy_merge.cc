#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/policy_fragment.h"
#include "sandbox/syscall_filter.h"

namespace warder::manifest {
namespace {

template <typename T>
void Override(std::optional<T>& base, std::optional<T>& extending) {
  if (extending.has_value()) base = std::move(extending);
}

// Appends the elements of `extending`; one with the same `key` as an element of `base` takes its
// place.
template <typename T, typename Key>
void MergeList(std::vector<T>& base, std::vector<T>& extending, Key key) {
  for (T& element : extending) {
    const auto same = std::find_if(base.begin(), base.end(),
                                   [&](const T& other) { return key(other) == key(element); });
    if (same == base.end()) {
      base.push_back(std::move(element));
    } else {
      *same = std::move(element);
    }
  }
}

void MergeNames(std::vector<std::string>& base, std::vector<std::string>& extending) {
  MergeList(base, extending, [](const std::string& name) { return name; });
}

absl::Status TightenLimits(const std::string& source, const sandbox::Limits& extending,
                           sandbox::Limits& base) {
  for (const LimitField& field : LimitFields()) {
    const std::optional<std::uint64_t>& wanted = extending.*field.member;
    std::optional<std::uint64_t>& limit = base.*field.member;
    if (!wanted.has_value()) continue;
    if (limit.has_value() && *wanted > *limit) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: limits.%s: %d is above the %d of the policy that this one extends: "
                          "limits only tighten, so choose a "
                          "smaller value or extend another policy",
                          source, field.key, *wanted, *limit));
    }
    limit = wanted;
  }
  return absl::OkStatus();
}

bool NamesCall(const std::vector<sandbox::SyscallRule>& rules, const std::string& name,
               bool unconditional_only) {
  return std::any_of(rules.begin(), rules.end(), [&](const sandbox::SyscallRule& rule) {
    return rule.name == name && (!unconditional_only || rule.when.empty());
  });
}

void MergeSyscalls(sandbox::SyscallPolicy& base, sandbox::SyscallPolicy& extending) {
  std::erase_if(base.allow, [&](const sandbox::SyscallRule& rule) {
    return NamesCall(extending.deny, rule.name, /*unconditional_only=*/true);
  });
  std::erase_if(base.deny, [&](const sandbox::SyscallRule& rule) {
    // Inherited conditions stay in force: allowing ioctl again must not allow TIOCSTI.
    return NamesCall(extending.deny, rule.name, /*unconditional_only=*/true) ||
           (rule.when.empty() && NamesCall(extending.allow, rule.name, false));
  });
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(base.allow, extending.allow);
  append(base.deny, extending.deny);
}

void MergeApproval(PolicyFragment& base, PolicyFragment& extending) {
  if (extending.approver.has_value()) {
    base.approver = std::move(extending.approver);
    base.approver_program = std::move(extending.approver_program);
  }
  Override(base.ask_timeout_ms, extending.ask_timeout_ms);
  Override(base.use_by_ms, extending.use_by_ms);
  Override(base.session_grants, extending.session_grants);
}

}  // namespace

absl::StatusOr<PolicyFragment> ExtendPolicy(PolicyFragment base, PolicyFragment extending) {
  absl::Status tightened = TightenLimits(extending.source, extending.limits, base.limits);
  if (!tightened.ok()) return tightened;
  base.source = std::move(extending.source);
  base.description = std::move(extending.description);
  base.abstract = extending.abstract;
  base.extends = std::move(extending.extends);

  const auto path = [](const auto& entry) { return entry.path; };
  MergeList(base.grants, extending.grants, path);
  MergeList(base.hide, extending.hide, path);
  MergeList(base.protect, extending.protect, path);
  Override(base.workspace, extending.workspace);
  Override(base.network, extending.network);
  MergeSyscalls(base.syscalls, extending.syscalls);
  MergeNames(base.capabilities, extending.capabilities);
  Override(base.minimum_tier, extending.minimum_tier);
  Override(base.without_cgroup, extending.without_cgroup);
  Override(base.without_landlock, extending.without_landlock);

  Override(base.inherit_all, extending.inherit_all);
  MergeNames(base.baseline, extending.baseline);
  MergeList(base.fixed, extending.fixed, [](const auto& variable) { return variable.first; });
  Override(base.readable, extending.readable);
  MergeNames(base.loader_names, extending.loader_names);
  Override(base.trusted_path_only, extending.trusted_path_only);
  MergeApproval(base, extending);
  return base;
}

absl::StatusOr<NamedPolicy> FinishPolicy(PolicyFragment fragment) {
  if (const absl::Status status = sandbox::CheckSyscallPolicy(fragment.syscalls); !status.ok()) {
    return absl::Status(status.code(), absl::StrFormat("%s: syscalls: %s", fragment.source,
                                                       std::string(status.message())));
  }
  NamedPolicy policy;
  policy.description = std::move(fragment.description);
  policy.abstract = fragment.abstract;

  sandbox::Policy& cell = policy.confinement;
  cell.minimum_tier = fragment.minimum_tier.value_or(cell.minimum_tier);
  cell.filesystem.grants = std::move(fragment.grants);
  cell.filesystem.hide = std::move(fragment.hide);
  cell.filesystem.workspace = fragment.workspace.value_or(cell.filesystem.workspace);
  cell.filesystem.protect = std::move(fragment.protect);
  cell.network = fragment.network.value_or(cell.network);
  cell.syscalls = std::move(fragment.syscalls);
  cell.capabilities = std::move(fragment.capabilities);
  cell.limits = fragment.limits;
  cell.without_cgroup = fragment.without_cgroup.value_or(cell.without_cgroup);
  cell.without_landlock = fragment.without_landlock.value_or(cell.without_landlock);

  EnvironmentPolicy& environment = policy.environment;
  environment.inherit_all = fragment.inherit_all.value_or(environment.inherit_all);
  environment.baseline = std::move(fragment.baseline);
  environment.fixed = std::move(fragment.fixed);
  environment.readable = std::move(fragment.readable);
  environment.loader_names = std::move(fragment.loader_names);
  environment.trusted_path_only =
      fragment.trusted_path_only.value_or(environment.trusted_path_only);

  ApprovalPolicy& approval = policy.approval;
  approval.approver = fragment.approver.value_or(approval.approver);
  approval.program = std::move(fragment.approver_program);
  approval.ask_timeout_ms = fragment.ask_timeout_ms.value_or(approval.ask_timeout_ms);
  approval.use_by_ms = fragment.use_by_ms.value_or(approval.use_by_ms);
  approval.session_grants = fragment.session_grants.value_or(approval.session_grants);
  return policy;
}

}  // namespace warder::manifest
