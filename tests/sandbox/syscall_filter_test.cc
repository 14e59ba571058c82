#include "sandbox/syscall_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "sandbox/bpf_evaluator.h"

namespace warder::testing {
namespace {

using sandbox::ArgMatch;
using sandbox::CompileSyscallFilter;
using sandbox::DenialAnswer;
using sandbox::DenyAction;
using sandbox::NativeCall;
using sandbox::RunFilters;
using sandbox::SyscallFilter;
using sandbox::SyscallPolicy;
using sandbox::SyscallRule;
using sandbox::VerdictText;
using ::testing::HasSubstr;

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
constexpr std::uint64_t kIntBits = 0xffffffff;

SyscallRule Rule(std::string name, std::vector<ArgMatch> when = {}) {
  SyscallRule rule;
  rule.name = std::move(name);
  rule.when = std::move(when);
  rule.reason = "test";
  return rule;
}

SyscallRule Deny(std::string name, int error, std::vector<ArgMatch> when = {}) {
  SyscallRule rule = Rule(std::move(name), std::move(when));
  rule.error = error;
  return rule;
}

SyscallFilter Compiled(const SyscallPolicy& policy, DenialAnswer answer = DenialAnswer::kNotify) {
  auto filter = CompileSyscallFilter(policy, answer);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return filter.ok() ? *std::move(filter) : SyscallFilter();
}

std::string Verdict(const SyscallFilter& filter, const seccomp_data& data) {
  const auto verdict = RunFilters({filter.allow, filter.deny}, data);
  if (!verdict.ok()) return std::string(verdict.status().message());
  const std::string text = VerdictText(*verdict);
  if (text != "notify") return text;
  const SyscallRule* rule = sandbox::NotifyingRule(filter, data);
  return rule == nullptr ? "notify without a rule"
                         : absl::StrFormat("notify %s", strerrorname_np(rule->error));
}

std::string Verdict(const SyscallFilter& filter, const std::string& name,
                    const std::vector<std::uint64_t>& arguments = {}) {
  return Verdict(filter, NativeCall(sandbox::SyscallNumber(name), arguments));
}

void ExpectRefused(const SyscallPolicy& policy, const std::string& what) {
  const auto filter = CompileSyscallFilter(policy);
  EXPECT_EQ(filter.status().code(), absl::StatusCode::kInvalidArgument) << filter.status();
  EXPECT_THAT(std::string(filter.status().message()), HasSubstr(what));
  EXPECT_EQ(sandbox::CheckSyscallPolicy(policy), filter.status());
}

TEST(SyscallFilter, EmptyPolicyAnswersEverythingWithEnosys) {
  const SyscallFilter filter = Compiled({});
  for (int nr = 0; nr < 512; ++nr) EXPECT_EQ(Verdict(filter, NativeCall(nr)), "errno ENOSYS");
}

TEST(SyscallFilter, CallThatNoRuleNamesGetsEnosysAndDeniedOneItsOwnErrno) {
  const SyscallFilter filter =
      Compiled({{Rule("read")}, {Deny("mount", EPERM), Deny("sync", EACCES)}});
  EXPECT_EQ(Verdict(filter, "read"), "allow");
  EXPECT_EQ(Verdict(filter, "write"), "errno ENOSYS");
  EXPECT_EQ(Verdict(filter, "mount"), "notify EPERM");
  EXPECT_EQ(Verdict(filter, "sync"), "notify EACCES");
}

TEST(SyscallFilter, DenyRuleOverridesAllowRuleWhereBothMatch) {
  const SyscallFilter filter =
      Compiled({{Rule("ioctl")}, {Deny("ioctl", EPERM, {{1, kIntBits, 0x5412}})}});
  EXPECT_EQ(Verdict(filter, "ioctl", {0, 0x5401}), "allow");
  EXPECT_EQ(Verdict(filter, "ioctl", {0, 0x5412}), "notify EPERM");
  EXPECT_EQ(Verdict(filter, "ioctl", {0, 0x100005412}), "notify EPERM")
      << "the kernel compares 32 bits";
}

TEST(SyscallFilter, ProbesAreAnsweredAtOnceAndEveryOtherErrnoByTheListener) {
  const SyscallPolicy policy = {
      {Rule("ioctl")},
      {Deny("mount", EPERM), Deny("clone3", ENOSYS), Deny("ioctl", ENOSYS, {{1, kIntBits, 1}})}};
  EXPECT_EQ(Verdict(Compiled(policy), "mount"), "notify EPERM");
  EXPECT_EQ(Verdict(Compiled(policy), "clone3"), "errno ENOSYS");
  EXPECT_EQ(Verdict(Compiled(policy), "ioctl", {0, 1}), "errno ENOSYS");
  const SyscallFilter without = Compiled(policy, DenialAnswer::kErrno);
  EXPECT_TRUE(without.notifying.empty());
  EXPECT_EQ(Verdict(without, "mount"), "errno EPERM");
}

TEST(SyscallFilter, MemoryOfACallerThatMayHandleItsOwnPageFaultsIsNotPrompt) {
  EXPECT_TRUE(Compiled({{Rule("read")}, {}}).memory_is_prompt);
  EXPECT_FALSE(Compiled({{Rule("userfaultfd")}, {}}).memory_is_prompt);
}

TEST(SyscallFilter, NotifyingRuleIsTheFirstThatMatches) {
  SyscallRule first = Deny("kill", EACCES, {{1, 1, 1}});
  SyscallRule second = Deny("kill", EACCES, {{1, 2, 2}});
  first.reason = "first";
  second.reason = "second";
  const SyscallFilter filter = Compiled({{Rule("kill")}, {first, second}});
  const int kill = sandbox::SyscallNumber("kill");
  EXPECT_EQ(sandbox::NotifyingRule(filter, NativeCall(kill, {0, 3}))->reason, "first");
  EXPECT_EQ(sandbox::NotifyingRule(filter, NativeCall(kill, {0, 2}))->reason, "second");
  EXPECT_EQ(sandbox::NotifyingRule(filter, NativeCall(kill, {0, 4})), nullptr);
  EXPECT_EQ(sandbox::NotifyingRule(filter, NativeCall(kill + 1, {0, 3})), nullptr);
}

TEST(SyscallFilter, KillRuleKillsTheProcess) {
  SyscallRule kill = Rule("ptrace");
  kill.action = DenyAction::kKillProcess;
  EXPECT_EQ(Verdict(Compiled({{}, {kill}}), "ptrace"), "kill");
}

TEST(SyscallFilter, AllConditionsOfARuleMustHoldAndRulesAreAlternatives) {
  const SyscallFilter filter = Compiled({{Rule("socket", {{0, kIntBits, 1}, {2, kIntBits, 0}}),
                                          Rule("socket", {{0, kIntBits, 2}, {1, 0xf, 1}})},
                                         {}});
  EXPECT_EQ(Verdict(filter, "socket", {1, 7, 0}), "allow");
  EXPECT_EQ(Verdict(filter, "socket", {1, 7, 1}), "errno ENOSYS");
  EXPECT_EQ(Verdict(filter, "socket", {2, 0x80001, 9}), "allow");
  EXPECT_EQ(Verdict(filter, "socket", {2, 0x80002, 9}), "errno ENOSYS");
}

TEST(SyscallFilter, ConditionsOnOneArgumentAreJoined) {
  const SyscallFilter filter = Compiled({{Rule("kill", {{1, 0xf0, 0x10}, {1, 0x0f, 0x02}})}, {}});
  EXPECT_EQ(Verdict(filter, "kill", {0, 0x12}), "allow");
  EXPECT_EQ(Verdict(filter, "kill", {0, 0x13}), "errno ENOSYS");
  EXPECT_EQ(Verdict(filter, "kill", {0, 0x22}), "errno ENOSYS");
}

TEST(SyscallFilter, RuleWithoutConditionsMakesThoseWithConditionsNeedless) {
  for (const bool first : {true, false}) {
    std::vector<SyscallRule> rules = {Rule("kill", {{1, kAllBits, 9}}), Rule("kill")};
    if (first) std::swap(rules[0], rules[1]);
    EXPECT_EQ(Verdict(Compiled({rules, {}}), "kill", {0, 1}), "allow");
  }
}

TEST(SyscallFilter, ForeignAbisKillEvenWhenTheCallIsAllowed) {
  const SyscallFilter filter = Compiled({{Rule("read"), Rule("getpid")}, {}});
  for (int nr = 0; nr < 512; ++nr) {
    seccomp_data data = NativeCall(nr);
    data.arch = AUDIT_ARCH_I386;
    EXPECT_EQ(Verdict(filter, data), "kill");
  }
}

TEST(SyscallFilter, CallOfOtherArchitecturesIsKnownAndCompilesToNothing) {
  ASSERT_LT(sandbox::SyscallNumber("s390_runtime_instr"), sandbox::kUnknownSyscall);
  const SyscallFilter with = Compiled({{Rule("read"), Rule("s390_runtime_instr")}, {}});
  EXPECT_EQ(with.allow.size(), Compiled({{Rule("read")}, {}}).allow.size());
}

TEST(SyscallFilter, WrongRulesAreRefusedWithTheNameOfTheCall) {
  ExpectRefused({{Rule("raed")}, {}}, "system call `raed`: libseccomp does not know this name");
  ExpectRefused({{Rule("read", {{6, kAllBits, 0}})}, {}}, "`read`: there is no argument 6");
  ExpectRefused({{Rule("read", {{0, 0, 0}})}, {}}, "`read`: the mask of argument 0 is 0");
  ExpectRefused({{Rule("read", {{0, 0xff, 0x100}})}, {}}, "value 0x100 lies outside mask 0xff");
  ExpectRefused({{Rule("read", {{0, 0xff, 1}, {0, 0xff, 2}})}, {}}, "exclude each other");
  ExpectRefused({{}, {Deny("read", 0)}}, "errno 0 is not between 1 and 4095");
  ExpectRefused({{}, {Deny("read", 4096)}}, "errno 4096 is not between 1 and 4095");
}

TEST(SyscallFilter, CallAllowedAndDeniedWithoutAConditionIsRefused) {
  ExpectRefused({{Rule("read")}, {Deny("read", EPERM)}}, "`read`: it is both allowed and denied");
}

TEST(SyscallFilter, DenyRulesThatCanMeetMustAgree) {
  ExpectRefused({{}, {Deny("kill", EPERM, {{0, 1, 1}}), Deny("kill", EACCES, {{1, 1, 1}})}},
                "differ in their action or errno");
  const SyscallFilter filter = Compiled(
      {{Rule("kill")}, {Deny("kill", EPERM, {{0, 1, 1}}), Deny("kill", EACCES, {{0, 3, 2}})}});
  EXPECT_EQ(Verdict(filter, "kill", {1}), "notify EPERM");
  EXPECT_EQ(Verdict(filter, "kill", {2}), "notify EACCES");
  EXPECT_EQ(Verdict(filter, "kill", {4}), "allow");
}

TEST(SyscallFilter, NamesAndNumbersAgree) {
  EXPECT_EQ(sandbox::SyscallNumber("openat"), SYS_openat);
  EXPECT_EQ(sandbox::SyscallName(SYS_openat), "openat");
  EXPECT_EQ(sandbox::SyscallNumber("no_such_call"), sandbox::kUnknownSyscall);
  EXPECT_EQ(sandbox::SyscallName(9999), "");
  EXPECT_EQ(sandbox::SyscallName(-1), "");
}

// What the rules mean, without libseccomp.
bool Holds(const std::vector<SyscallRule>& rules, const std::string& name,
           const std::vector<std::uint64_t>& arguments) {
  for (const SyscallRule& rule : rules) {
    bool all = rule.name == name;
    for (const ArgMatch& match : rule.when) {
      all = all && (arguments[match.index] & match.mask) == match.value;
    }
    if (all) return true;
  }
  return false;
}

std::string Model(const SyscallPolicy& policy, const std::string& name,
                  const std::vector<std::uint64_t>& arguments) {
  if (Holds(policy.deny, name, arguments)) return "notify EPERM";
  return Holds(policy.allow, name, arguments) ? "allow" : "errno ENOSYS";
}

// Values that rules and arguments share, so that they often meet; both halves of a word are used.
class RandomPolicies {
 public:
  explicit RandomPolicies(unsigned seed) : random_(seed) {}

