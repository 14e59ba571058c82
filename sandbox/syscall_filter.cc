#include "sandbox/syscall_filter.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {
namespace {

constexpr unsigned kArguments = 6;

// One verdict on one call: the argument conditions by index, at most one for each argument.
struct FlatRule {
  int number = 0;
  std::map<unsigned, ArgMatch> when;
  std::uint32_t action = 0;
  const SyscallRule* source = nullptr;
};

bool SameCondition(const FlatRule& a, const FlatRule& b) {
  return std::equal(a.when.begin(), a.when.end(), b.when.begin(), b.when.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.mask == y.second.mask &&
                             x.second.value == y.second.value;
                    });
}

// Whether some arguments satisfy both rules.
bool Overlap(const FlatRule& a, const FlatRule& b) {
  return std::none_of(a.when.begin(), a.when.end(), [&b](const auto& entry) {
    const auto other = b.when.find(entry.first);
    if (other == b.when.end()) return false;
    const ArgMatch& x = entry.second;
    const ArgMatch& y = other->second;
    return ((x.value ^ y.value) & x.mask & y.mask) != 0;
  });
}

absl::Status Invalid(const SyscallRule& rule, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrFormat("system call `%s`: %s (reason given: %s)", rule.name, what, rule.reason));
}

// Joins all conditions on one argument into one, the only form that libseccomp takes.
absl::Status AddMatch(const SyscallRule& rule, const ArgMatch& match, FlatRule& flat) {
  if (match.index >= kArguments) {
    return Invalid(rule, absl::StrFormat("there is no argument %u: use 0 to 5", match.index));
  }
  if (match.mask == 0) {
    return Invalid(rule, absl::StrFormat("the mask of argument %u is 0", match.index));
  }
  if ((match.value & ~match.mask) != 0) {
    return Invalid(rule, absl::StrFormat("argument %u: value %#x lies outside mask %#x",
                                         match.index, match.value, match.mask));
  }
  const auto [place, fresh] = flat.when.emplace(match.index, match);
  if (fresh) return absl::OkStatus();
  ArgMatch& joined = place->second;
  if (((joined.value ^ match.value) & joined.mask & match.mask) != 0) {
    return Invalid(
        rule, absl::StrFormat("the conditions on argument %u exclude each other", match.index));
  }
  joined.mask |= match.mask;
  joined.value |= match.value;
  return absl::OkStatus();
}

// Checks one rule. The result is empty when the call does not exist on this architecture.
absl::StatusOr<std::optional<FlatRule>> Flatten(const SyscallRule& rule, std::uint32_t action) {
  FlatRule flat;
  flat.number = SyscallNumber(rule.name);
  flat.action = action;
  flat.source = &rule;
  if (flat.number == kUnknownSyscall) {
    return Invalid(rule, "libseccomp does not know this name: check the spelling");
  }
  for (const ArgMatch& match : rule.when) {
    if (absl::Status status = AddMatch(rule, match, flat); !status.ok()) return status;
  }
  if (flat.number < 0) return std::optional<FlatRule>();
  return std::optional<FlatRule>(std::move(flat));
}

absl::StatusOr<std::uint32_t> DenyActionOf(const SyscallRule& rule) {
  constexpr int kLargestErrno = 4095;  // MAX_ERRNO: above it the kernel clamps
  if (rule.action == DenyAction::kKillProcess) return std::uint32_t{SCMP_ACT_KILL_PROCESS};
  if (rule.error <= 0 || rule.error > kLargestErrno) {
    return Invalid(rule,
                   absl::StrFormat("errno %d is not between 1 and %d", rule.error, kLargestErrno));
  }
  return std::uint32_t{SCMP_ACT_ERRNO(static_cast<std::uint32_t>(rule.error))};
}

// The rules of one list by call number, without those that an equal or unconditional one makes
// needless.
using RulesByCall = std::map<int, std::vector<FlatRule>>;

// Adds `rule` to the rules of its call. Two rules that can meet must agree on what happens.
absl::Status AddRule(FlatRule rule, RulesByCall& rules) {
  std::vector<FlatRule>& of_call = rules[rule.number];
  for (const FlatRule& other : of_call) {
    if (other.action != rule.action && Overlap(other, rule)) {
      return Invalid(*rule.source,
                     "two deny rules that can both match differ in their action or errno");
    }
    if (other.when.empty() || SameCondition(other, rule)) return absl::OkStatus();
  }
  if (rule.when.empty()) of_call.clear();
  of_call.push_back(std::move(rule));
  return absl::OkStatus();
}

