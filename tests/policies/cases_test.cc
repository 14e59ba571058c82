// The tables beside the shipped policies, and what must hold for every one of their filters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sandbox/bpf_evaluator.h"
#include "sandbox/syscall_filter.h"
#include "tests/support/shipped_filter.h"

namespace warder::testing {
namespace {

namespace fs = std::filesystem;

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
    return nr < 0 ? std::nullopt : std::optional(sandbox::NativeCall(nr, arguments));
  }
  const auto number = Number(parts[1]);
  if (!number.has_value()) return std::nullopt;
  auto abi = sandbox::Abi::kNative;
  if (parts[0] == "i386") abi = sandbox::Abi::kI386;
  if (parts[0] == "x32") abi = sandbox::Abi::kX32;
  return sandbox::CallBy(abi, static_cast<int>(*number), arguments);
}

class ShippedPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedPolicy, AnswersEveryCaseOfItsTable) {
  const ShippedFilter filter(GetParam());
  std::mt19937_64 random(20240229);
  Cases cases;
  ReadCases(GetParam() + ".cases", cases);
  EXPECT_GE(cases.size(), 60u);
  for (const auto& [call, expectation] : cases) {
    const auto data = CallOf(call);
    ASSERT_TRUE(data.has_value()) << expectation.place << ": not a call: " << call;
    EXPECT_EQ(filter.Answer(*data), expectation.expected) << expectation.place << ": " << call;
    // Every argument that a rule looks at is an `int`, whose upper half the kernel drops.
    seccomp_data garbage = *data;
    for (auto& argument : garbage.args) argument = (argument & 0xffffffff) | (random() << 32);
    EXPECT_EQ(filter.Answer(garbage), expectation.expected)
        << expectation.place << ": " << call << ", with bits in the upper halves";
  }
}

TEST_P(ShippedPolicy, EveryCallOfTheOldestLibraryIsDecidedByARule) {
  // libseccomp 2.5.4 names calls up to set_mempolicy_home_node (Linux 5.17), and 335 to 423 were
  // left free until then.
  constexpr int kLastNamed = 450;
  const ShippedFilter filter(GetParam());
  std::set<std::string> named;
  for (const auto* rules : {&filter.rules().allow, &filter.rules().deny}) {
    for (const sandbox::SyscallRule& rule : *rules) named.insert(rule.name);
  }
  for (int nr = 0; nr <= kLastNamed; ++nr) {
    const std::string name = sandbox::SyscallName(nr);
    if (name.empty() || (nr >= 335 && nr <= 423)) continue;
    EXPECT_TRUE(named.contains(name)) << name << " stands in no group and no rule";
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ShippedPolicy, ::testing::ValuesIn(ShippedPolicies()),
                         PolicyTestName);

}  // namespace
}  // namespace warder::testing
