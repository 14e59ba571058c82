// The tables beside the shipped policies, and what must hold for every one of their filters.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "manifest/policy_file.h"
#include "sandbox/syscall_filter.h"
#include "tests/support/bpf_evaluator.h"

namespace warder::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kX32Bit = 0x40000000;
constexpr int kLastNumber = 511;

manifest::Config ShippedOnly() {
  manifest::Config config;
  config.config_dir = "/nonexistent/warder";
  config.share_dir = WARDER_SHARE_DIR;
  return config;
}

// Every policy file, the abstract one too.
std::vector<std::string> ShippedPolicies() {
  std::vector<std::string> names = *manifest::ListPolicies(ShippedOnly());
  names.push_back("base");
  return names;
}

sandbox::SyscallFilter FilterOf(const std::string& policy) {
  const auto loaded = manifest::LoadPolicy(ShippedOnly(), policy);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  auto filter = sandbox::CompileSyscallFilter(loaded->confinement.syscalls);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return *std::move(filter);
}

std::string Verdict(const sandbox::SyscallFilter& filter, const seccomp_data& data) {
  const auto verdict = RunFilters({filter.allow, filter.deny}, data);
  if (!verdict.ok()) return std::string(verdict.status().message());
  const std::string text = VerdictText(*verdict);
  if (text != "notify") return text;
  const sandbox::SyscallRule* rule = sandbox::NotifyingRule(filter, data);
  if (rule == nullptr) return "notify without a rule";
  return absl::StrFormat("notify %s", strerrorname_np(rule->error));
}

struct Case {
  std::string place;  // "base.cases:12"
  std::string expected;
};
using Cases = std::map<std::string, Case>;  // by call and arguments

// C notation: 0x1f, 017, 15, -1.
std::optional<std::uint64_t> Number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

std::vector<std::string> Words(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

void ReadCases(const std::string& file, Cases& cases) {
  std::ifstream stream(fs::path(WARDER_SOURCE_DIR) / "policies" / file);
  ASSERT_TRUE(stream.is_open()) << file << " is missing";
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::vector<std::string> words = Words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.front() == "include") {
      ReadCases(words.at(1), cases);
      continue;
    }
    const auto arrow = std::find(words.begin(), words.end(), "->");
    ASSERT_NE(arrow, words.end()) << file << ":" << number << ": no ->";
    const std::string call = absl::StrJoin(words.begin(), arrow, " ");
    cases[call] = {absl::StrFormat("%s:%d", file, number),
                   absl::StrJoin(arrow + 1, words.end(), " ")};
  }
}

// The call that the words of a case name, or nothing when they name none.
std::optional<seccomp_data> CallOf(const std::string& text) {
  const std::vector<std::string> words = Words(text);
  std::vector<std::uint64_t> arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto argument = Number(words[i]);
    if (!argument.has_value()) return std::nullopt;
    arguments.push_back(*argument);
  }
  const std::vector<std::string> parts = absl::StrSplit(words.front(), ':');
  if (parts.size() == 1) {
    const int nr = sandbox::SyscallNumber(parts[0]);
    return nr < 0 ? std::nullopt : std::optional(NativeCall(nr, arguments));
  }
  const auto number = Number(parts[1]);
  if (!number.has_value()) return std::nullopt;
  seccomp_data data = NativeCall(static_cast<int>(*number), arguments);
  if (parts[0] == "i386") data.arch = AUDIT_ARCH_I386;
  if (parts[0] == "x32") data.nr |= static_cast<int>(kX32Bit);
  return data;
}

class ShippedPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedPolicy, AnswersEveryCaseOfItsTable) {
  const sandbox::SyscallFilter filter = FilterOf(GetParam());
  Cases cases;
  ReadCases(GetParam() + ".cases", cases);
  EXPECT_GE(cases.size(), 60u);
  for (const auto& [call, expectation] : cases) {
    const auto data = CallOf(call);
    ASSERT_TRUE(data.has_value()) << expectation.place << ": not a call: " << call;
    EXPECT_EQ(Verdict(filter, *data), expectation.expected) << expectation.place << ": " << call;
  }
}

TEST_P(ShippedPolicy, EveryNativeNumberIsAllowedOrNotifiedOrGetsEnosys) {
  const sandbox::SyscallFilter filter = FilterOf(GetParam());
  for (int nr = 0; nr <= kLastNumber; ++nr) {
    for (const std::uint64_t argument : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      const std::string verdict =
          Verdict(filter, NativeCall(nr, std::vector<std::uint64_t>(6, argument)));
      EXPECT_TRUE(verdict == "allow" || verdict == "notify EPERM" || verdict == "errno ENOSYS")
          << nr << " " << sandbox::SyscallName(nr) << ": " << verdict;
    }
  }
}

TEST_P(ShippedPolicy, EveryNumberOfAForeignAbiKills) {
  const sandbox::SyscallFilter filter = FilterOf(GetParam());
  for (int nr = 0; nr <= kLastNumber; ++nr) {
    seccomp_data i386 = NativeCall(nr);
    i386.arch = AUDIT_ARCH_I386;
    EXPECT_EQ(Verdict(filter, i386), "kill") << "i386 " << nr;
    const seccomp_data x32 = NativeCall(nr | static_cast<int>(kX32Bit));
    EXPECT_EQ(Verdict(filter, x32), "kill") << "x32 " << nr;
    seccomp_data arm = NativeCall(nr);
    arm.arch = AUDIT_ARCH_ARM;
    EXPECT_EQ(Verdict(filter, arm), "kill") << "arm " << nr;
  }
}

TEST_P(ShippedPolicy, EveryCallOfTheOldestLibraryIsDecidedByARule) {
  // libseccomp 2.5.4 names calls up to set_mempolicy_home_node (Linux 5.17), and 335 to 423 were
  // left free until then.
  constexpr int kLastNamed = 450;
  const auto policy = manifest::LoadPolicy(ShippedOnly(), GetParam());
  ASSERT_TRUE(policy.ok()) << policy.status();
  std::set<std::string> named;
  for (const auto* rules :
       {&policy->confinement.syscalls.allow, &policy->confinement.syscalls.deny}) {
    for (const sandbox::SyscallRule& rule : *rules) named.insert(rule.name);
  }
  for (int nr = 0; nr <= kLastNamed; ++nr) {
    const std::string name = sandbox::SyscallName(nr);
    if (name.empty() || (nr >= 335 && nr <= 423)) continue;
    EXPECT_TRUE(named.contains(name)) << name << " stands in no group and no rule";
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ShippedPolicy, ::testing::ValuesIn(ShippedPolicies()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace warder::testing
