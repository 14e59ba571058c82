#include "sandbox/listener.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::SmallPolicy;

SyscallRule Deny(std::string name, int error, std::vector<ArgMatch> when = {}) {
  SyscallRule rule;
  rule.name = std::move(name);
  rule.error = error;
  rule.when = std::move(when);
  rule.reason = "test";
  rule.place = "policy.json:7";
  return rule;
}

// Every call but the denied ones, and userfaultfd unless it is asked for.
SyscallFilter Compiled(const std::vector<SyscallRule>& denied, bool page_faults = false) {
  SyscallPolicy policy = SmallPolicy().syscalls;
  if (!page_faults) {
    std::erase_if(policy.allow, [](const SyscallRule& rule) { return rule.name == "userfaultfd"; });
  }
  for (const SyscallRule& rule : denied) {
    if (!rule.when.empty()) continue;
    std::erase_if(policy.allow, [&](const SyscallRule& allow) { return allow.name == rule.name; });
  }
  policy.deny = denied;
  auto filter = CompileSyscallFilter(policy);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return *std::move(filter);
}

int Install(const std::vector<sock_filter>& program, unsigned flags) {
  sock_fprog form = {static_cast<unsigned short>(program.size()),
                     const_cast<sock_filter*>(program.data())};
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &form));
}

// Runs `body` in a thread behind `filter`, whose listener this thread serves.
DenialReport Serve(const SyscallFilter& filter, const std::function<void()>& body,
                   std::uint64_t max_answers = kMaxAnswers) {
  std::promise<int> installed;
  std::atomic<bool> done = false;
  std::thread thread([&] {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    Install(filter.allow, 0);
    installed.set_value(Install(filter.deny, SECCOMP_FILTER_FLAG_NEW_LISTENER));
    body();
    done = true;
  });
  Listener listener(UniqueFd(installed.get_future().get()), filter, max_answers);
  while (!done) {
    pollfd ready = {listener.fd(), POLLIN, 0};
    poll(&ready, 1, 1);
    listener.Serve();
  }
  thread.join();
  return listener.report();
}

int ErrnoOf(long result) { return result < 0 ? errno : 0; }

TEST(Listener, EachKindOfDeniedCallIsOneRecordWithItsObjectErrnoAndRule) {
  const SyscallFilter filter = Compiled({Deny("chroot", EPERM), Deny("acct", EACCES)});
  int first = 0, second = 0, other = 0;
  const DenialReport report = Serve(filter, [&] {
    first = ErrnoOf(syscall(SYS_chroot, "/etc"));
    other = ErrnoOf(syscall(SYS_acct, "/dev/null"));
    second = ErrnoOf(syscall(SYS_chroot, "/etc"));
  });
  EXPECT_EQ(first, EPERM);
  EXPECT_EQ(second, EPERM);
  EXPECT_EQ(other, EACCES);
  EXPECT_TRUE(report.watched);
  ASSERT_EQ(report.denials.size(), 2u);
  const Denial& chroot = report.denials[0];
  EXPECT_EQ(chroot.layer, "seccomp");
  EXPECT_EQ(chroot.operation, "chroot");
  EXPECT_EQ(chroot.object, "path=/etc");
  EXPECT_EQ(chroot.error, EPERM);
  EXPECT_EQ(chroot.place, "policy.json:7");
  EXPECT_EQ(chroot.reason, "test");
  EXPECT_EQ(chroot.count, 2u);
  EXPECT_GE(chroot.first_ms, 0);
  EXPECT_EQ(report.denials[1].operation, "acct");
  EXPECT_EQ(report.denials[1].error, EACCES);
}

TEST(Listener, AllowedCallsAndProbesLeaveNoRecord) {
  const SyscallFilter filter =
      Compiled({Deny("personality", EPERM, {{0, 0xffffffff, 8}}), Deny("clone3", ENOSYS)});
  const DenialReport report = Serve(filter, [&] {
    EXPECT_EQ(ErrnoOf(syscall(SYS_personality, 0xffffffff)), 0);
    EXPECT_EQ(ErrnoOf(syscall(SYS_clone3, nullptr, 0)), ENOSYS);
  });
  EXPECT_TRUE(report.denials.empty());
}

TEST(Listener, PathThatCannotBeReadIsStillARecord) {
  const SyscallFilter filter = Compiled({Deny("chroot", EPERM)});
  const DenialReport report =
      Serve(filter, [] { EXPECT_EQ(ErrnoOf(syscall(SYS_chroot, 1)), EPERM); });
  ASSERT_EQ(report.denials.size(), 1u);
  EXPECT_EQ(report.denials[0].object, "path=?");
}

TEST(Listener, MemoryThatCouldStopTheReaderIsNotRead) {
  const SyscallFilter filter = Compiled({Deny("chroot", EPERM)}, /*page_faults=*/true);
  const DenialReport report =
      Serve(filter, [] { EXPECT_EQ(ErrnoOf(syscall(SYS_chroot, "/etc")), EPERM); });
  ASSERT_EQ(report.denials.size(), 1u);
  EXPECT_EQ(report.denials[0].object, "path=?");
}

TEST(Listener, AfterTooManyTheKernelStillRefusesAndTheReportSaysSo) {
  const SyscallFilter filter = Compiled({Deny("chroot", EPERM)});
  std::vector<int> errors;
  const DenialReport report = Serve(
      filter,
      [&] {
        for (int i = 0; i < 50; ++i) errors.push_back(ErrnoOf(syscall(SYS_chroot, "/")));
      },
      40);
  EXPECT_TRUE(report.stopped);
  ASSERT_EQ(report.denials.size(), 1u);
  EXPECT_EQ(report.denials[0].count, 40u);
  EXPECT_EQ(errors.front(), EPERM);
  EXPECT_EQ(errors.back(), ENOSYS);
}

TEST(Listener, KillOfTheToolIsARecord) {
  const SyscallFilter filter = Compiled({});
  Listener listener(UniqueFd(), filter);
  listener.Serve();
  listener.AddKill();
  EXPECT_FALSE(listener.report().watched);
  ASSERT_EQ(listener.report().denials.size(), 1u);
  EXPECT_EQ(listener.report().denials[0].error, 0);
  // The kernel does not tell the two apart, so the record must not either.
  EXPECT_TRUE(listener.report().denials[0].reason.ends_with("sends to itself looks the same"));
}

}  // namespace
}  // namespace warder::sandbox
