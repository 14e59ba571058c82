#include "sandbox/child_main.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "sandbox/landlock.h"
#include "sandbox/step_list.h"
#include "tests/support/in_launcher.h"
#include "tests/support/run_steps.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::Describe;
using ::warder::testing::RunSteps;
using ::warder::testing::ScratchDirectory;

std::string After(const std::function<void(StepList&)>& add, std::uint64_t flags = 0) {
  StepList steps;
  add(steps);
  steps.Add(StepKind::kReport);
  steps.Add(StepKind::kIdle);
  return Describe(steps, RunSteps(steps, flags));
}

// One step, with its fields set by `fill`.
std::string One(StepKind kind, const std::function<void(Step&)>& fill, std::uint64_t flags = 0) {
  return After([&](StepList& steps) { fill(steps.Add(kind)); }, flags);
}

TEST(RunChild, EndOfFileInsteadOfGoMeansThatTheLauncherIsGone) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[1]);
  EXPECT_EQ(One(StepKind::kReadGo, [&](Step& step) { step.fd = ends[0]; }),
            "wait-for-launcher: EPIPE");
  close(ends[0]);
}

TEST(RunChild, OneByteMeansGo) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(One(StepKind::kReadGo, [&](Step& step) { step.fd = ends[0]; }), "ready");
  close(ends[0]);
  close(ends[1]);
}

TEST(RunChild, FirstFailureIsReportedAndNothingAfterItRuns) {
  const ScratchDirectory directory;
  const std::string never = directory.path() + "/never";
  EXPECT_EQ(After([&](StepList& steps) {
              steps.Add(StepKind::kChangeDirectory).path = "/no/such/directory";
              Step& make = steps.Add(StepKind::kMakeDirectory);
              make.path = steps.Keep(never);
              make.value = 0700;
            }),
            "change-directory: ENOENT");
  EXPECT_NE(access(never.c_str(), F_OK), 0);
}

TEST(RunChild, StepsThatEndWithoutExecExitWith127) {
  StepList steps;
  steps.Add(StepKind::kSetUmask).value = 022;
  EXPECT_EQ(Describe(steps, RunSteps(steps)), "exit 127");
}

TEST(RunChild, DirectoryThatExistsIsFine) {
  EXPECT_EQ(One(StepKind::kMakeDirectory, [](Step& step) { step.path = "/tmp"; }), "ready");
  EXPECT_EQ(One(StepKind::kMakeDirectory, [](Step& step) { step.path = "/no/such/d"; }),
            "make-directory: ENOENT");
}

TEST(RunChild, FilesAndLinksAreMadeOnce) {
  const ScratchDirectory directory;
  const std::string file = directory.path() + "/file";
  const std::string link = directory.path() + "/link";
  const auto add = [&](StepList& steps) {
    Step& write = steps.Add(StepKind::kWriteFile);
    write.path = file.c_str();
    write.data = "text";
    write.data_size = 4;
    write.value = 0600;
    Step& point = steps.Add(StepKind::kSymlink);
    point.path = link.c_str();
    point.text = "file";
  };
  EXPECT_EQ(After(add), "ready");
  EXPECT_EQ(::warder::testing::ReadFileText(link), "text");
  EXPECT_EQ(After(add), "write-file: EEXIST");
}