  std::uint64_t Value() {
    constexpr std::uint64_t kValues[] = {
        0,          1,          2,           3,           0x40,
        0x80000000, 0xffffffff, 0x100000000, 0x100000001, 0x8000000000000000,
        kAllBits};
    return kValues[Below(std::size(kValues))];
  }
  std::size_t Below(std::size_t limit) { return random_() % limit; }

  const std::string& Name() {
    static const std::vector<std::string> names = {"read", "kill", "socket", "ioctl", "clone"};
    return names[Below(names.size())];
  }

  std::vector<SyscallRule> Rules(std::size_t most, bool unconditional) {
    std::vector<SyscallRule> rules(Below(most + 1));
    for (SyscallRule& rule : rules) {
      rule = Rule(Name());
      const std::size_t conditions = Below(4) + (unconditional ? 0 : 1);
      for (std::size_t i = 0; i < conditions; ++i) {
        const std::uint64_t mask = Below(2) == 0 ? kAllBits : Value() | 1;
        rule.when.push_back({static_cast<unsigned>(i), mask, Value() & mask});
      }
    }
    return rules;
  }

 private:
  std::mt19937 random_;
};

TEST(SyscallFilter, RandomPoliciesDoWhatTheirRulesSay) {
  constexpr int kPolicies = 300;
  constexpr int kCalls = 100;
  RandomPolicies random(20240229);
  for (int i = 0; i < kPolicies; ++i) {
    const SyscallPolicy policy = {random.Rules(12, true), random.Rules(8, false)};
    const SyscallFilter filter = Compiled(policy);
    for (int j = 0; j < kCalls; ++j) {
      const std::string& name = random.Name();
      std::vector<std::uint64_t> arguments(6);
      for (std::uint64_t& argument : arguments) argument = random.Value();
      ASSERT_EQ(Verdict(filter, name, arguments), Model(policy, name, arguments))
          << "policy " << i << ", call " << j << " of " << name;
    }
  }
}

// Runs `body` in a child process behind `filter`; the child's wait status.
int BehindFilter(const SyscallFilter& filter, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (const auto* program : {&filter.allow, &filter.deny}) {
      const sock_fprog loaded = {static_cast<unsigned short>(program->size()),
                                 const_cast<sock_filter*>(program->data())};
      if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) != 0) ::_exit(99);
    }
    ::syscall(SYS_exit_group, body());  // before _exit a sanitizer makes calls of its own
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

SyscallPolicy SmallPolicy() {
  return {
      {Rule("exit_group"), Rule("seccomp"), Rule("getpid"), Rule("prlimit64", {{0, kIntBits, 0}})},
      {Deny("mount", EPERM), Deny("prlimit64", EACCES, {{0, 1, 1}})}};
}

TEST(SyscallFilter, KernelGivesTheSameAnswersAsTheInterpreter) {
  const SyscallFilter filter = Compiled(SmallPolicy(), DenialAnswer::kErrno);
  const auto error_of = [](long result) { return result == -1 ? errno : 0; };
  EXPECT_EQ(BehindFilter(filter, [&] { return error_of(::syscall(SYS_getpid)); }), 0);
  const int mount =
      BehindFilter(filter, [&] { return error_of(::syscall(SYS_mount, 0L, 0L, 0L, 0L, 0L)); });
  EXPECT_EQ(WEXITSTATUS(mount), EPERM);
  const int sync = BehindFilter(filter, [&] { return error_of(::syscall(SYS_sync)); });
  EXPECT_EQ(WEXITSTATUS(sync), ENOSYS);
  const int other =
      BehindFilter(filter, [&] { return error_of(::syscall(SYS_prlimit64, 1L, 7L, 0L, 0L)); });
  EXPECT_EQ(WEXITSTATUS(other), EACCES);
  const int even =
      BehindFilter(filter, [&] { return error_of(::syscall(SYS_prlimit64, 2L, 7L, 0L, 0L)); });
  EXPECT_EQ(WEXITSTATUS(even), ENOSYS);
}

#if defined(__x86_64__)
TEST(SyscallFilter, KernelKillsTheProcessThatCallsByAnX32Number) {
  constexpr long kX32Bit = 0x40000000;
  const int status = BehindFilter(Compiled(SmallPolicy(), DenialAnswer::kErrno),
                                  [] { return ::syscall(kX32Bit + SYS_getpid) > 0; });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
}
#endif

}  // namespace
}  // namespace warder::testing
