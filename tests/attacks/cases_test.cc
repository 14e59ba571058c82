// Every case of tests/attacks/*.cases that has probes: in a cell, outside as the control, and on
// the compiled filter where a case is about a system call.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sandbox/bpf_evaluator.h"
#include "sandbox/syscall_filter.h"
#include "tests/support/attack_cases.h"
#include "tests/support/attack_scene.h"
#include "tests/support/shipped_filter.h"

namespace warder::testing {
namespace {

using Words = std::vector<std::string>;

bool IsSystemCall(const std::string& line) {
  return line.starts_with("syscall ") || line.starts_with("int80 ");
}

// "syscall NAME ..." with the number of NAME, which is all that the attack program knows.
std::string ByNumber(const std::string& line) {
  if (!line.starts_with("syscall ")) return line;
  Words words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  const int number = sandbox::SyscallNumber(words.at(1));
  if (number >= 0) words[1] = std::to_string(number);
  return absl::StrJoin(words, " ");
}

std::string Verdict(const std::string& call_by_number) {
  const Words words = absl::StrSplit(call_by_number, ' ', absl::SkipEmpty());
  std::vector<std::uint64_t> arguments;
  for (std::size_t i = 2; i < words.size(); ++i)
    arguments.push_back(std::strtoull(words[i].c_str(), nullptr, 0));
  const auto abi = words.front() == "int80" ? sandbox::Abi::kI386 : sandbox::Abi::kNative;
  const int number = static_cast<int>(std::strtoull(words.at(1).c_str(), nullptr, 0));
  static const ShippedFilter filter("default");
  const std::string answer = filter.Answer(sandbox::CallBy(abi, number, arguments));
  // To the caller it is the same who gives the errno.
  return answer.starts_with("notify ") ? "errno " + answer.substr(7) : answer;
}

bool HasDefaultRoute() {
  std::ifstream file("/proc/net/route");
  std::string line;
  while (std::getline(file, line)) {
    const Words columns = absl::StrSplit(line, '\t');
    if (columns.size() > 2 && columns[1] == "00000000") return true;
  }
  return false;
}

bool Discriminates(Control control) {
  switch (control) {
    case Control::kRoot:
      return geteuid() == 0;
    case Control::kRouted:
      return HasDefaultRoute();
    case Control::kAbsent:
      return false;
    case Control::kOutside:
    case Control::kSame:
      break;
  }
  return true;
}

bool IsErrno(const std::string& result) { return result.size() > 1 && result.front() == 'E'; }
bool Works(const std::string& result) {
  return !IsErrno(result) && !result.starts_with("SIG") && !result.starts_with("no ");
}

// The cell's result is the cell's own: outside the attack works, or, for a call with arguments that
// mean nothing, the kernel itself answers otherwise.
void ExpectControl(const AttackProbe& probe, const std::string& confined,
                   const std::string& unconfined) {
  const std::string what = probe.place + ": " + probe.line + ": unconfined: ";
  if (probe.control == Control::kSame) {
    EXPECT_EQ(unconfined, confined) << what;
  } else if (IsErrno(confined) && !IsSystemCall(probe.line)) {
    EXPECT_TRUE(Works(unconfined)) << what << unconfined;
  } else if (IsSystemCall(probe.line) && confined == "ENOSYS" && unconfined == "ENOSYS") {
    // This kernel does not know the call. The compiled filter's verdict stands alone.
  } else {
    EXPECT_NE(unconfined, confined) << what;
  }
}

// Where only the filter can tell, it must; where it answers, the cell gives that answer.
void ExpectVerdict(const AttackProbe& probe, const std::string& call, const std::string& confined) {
  const std::string verdict = Verdict(call);
  if (verdict == "allow") {
    EXPECT_NE(probe.control, Control::kAbsent) << probe.place << ": nothing tells who answered";
  } else if (verdict == "kill") {
    // SIGSEGV: the kernel has no 32-bit entry that a filter could watch.
    EXPECT_TRUE(confined == "SIGSYS" || confined == "SIGSEGV") << probe.place;
  } else {
    EXPECT_EQ(verdict, "errno " + confined) << probe.place;
  }
}

struct Tried {
  std::string line;  // with the scene's own values
  std::string result;
};
using TriedByPlace = std::map<std::string, Tried>;  // "kernel.cases:12"

// What the probes of one group got.
struct GroupRun {
  TriedByPlace confined, unconfined;
  std::string damage;
};

// Runs the probes that `chosen` takes, by `run`.
template <typename Chosen, typename Run>
void Collect(const std::vector<AttackCase>& cases, const AttackScene& scene, const Chosen& chosen,
             const Run& run, TriedByPlace& tried) {
  Words lines, places;
  for (const AttackCase& entry : cases) {
    for (const AttackProbe& probe : entry.probes) {
      if (!chosen(entry, probe)) continue;
      lines.push_back(scene.Expand(ByNumber(probe.line)));
      places.push_back(probe.place);
    }
  }
  const Words got = lines.empty() ? Words() : run(lines);
  for (std::size_t i = 0; i < got.size(); ++i) tried[places[i]] = {lines[i], got[i]};
}

GroupRun RunGroup(const std::vector<AttackCase>& cases) {
  GroupRun group;
  std::set<std::string> policies;
  for (const AttackCase& entry : cases) policies.insert(entry.policy);
  const AttackScene scene, control;
  for (const std::string& policy : policies) {
    Collect(
        cases, scene,
        [&](const AttackCase& entry, const AttackProbe&) { return entry.policy == policy; },
        [&](const Words& lines) { return scene.Confined(lines, policy); }, group.confined);
  }
  Collect(
      cases, control,
      [](const AttackCase&, const AttackProbe& probe) { return Discriminates(probe.control); },
      [&](const Words& lines) { return control.Unconfined(lines); }, group.unconfined);
  group.damage = scene.Damage();
  return group;
}

const GroupRun& ResultsOf(const std::string& group) {
  static std::map<std::string, GroupRun> runs;
  const auto run = runs.find(group);
  return run != runs.end() ? run->second
                           : runs.emplace(group, RunGroup(AttackGroup(group))).first->second;
}

struct NamedCase {
  std::string group;
  AttackCase entry;
};
void PrintTo(const NamedCase& named, std::ostream* out) { *out << named.entry.id; }

class Attack : public ::testing::TestWithParam<NamedCase> {};

TEST_P(Attack, GetsNothingInACell) {
  const GroupRun& run = ResultsOf(GetParam().group);
  for (const AttackProbe& probe : GetParam().entry.probes) {
    const auto& [line, confined] = run.confined.at(probe.place);
    EXPECT_TRUE(std::count(probe.expected.begin(), probe.expected.end(), confined) > 0)
        << probe.place << ": " << probe.line << " -> " << confined;
    if (IsSystemCall(probe.line)) ExpectVerdict(probe, line, confined);
    if (Discriminates(probe.control))
      ExpectControl(probe, confined, run.unconfined.at(probe.place).result);
  }
}

class AttackGroups : public ::testing::TestWithParam<std::string> {};

TEST_P(AttackGroups, LeaveNothingBehind) { EXPECT_EQ(ResultsOf(GetParam()).damage, ""); }

std::vector<NamedCase> AllCases() {
  std::vector<NamedCase> all;
  for (const std::string& group : AttackGroupNames()) {
    for (AttackCase& entry : AttackGroup(group)) all.push_back({group, std::move(entry)});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, Attack, ::testing::ValuesIn(AllCases()), [](const auto& parameter) {
  return parameter.param.group + "_" + parameter.param.entry.id;
});
INSTANTIATE_TEST_SUITE_P(Cases, AttackGroups, ::testing::ValuesIn(AttackGroupNames()),
                         [](const auto& parameter) { return parameter.param; });

std::string FaultOf(const std::string& text) {
  std::istringstream stream(text);
  try {
    ReadAttackCases(stream, "f.cases");
  } catch (const std::exception& fault) {
    return fault.what();
  }
  return "";
}

TEST(AttackCases, EachCaseIsExplainedByAProbeATestOrAReason) {
  EXPECT_EQ(FaultOf("X1 | layer | title\n  probe a -> EPERM ; root\nX2 | layer | title\n"
                    "  open: why\n"),
            "");
  EXPECT_EQ(FaultOf("X1 | layer | title\nX2 | layer | title\n  open: why\n"),
            "f.cases:1: X1: no probe, no `tested by`, no reason");
  EXPECT_EQ(FaultOf("X1 | layer | title\n"), "f.cases:1: X1: no probe, no `tested by`, no reason");
}

TEST(AttackCases, FaultsNameTheirLine) {
  EXPECT_EQ(FaultOf("X1 | title\n"), "f.cases:1: expected `ID | layer | title`");
  EXPECT_EQ(FaultOf("  probe -> EPERM\n"), "f.cases:1: no case above");
  EXPECT_EQ(FaultOf("X1 | a | b\n  probe\n"), "f.cases:2: expected `probe -> result`");
  EXPECT_EQ(FaultOf("X1 | a | b\n  probe -> EPERM ; never\n"), "f.cases:2: unknown control: never");
}

}  // namespace
}  // namespace warder::testing