TEST(RunChild, CopyHasTheBytesOfTheDescriptorAndCanBeOpenedAsItself) {
  const ScratchDirectory directory;
  const std::string source = directory.Write("source", std::string(100'000, 'x'));
  const UniqueFd fd(open(source.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string copy = directory.path() + "/copy";
  const auto add = [&](const char* reopened) {
    return [&, reopened](StepList& steps) {
      Step& step = steps.Add(StepKind::kCopyFile);
      step.fd = fd.get();
      step.path = copy.c_str();
      step.value = 0755;
      step.target = Slot(1);
      Step& open = steps.Add(StepKind::kOpenSame);
      open.fd = Slot(1);
      open.path = reopened;
      open.value = O_PATH;
      open.target = Slot(2);
    };
  };
  EXPECT_EQ(After(add(copy.c_str())), "ready");
  EXPECT_EQ(::warder::testing::ReadFileText(copy), std::string(100'000, 'x'));
  unlink(copy.c_str());
  EXPECT_EQ(After(add(source.c_str())), "open-pinned-file: ESTALE");
}

TEST(RunChild, Law2OpenExpectedComparesIdentitySizeAndTimes) {
  const ScratchDirectory directory;
  const std::string path = directory.Write("program", "bytes");
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  const FileIdentity right = {status.st_dev,
                              status.st_ino,
                              5,
                              status.st_mtim.tv_sec * 1'000'000'000L + status.st_mtim.tv_nsec,
                              status.st_ctim.tv_sec * 1'000'000'000L + status.st_ctim.tv_nsec,
                              Compare::kContent};
  const auto open_as = [&](const FileIdentity& identity) {
    return One(StepKind::kOpenExpected, [&](Step& step) {
      step.path = path.c_str();
      step.value = O_PATH;
      step.data = &identity;
      step.target = Slot(0);
    });
  };
  EXPECT_EQ(open_as(right), "ready");
  for (std::uint64_t FileIdentity::* field :
       {&FileIdentity::device, &FileIdentity::inode, &FileIdentity::size}) {
    FileIdentity wrong = right;
    wrong.*field += 1;
    EXPECT_EQ(open_as(wrong), "open-as-shown: ESTALE");
  }
  for (std::int64_t FileIdentity::* field : {&FileIdentity::mtime_ns, &FileIdentity::ctime_ns}) {
    FileIdentity wrong = right;
    wrong.*field += 1;
    EXPECT_EQ(open_as(wrong), "open-as-shown: ESTALE");
    wrong.compare = Compare::kIdentity;
    EXPECT_EQ(open_as(wrong), "ready");
  }
}

TEST(RunChild, SymlinkIsNeverOpenedAsExpected) {
  const ScratchDirectory directory;
  const std::string link = directory.path() + "/link";
  ASSERT_EQ(symlink("/usr/bin/true", link.c_str()), 0);
  const FileIdentity any = {.compare = Compare::kNothing};
  EXPECT_EQ(One(StepKind::kOpenExpected,
                [&](Step& step) {
                  step.path = link.c_str();
                  step.value = O_RDONLY;
                  step.data = &any;
                  step.target = Slot(0);
                }),
            "open-as-shown: ELOOP");
}

TEST(RunChild, MountStepsNeedTheCellsCapabilities) {
  const std::uint64_t own = CLONE_NEWUSER | CLONE_NEWNS;
  const MountArguments tmpfs = {"tmpfs", "size=4096"};
  const auto add = [&](StepList& steps) {
    steps.Add(StepKind::kMakePrivate);
    Step& mount = steps.Add(StepKind::kMount);
    mount.text = "tmpfs";
    mount.path = "/proc";
    mount.data = &tmpfs;
    Step& seal = steps.Add(StepKind::kMountAttributes);
    seal.path = "/proc";
    seal.value = MOUNT_ATTR_RDONLY;
    Step& unmount = steps.Add(StepKind::kUnmount);
    unmount.path = "/proc";
    unmount.value = MNT_DETACH;
  };
  EXPECT_EQ(After(add, own), "ready");
  EXPECT_EQ(
      One(StepKind::kUnmount, [](Step& step) { step.path = "/usr/bin"; }, own), "unmount: EINVAL");
  EXPECT_NE(One(StepKind::kPivotRoot, [](Step&) {}, own), "ready");
  EXPECT_EQ(One(
                StepKind::kMoveMount, [](Step& step) { step.path = "/proc"; }, own),
            "place-mount: EBADF");
  EXPECT_EQ(One(
                StepKind::kBindFile, [](Step& step) { step.path = "/proc"; }, own),
            "place-pinned-file: EBADF");
}

TEST(RunChild, LoopbackAndHostNameBelongToTheCell) {
  EXPECT_EQ(One(StepKind::kLoopbackUp, [](Step&) {}, CLONE_NEWUSER | CLONE_NEWNET), "ready");
  EXPECT_EQ(One(
                StepKind::kSetHostName,
                [](Step& step) {
                  step.text = "cell";
                  step.value = 4;
                },
                CLONE_NEWUSER | CLONE_NEWUTS),
            "ready");
  EXPECT_EQ(One(
                StepKind::kSetHostName,
                [](Step& step) {
                  step.text = "cell";
                  step.value = 4;
                },
                CLONE_NEWUSER),
            "set-host-name: EPERM");
}

TEST(RunChild, PrivilegeStepsInTheirOrder) {
  const LandlockRuleset ruleset = CellRuleset(LandlockAbi());
  EXPECT_EQ(After(
                [&](StepList& steps) {
                  steps.Add(StepKind::kDropBounding).value = 40;
                  steps.Add(StepKind::kSetCapabilities).value = 0;
                  steps.Add(StepKind::kNoNewPrivileges);
                  Step& create = steps.Add(StepKind::kLandlockCreate);
                  create.data = &ruleset;
                  create.data_size = RulesetSize(LandlockAbi());
                  create.target = Slot(3);
                  Step& rule = steps.Add(StepKind::kLandlockRule);
                  rule.fd = Slot(3);
                  rule.path = "/usr";
                  rule.value = LandlockRights(LandlockAccess::kRead, LandlockAbi(), true);
                  steps.Add(StepKind::kLandlockRestrict).fd = Slot(3);
                  steps.Add(StepKind::kDeathSignal);
                  steps.Add(StepKind::kNotDumpable);
                  steps.Add(StepKind::kIgnoreChildren);
                  steps.Add(StepKind::kUnblockSignals);
                  steps.Add(StepKind::kSetPriority);
                },
                CLONE_NEWUSER),
            "ready");
  EXPECT_EQ(One(StepKind::kLandlockRestrict, [](Step&) {}),
            geteuid() == 0 ? "landlock: EBADF" : "landlock: EPERM");
}

TEST(RunChild, CapabilityThatTheChildLacksIsAFailure) {
  EXPECT_EQ(After([](StepList& steps) {
              steps.Add(StepKind::kSetCapabilities).value = 0;
              steps.Add(StepKind::kSetCapabilities).value = 1;
            }),
            "set-capabilities: EPERM");
}

TEST(RunChild, LimitsAndDescriptors) {
  const rlimit64 files = {100, 100};
  EXPECT_EQ(After([&](StepList& steps) {
              steps.Add(StepKind::kNewSession);
              Step& limit = steps.Add(StepKind::kSetLimit);
              limit.value = RLIMIT_NOFILE;
              limit.data = &files;
              Step& duplicate = steps.Add(StepKind::kDuplicate);
              duplicate.fd = 2;
              duplicate.target = 5;
              Step& range = steps.Add(StepKind::kCloseRange);
              range.value = 3;
              range.target = kReportFd - 1;
            }),
            "ready");
  const rlimit64 inverted = {200, 100};
  EXPECT_EQ(One(StepKind::kSetLimit,
                [&](Step& step) {
                  step.value = RLIMIT_NOFILE;
                  step.data = &inverted;
                }),
            "set-limit: EINVAL");
  EXPECT_EQ(One(StepKind::kDuplicate,
                [](Step& step) {
                  step.fd = 999;
                  step.target = 5;
                }),
            "standard-streams: EBADF");
  EXPECT_EQ(One(StepKind::kEnterDirectory, [](Step& step) { step.fd = 999; }),
            "enter-directory: EBADF");
  EXPECT_EQ(One(StepKind::kNewNamespace, [](Step& step) { step.value = 1; }),
            "new-namespace: EINVAL");
  EXPECT_EQ(One(StepKind::kJoinNamespace, [](Step& step) { step.fd = 999; }),
            "join-namespace: EBADF");
}

TEST(RunChild, ExecFailureIsReportedWithItsErrno) {
  const ScratchDirectory directory;
  const UniqueFd fd(
      open(directory.Write("text", "not a program", 0755).c_str(), O_PATH | O_CLOEXEC));
  EXPECT_EQ(One(StepKind::kExec, [&](Step& step) { step.fd = fd.get(); }), "exec: ENOEXEC");
}

TEST(RunChild, FilterThatIsNoFilterIsRefused) {
  EXPECT_EQ(After([](StepList& steps) {
              steps.Add(StepKind::kNoNewPrivileges);
              Step& filter = steps.Add(StepKind::kSeccomp);
              filter.data = "";
              filter.data_size = 0;
            }),
            "seccomp: EINVAL");
}

}  // namespace
}  // namespace warder::sandbox
