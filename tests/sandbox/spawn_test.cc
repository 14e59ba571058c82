#include "sandbox/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace warder::sandbox {
namespace {

StepList Idle() {
  StepList steps;
  steps.Add(StepKind::kIdle);
  return steps;
}

TEST(Spawn, DestroyedChildIsKilledAndReaped) {
  pid_t pid = 0;
  {
    const StepList steps = Idle();
    auto child = CloneChild(steps, 0);
    ASSERT_TRUE(child.ok()) << child.status();
    pid = child->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Spawn, ExitAndSignalAreToldApart) {
  const StepList idle = Idle();
  auto killed = CloneChild(idle, 0);
  ASSERT_TRUE(killed.ok());
  killed->Kill();
  auto end = killed->Wait();
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(end->signaled);
  EXPECT_EQ(end->status, SIGKILL);

  const StepList none;
  auto exited = CloneChild(none, 0);
  ASSERT_TRUE(exited.ok());
  end = exited->Wait();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->signaled);
  EXPECT_EQ(end->status, 127);
}

TEST(Spawn, DescriptorBecomesReadableWhenTheChildEnds) {
  const StepList idle = Idle();
  auto child = CloneChild(idle, 0);
  ASSERT_TRUE(child.ok());
  pollfd ready = {child->pidfd(), POLLIN, 0};
  EXPECT_EQ(poll(&ready, 1, 0), 0);
  child->Kill();
  EXPECT_EQ(poll(&ready, 1, 10'000), 1);
}

// The death of a launcher must be an end of file for its supervisor, whatever its children do.
TEST(Spawn, ChildHoldsNoEndOfAPipeThatNoStepNames) {
  int named[2], other[2];
  ASSERT_EQ(pipe2(named, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(other, O_CLOEXEC), 0);
  StepList steps;
  steps.Add(StepKind::kReadGo).fd = named[0];
  auto child = CloneChild(steps, 0);
  ASSERT_TRUE(child.ok()) << child.status();
  close(other[1]);
  pollfd ended = {other[0], POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1);
  EXPECT_EQ(ended.revents, POLLHUP);
  close(named[1]);  // nobody else holds it: the child reads end of file and exits
  const auto end = child->Wait();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->status, 127);
  for (const int fd : {named[0], other[0]}) close(fd);
}

TEST(Spawn, ImpossibleFlagsAreAnErrorThatNamesTheCall) {
  const StepList steps = Idle();
  auto child = CloneChild(steps, CLONE_THREAD);
  ASSERT_FALSE(child.ok());
  EXPECT_NE(std::string(child.status().message()).find("clone3 (flags 0x"), std::string::npos);
}

TEST(Spawn, CallersSignalMaskIsUnchanged) {
  sigset_t before, after;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  const StepList steps = Idle();
  ASSERT_TRUE(CloneChild(steps, 0).ok());
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
}

}  // namespace
}  // namespace warder::sandbox
