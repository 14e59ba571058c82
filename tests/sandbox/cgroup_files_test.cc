#include "sandbox/cgroup_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "tests/support/in_child.h"
#include "tests/support/in_launcher.h"
#include "tests/support/own_group.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::ExitCodeOf;
using ::warder::testing::OwnGroup;
using ::warder::testing::ScratchDirectory;
using ::warder::testing::StartChild;

// Values of a group's files are read from plain files here: they are ordinary text.
class GroupText : public ::testing::Test {
 protected:
  int Dir() const { return dir_.get(); }
  const ScratchDirectory scratch_;
  const UniqueFd dir_{open(scratch_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(GroupText, CountersAreFoundByTheirWholeName) {
  scratch_.Write("memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 1\n");
  EXPECT_EQ(GroupCounter(Dir(), "memory.events", "oom_kill"), 2u);
  EXPECT_EQ(GroupCounter(Dir(), "memory.events", "oom"), 3u);
  EXPECT_EQ(GroupCounter(Dir(), "memory.events", "kill"), std::nullopt);
  EXPECT_EQ(GroupCounter(Dir(), "no.such.file", "oom"), std::nullopt);
}

TEST_F(GroupText, ALinkIsNoGroupFile) {
  scratch_.Write("target", "1\n");
  ASSERT_EQ(symlinkat("target", Dir(), "memory.max"), 0);
  EXPECT_FALSE(ReadGroupFile(Dir(), "memory.max").ok());
  EXPECT_FALSE(WriteGroupFile(Dir(), "memory.max", "2").ok());
  EXPECT_EQ(ReadGroupFile(Dir(), "target").value(), "1");
}

TEST_F(GroupText, WritingNamesTheFileAndNeverMakesOne) {
  const absl::Status status = WriteGroupFile(Dir(), "memory.max", "1");
  EXPECT_NE(std::string(status.message()).find("memory.max"), std::string::npos) << status;
  EXPECT_FALSE(HasGroupFile(Dir(), "memory.max"));
}

TEST_F(GroupText, SweepLeavesDirectoriesThatAreNoGroupsOfOurs) {
  ASSERT_EQ(mkdirat(Dir(), "other-1", 0755), 0);
  ASSERT_EQ(mkdirat(Dir(), "warder-1", 0755), 0);
  SweepGroups(Dir());
  EXPECT_EQ(faccessat(Dir(), "other-1", F_OK, 0), 0);
  EXPECT_NE(faccessat(Dir(), "warder-1", F_OK, 0), 0);
}

// On the kernel's own trees: "" is v2.
class Group : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!parent_.ok()) GTEST_SKIP() << "no control group of ours that we may write to";
  }
  static pid_t Sleeper(int group) {
    return StartChild([group] {
      if (!WriteGroupFile(group, "cgroup.procs", "0").ok()) return 1;
      pause();
      return 0;
    });
  }
  // Until the child has moved itself.
  static bool AwaitMember(int group, pid_t pid) {
    for (int i = 0; i < 1000; ++i) {
      if (ReadGroupFile(group, "cgroup.procs").value_or("") == std::to_string(pid)) return true;
      usleep(2000);
    }
    return false;
  }
  bool Exists(const std::string& name) const {
    return faccessat(parent_.get(), name.c_str(), F_OK, 0) == 0;
  }

  const UniqueFd parent_ = OwnGroup(GetParam());
  const std::string name_ = std::string(kGroupPrefix) + std::to_string(getpid()) + "-test";
};

TEST_P(Group, RemovingEndsWhatIsInIt) {
  auto group = MakeGroup(parent_.get(), name_);
  ASSERT_TRUE(group.ok()) << group.status();
  const pid_t pid = Sleeper(group->get());
  ASSERT_TRUE(AwaitMember(group->get(), pid));
  EXPECT_EQ(MakeGroup(parent_.get(), name_).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(RemoveGroup(parent_.get(), name_, group->get()));
  EXPECT_FALSE(Exists(name_));
  EXPECT_EQ(ExitCodeOf(pid), 128 + 9);
}

TEST_P(Group, SweepTakesTheGroupOfADeadLauncherAndLeavesThatOfALivingOne) {
  auto living = MakeGroup(parent_.get(), name_);
  ASSERT_TRUE(living.ok()) << living.status();
  const std::string dead = name_ + "-dead";
  pid_t inside = 0;
  {
    auto group = MakeGroup(parent_.get(), dead);
    ASSERT_TRUE(group.ok()) << group.status();
    inside = Sleeper(group->get());
    ASSERT_TRUE(AwaitMember(group->get(), inside));
    SweepGroups(parent_.get());
    EXPECT_TRUE(Exists(dead));
    // The child has a copy of the descriptor, and with it the lock, until it is gone.
    flock(group->get(), LOCK_UN);
  }
  SweepGroups(parent_.get());
  EXPECT_FALSE(Exists(dead));
  EXPECT_TRUE(Exists(name_));
  EXPECT_EQ(ExitCodeOf(inside), 128 + 9);
  EXPECT_TRUE(RemoveGroup(parent_.get(), name_, living->get()));
}

TEST_P(Group, OthersCannotOpenAndSoCannotLockIt) {
  auto group = MakeGroup(parent_.get(), name_);
  ASSERT_TRUE(group.ok()) << group.status();
  struct stat status = {};
  ASSERT_EQ(fstat(group->get(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0700u);
  EXPECT_TRUE(RemoveGroup(parent_.get(), name_, group->get()));
}

INSTANTIATE_TEST_SUITE_P(Trees, Group, ::testing::Values("", "memory", "pids"),
                         [](const auto& tree) {
                           return std::string(*tree.param == '\0' ? "unified" : tree.param);
                         });

}  // namespace
}  // namespace warder::sandbox