absl::StatusOr<RulesByCall> Collect(const std::vector<SyscallRule>& list, bool deny) {
  RulesByCall rules;
  for (const SyscallRule& rule : list) {
    std::uint32_t action = SCMP_ACT_ALLOW;
    if (deny) {
      absl::StatusOr<std::uint32_t> chosen = DenyActionOf(rule);
      if (!chosen.ok()) return chosen.status();
      action = *chosen;
    }
    absl::StatusOr<std::optional<FlatRule>> flat = Flatten(rule, action);
    if (!flat.ok()) return flat.status();
    std::optional<FlatRule>& of_this_machine = *flat;
    if (!of_this_machine.has_value()) continue;
    if (absl::Status status = AddRule(*std::move(of_this_machine), rules); !status.ok())
      return status;
  }
  return rules;
}

absl::Status CheckNoContradiction(const RulesByCall& allow, const RulesByCall& deny) {
  for (const auto& [number, rules] : allow) {
    const auto denied = deny.find(number);
    if (denied == deny.end()) continue;
    if (rules.front().when.empty() && denied->second.front().when.empty()) {
      return Invalid(*denied->second.front().source,
                     "it is both allowed and denied without a condition: remove one of the two");
    }
  }
  return absl::OkStatus();
}

struct CheckedRules {
  RulesByCall allow;
  RulesByCall deny;
};

absl::StatusOr<CheckedRules> Check(const SyscallPolicy& policy) {
  absl::StatusOr<RulesByCall> allow = Collect(policy.allow, /*deny=*/false);
  if (!allow.ok()) return allow.status();
  absl::StatusOr<RulesByCall> deny = Collect(policy.deny, /*deny=*/true);
  if (!deny.ok()) return deny.status();
  if (absl::Status status = CheckNoContradiction(*allow, *deny); !status.ok()) return status;
  return CheckedRules{*std::move(allow), *std::move(deny)};
}

// A call that is not allowed gets ENOSYS anyway.
void DropNeedlessDenials(CheckedRules& rules) {
  std::erase_if(rules.deny, [&](const auto& entry) {
    return !rules.allow.contains(entry.first) &&
           std::all_of(entry.second.begin(), entry.second.end(),
                       [](const FlatRule& rule) { return rule.action == SCMP_ACT_ERRNO(ENOSYS); });
  });
}

// Of libseccomp (seccomp_api_get(3)): up to SCMP_ACT_NOTIFY, kernel 5.0.
constexpr unsigned kApiLevel = 5;

absl::Status LibseccompError(const char* step, int result) {
  return absl::InternalError(
      absl::StrFormat("libseccomp: %s: %s", step, std::strerror(std::abs(result))));
}

absl::StatusOr<std::vector<sock_filter>> Export(scmp_filter_ctx context) {
  const UniqueFd file(::memfd_create("warder-filter", MFD_CLOEXEC));
  if (!file.ok()) return LibseccompError("memfd_create", errno);
  if (const int result = seccomp_export_bpf(context, file.get()); result != 0) {
    return LibseccompError("seccomp_export_bpf", result);
  }
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size <= 0 || size % static_cast<off_t>(sizeof(sock_filter)) != 0 ||
      size / static_cast<off_t>(sizeof(sock_filter)) > BPF_MAXINSNS) {
    return absl::InternalError(absl::StrFormat(
        "libseccomp: a program of %d bytes; the kernel takes %d instructions of %d bytes", size,
        BPF_MAXINSNS, sizeof(sock_filter)));
  }
  std::vector<sock_filter> program(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<std::size_t>(size), 0) != size) {
    return LibseccompError("reading the program back", errno);
  }
  return program;
}

bool Notifies(const FlatRule& rule) {
  return rule.action != SCMP_ACT_KILL_PROCESS && rule.action != SCMP_ACT_ERRNO(ENOSYS);
}

