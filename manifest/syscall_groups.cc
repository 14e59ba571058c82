#include "manifest/syscall_groups.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/host_path.h"
#include "manifest/policy_fragment.h"
#include "sandbox/syscall_filter.h"

namespace warder::manifest {
namespace {

using Alternatives = std::vector<std::vector<sandbox::ArgMatch>>;

constexpr std::size_t kMaxAlternatives =
    256;  // rules from one entry: a filter has 4096 instructions in all
constexpr std::int64_t kLastArgument = 5;
constexpr int kLastErrno = 133;  // EHWPOISON, the last one in <asm-generic/errno.h>

std::optional<std::uint64_t> AsNumber(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  if (text.size() < 3 || text.compare(0, 2, "0x") != 0) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, number, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

constexpr const char* kNumberForm =
    "must be a whole number or a hexadecimal string such as \"0x40\"";

std::uint64_t ReadNumber(JsonObjectReader& reader, const char* name) {
  const Json* value = reader.Value(name);
  if (value == nullptr) {
    reader.Fail(name, "is missing, and required");
    return 0;
  }
  const std::optional<std::uint64_t> number = AsNumber(*value);
  if (!number.has_value()) reader.Fail(name, kNumberForm);
  return number.value_or(0);
}

// The alternatives of {"arg", "mask", "values"}.
void ReadValues(JsonObjectReader& reader, unsigned index,
                std::vector<sandbox::ArgMatch>& alternatives) {
  const std::uint64_t mask = ReadNumber(reader, "mask");
  if (mask == 0) reader.Fail("mask", "is 0: it would hold for everything");
  const Json* values = reader.Value("values");
  if (values == nullptr || !values->is_array() || values->empty()) {
    reader.Fail("values", "must be a list of at least one number");
    return;
  }
  for (const Json& value : *values) {
    const std::optional<std::uint64_t> number = AsNumber(value);
    if (!number.has_value()) {
      reader.Fail("values", absl::StrFormat("each %s", kNumberForm));
      return;
    }
    if ((*number & ~mask) != 0) {
      reader.Fail("values", "holds a value with bits outside `mask`: it would never match");
    }
    alternatives.push_back({index, mask, *number});
  }
}

// The alternatives of {"arg", "any_bit"}: one for each bit.
void ReadBits(JsonObjectReader& reader, unsigned index,
              std::vector<sandbox::ArgMatch>& alternatives) {
  const std::uint64_t bits = ReadNumber(reader, "any_bit");
  if (bits == 0) reader.Fail("any_bit", "is 0: it would never match");
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t single = std::uint64_t{1} << bit;
    if ((bits & single) != 0) alternatives.push_back({index, single, single});
  }
}

Alternatives ReadWhen(JsonObjectReader& rule) {
  Alternatives all = {{}};
  rule.EachObject("when", [&](JsonObjectReader& reader) {
    const auto index = static_cast<unsigned>(reader.Integer("arg", 0, kLastArgument));
    std::vector<sandbox::ArgMatch> alternatives;
    if (reader.Has("any_bit")) {
      ReadBits(reader, index, alternatives);
    } else {
      ReadValues(reader, index, alternatives);
    }
    if (all.size() * alternatives.size() > kMaxAlternatives) {
      reader.Fail("", absl::StrFormat("more than %d combinations in one entry: split it",
                                      kMaxAlternatives));
      return;
    }
    Alternatives product;
    for (const std::vector<sandbox::ArgMatch>& before : all) {
      for (const sandbox::ArgMatch& match : alternatives) {
        product.push_back(before);
        product.back().push_back(match);
      }
    }
    all = std::move(product);
  });
  if (const Json* when = rule.Value("when"); when != nullptr && when->empty()) {
    rule.Fail("when", "is empty: leave it out for a rule without conditions");
  }
  return all;
}

std::optional<int> ErrnoByName(std::string_view name) {
  for (int error = 1; error <= kLastErrno; ++error) {
    const char* candidate = ::strerrorname_np(error);
    if (candidate != nullptr && name == candidate) return error;
  }
  return std::nullopt;
}

// Fills in action and errno of a deny rule.
void ReadAnswer(JsonObjectReader& reader, sandbox::SyscallRule& rule) {
  const std::size_t action = reader.OptionalChoice("action", {"errno", "kill"}).value_or(0);
  const std::optional<std::string> error = reader.OptionalString("error");
  if (action == 1) {
    rule.action = sandbox::DenyAction::kKillProcess;
    if (error.has_value()) reader.Fail("error", "has no meaning with action \"kill\"");
    return;
  }
  if (!error.has_value()) return;
  const std::optional<int> number = ErrnoByName(*error);
  if (!number.has_value()) reader.Fail("error", "must be the name of an errno such as \"EPERM\"");
  rule.error = number.value_or(rule.error);
}

// The value of list member `name`, which must not be empty.
std::vector<std::string> ReadNames(JsonObjectReader& reader, const char* name) {
  std::vector<std::string> names = reader.Strings(name);
  if (names.empty()) reader.Fail(name, "is empty");
  return names;
}

void ReadCalls(JsonObjectReader& reader, std::vector<std::string>& calls) {
  calls = ReadNames(reader, "calls");
  for (const std::string& call : calls) {
    if (sandbox::SyscallNumber(call) == sandbox::kUnknownSyscall) {
      reader.Fail("calls",
                  absl::StrFormat("%s is no system call that libseccomp knows", Quoted(call)));
    }
  }
}

void ReadRule(JsonObjectReader& reader, bool deny, std::vector<sandbox::SyscallRule>& rules) {
  std::vector<std::string> calls;
  ReadCalls(reader, calls);
  sandbox::SyscallRule rule;
  const Alternatives alternatives = ReadWhen(reader);
  if (deny) ReadAnswer(reader, rule);
  rule.reason = ReadReason(reader);
  rule.place = reader.Line();
  for (const std::string& call : calls) {
    rule.name = call;
    for (const std::vector<sandbox::ArgMatch>& when : alternatives) {
      rule.when = when;
      rules.push_back(rule);
    }
  }
}

void ReadGroupRule(JsonObjectReader& reader, const SyscallGroups& groups,
                   sandbox::SyscallPolicy& policy) {
  const std::optional<std::size_t> effect = reader.OptionalChoice("effect", {"allow", "deny"});
  if (!effect.has_value()) reader.Fail("effect", "is missing, and required");
  sandbox::SyscallRule rule;
  if (effect == 1) ReadAnswer(reader, rule);
  ReadReason(reader);
  rule.place = reader.Line();
  for (const std::string& name : ReadNames(reader, "groups")) {
    const auto group = groups.find(name);
    if (group == groups.end()) {
      reader.Fail("groups", absl::StrFormat("%s is not in syscall_groups.json", Quoted(name)));
      return;
    }
    rule.reason = group->second.reason;
    rule.group = name;
    rule.boundary = group->second.boundary;
    for (const std::string& call : group->second.calls) {
      rule.name = call;
      (effect == 1 ? policy.deny : policy.allow).push_back(rule);
    }
  }
}

}  // namespace

absl::StatusOr<SyscallGroups> ParseSyscallGroups(std::string_view bytes,
                                                 const std::string& source) {
  JsonPositions positions;
  absl::StatusOr<Json> json = ParseStrictJson(bytes, source, {}, &positions);
  if (!json.ok()) return json.status();
  JsonObjectReader reader(*json, positions, source);
  reader.Integer("schema", 1, 1);
  SyscallGroups groups;
  std::set<std::string> seen;
  reader.EachObject("groups", [&](JsonObjectReader& entry) {
    const std::string name = entry.String("name");
    SyscallGroup group;
    group.reason = ReadReason(entry);
    group.boundary = entry.OptionalBool("boundary").value_or(false);
    ReadCalls(entry, group.calls);
    for (const std::string& call : group.calls) {
      if (!seen.insert(call).second) {
        entry.Fail("calls", absl::StrFormat("%s stands in another group, or twice in this one",
                                            Quoted(call)));
      }
    }
    if (!groups.emplace(name, std::move(group)).second) {
      entry.Fail("name", "is the name of another group too");
    }
  });
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return groups;
}

void ReadSyscalls(JsonObjectReader& reader, const SyscallGroups& groups,
                  sandbox::SyscallPolicy& policy) {
  reader.EachObject("groups",
                    [&](JsonObjectReader& entry) { ReadGroupRule(entry, groups, policy); });
  reader.EachObject(
      "allow", [&](JsonObjectReader& entry) { ReadRule(entry, /*deny=*/false, policy.allow); });
  reader.EachObject("deny",
                    [&](JsonObjectReader& entry) { ReadRule(entry, /*deny=*/true, policy.deny); });
}

}  // namespace warder::manifest
