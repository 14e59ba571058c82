#include "sandbox/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/in_child.h"

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

// A builder that ends without a word about the tool that it cloned.
TEST(Spawn, GroupThatAChildLeftBehindIsEndedAndReaped) {
  StepList steps;
  steps.Add(StepKind::kNewSession);
  steps.Add(StepKind::kCloneSibling);
  steps.Add(StepKind::kIdle);
  auto builder = CloneChild(steps, 0);
  ASSERT_TRUE(builder.ok()) << builder.status();
  const pid_t group = builder->pid();
  pollfd ended = {builder->pidfd(), POLLIN, 0};
  ASSERT_EQ(poll(&ended, 1, 10'000), 1);
  EXPECT_EQ(kill(-group, 0), 0);  // the sibling idles
  builder->EndGroup();
  EXPECT_FALSE(builder->running());
  EXPECT_EQ(kill(-group, 0), -1);
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

// A process that waits for a signal, under a number of the caller's choice (clone3(2), set_tid).
pid_t CloneAs(pid_t number) {
  clone_args arguments = {};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
  arguments.set_tid_size = 1;
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  while (pid == 0) pause();
  return static_cast<pid_t>(pid);
}

// Needs a pid namespace whose numbers it may choose. 0, or which step went wrong.
int UseNumberAgain() {
  const StepList idle = Idle();
  auto child = CloneChild(idle, 0);
  if (!child.ok()) return 1;
  const pid_t number = child->pid();
  child->Kill();
  pollfd ended = {child->pidfd(), POLLIN, 0};
  if (poll(&ended, 1, 10'000) != 1) return 2;
  // Until it is reaped the number is its own.
  if (CloneAs(number) != -1 || errno != EEXIST) return 3;
  if (!child->Wait().ok()) return 4;
  if (CloneAs(number) != number) return 5;
  child->Kill();
  *child = ChildProcess();
  if (waitpid(number, nullptr, WNOHANG) != 0) return 6;  // the innocent one was ended
  // The control: who goes by the number reaches it.
  if (kill(number, SIGKILL) != 0 || waitpid(number, nullptr, 0) != number) return 7;
  return 0;
}

TEST(Spawn, NumberThatIsUsedAgainIsSomebodyElses) {
  EXPECT_EQ(testing::InChild([] {
              const int own_user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
              if (unshare(own_user | CLONE_NEWPID) != 0) return 100;
              return testing::InChild(UseNumberAgain);
            }),
            0);
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