// Lets what the second program notifies of pass the first one, and keeps what a listener answers.
absl::Status MoveToListener(CheckedRules& rules, SyscallFilter& filter) {
  for (auto& [number, denied] : rules.deny) {
    for (FlatRule& rule : denied) {
      if (!Notifies(rule)) continue;
      FlatRule pass = rule;
      pass.action = SCMP_ACT_ALLOW;
      if (absl::Status status = AddRule(std::move(pass), rules.allow); !status.ok()) return status;
      filter.notifying[number].push_back(*rule.source);
      rule.action = SCMP_ACT_NOTIFY;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<sock_filter>> Compile(std::uint32_t default_action,
                                                 const RulesByCall& rules) {
  // Its own probes of the kernel would take a refusal, or a fault, for an old kernel. What the
  // kernel takes is seen when the filter is installed.
  seccomp_api_set(kApiLevel);
  const std::unique_ptr<void, decltype(&seccomp_release)> context(seccomp_init(default_action),
                                                                  &seccomp_release);
  if (context == nullptr) return LibseccompError("seccomp_init", ENOMEM);
  // The i386 and x32 tables number calls differently: a rule for a native number says nothing about
  // theirs.
  int result = seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (result != 0) return LibseccompError("SCMP_FLTATR_ACT_BADARCH", result);
  // 2 sorts the calls into a binary tree: a dozen comparisons for a call instead of three hundred.
  result = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (result != 0) return LibseccompError("SCMP_FLTATR_CTL_OPTIMIZE", result);
  // Highest number first: libseccomp walks its list from the lowest for every rule that it adds.
  for (auto entry = rules.rbegin(); entry != rules.rend(); ++entry) {
    for (const FlatRule& rule : entry->second) {
      std::vector<scmp_arg_cmp> when;
      for (const auto& [index, match] : rule.when) {
        when.push_back({index, SCMP_CMP_MASKED_EQ, match.mask, match.value});
      }
      result = seccomp_rule_add_exact_array(context.get(), rule.action, entry->first,
                                            static_cast<unsigned>(when.size()), when.data());
      if (result != 0) return LibseccompError(rule.source->name.c_str(), result);
    }
  }
  return Export(context.get());
}

}  // namespace

absl::StatusOr<SyscallFilter> CompileSyscallFilter(const SyscallPolicy& policy,
                                                   DenialAnswer answer) {
  absl::StatusOr<CheckedRules> rules = Check(policy);
  if (!rules.ok()) return rules.status();
  DropNeedlessDenials(*rules);
  SyscallFilter filter;
  filter.memory_is_prompt = !rules->allow.contains(SyscallNumber("userfaultfd"));
  if (answer == DenialAnswer::kNotify) {
    if (absl::Status moved = MoveToListener(*rules, filter); !moved.ok()) return moved;
  }
  absl::StatusOr<std::vector<sock_filter>> allow = Compile(SCMP_ACT_ERRNO(ENOSYS), rules->allow);
  if (!allow.ok()) return allow.status();
  absl::StatusOr<std::vector<sock_filter>> deny = Compile(SCMP_ACT_ALLOW, rules->deny);
  if (!deny.ok()) return deny.status();
  filter.allow = *std::move(allow);
  filter.deny = *std::move(deny);
  return filter;
}

bool ConditionsHold(const SyscallRule& rule, const seccomp_data& call) {
  return std::all_of(rule.when.begin(), rule.when.end(), [&](const ArgMatch& match) {
    return (call.args[match.index] & match.mask) == match.value;
  });
}

const SyscallRule* NotifyingRule(const SyscallFilter& filter, const seccomp_data& call) {
  const auto rules = filter.notifying.find(call.nr);
  if (rules == filter.notifying.end()) return nullptr;
  for (const SyscallRule& rule : rules->second) {
    if (ConditionsHold(rule, call)) return &rule;
  }
  return nullptr;
}

absl::Status CheckSyscallPolicy(const SyscallPolicy& policy) { return Check(policy).status(); }

int SyscallNumber(const std::string& name) {
  static_assert(kUnknownSyscall == __NR_SCMP_ERROR);
  return seccomp_syscall_resolve_name(name.c_str());
}

int SyscallNumber(const std::string& name, Abi abi) {
  if (abi == Abi::kNative) return SyscallNumber(name);
  return seccomp_syscall_resolve_name_arch(abi == Abi::kX32 ? SCMP_ARCH_X32 : SCMP_ARCH_X86,
                                           name.c_str());
}

std::string SyscallName(int number) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      number < 0 ? nullptr : seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number),
      &std::free);
  return name == nullptr ? "" : name.get();
}

}  // namespace warder::sandbox
