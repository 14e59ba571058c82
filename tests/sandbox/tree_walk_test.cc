#include "sandbox/tree_walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

#include "tests/support/temp_tree.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::TempTree;

struct Walked {
  std::vector<std::string> directories;
  std::set<std::string> names;
  std::vector<WalkGap> gaps;
  std::size_t gap_count = 0;
};

Walked WalkAll(const std::string& path, const WalkLimits& limits = {}) {
  const UniqueFd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  TreeWalk walk(root.get(), limits);
  Walked walked;
  while (const WalkDirectory* directory = walk.Next()) {
    walked.directories.push_back(directory->path);
    for (const WalkEntry& entry : directory->entries) {
      walked.names.insert(JoinPath(directory->path, entry.name));
    }
  }
  walked.gaps = walk.gaps();
  walked.gap_count = walk.gap_count();
  return walked;
}

TEST(TreeWalk, NearestDirectoriesComeFirstAndNoLinkIsFollowed) {
  const TempTree tree;
  tree.Write("a/b/c", "");
  tree.Write("z/y", "");
  tree.Link("link", "a");
  const Walked walked = WalkAll(tree.path());
  ASSERT_EQ(walked.directories.size(), 4u);
  EXPECT_EQ(walked.directories[0], "");
  EXPECT_EQ(walked.directories[3], "a/b");
  EXPECT_EQ(walked.names, (std::set<std::string>{"a", "a/b", "a/b/c", "z", "z/y", "link"}));
  EXPECT_EQ(walked.gap_count, 0u);
}

TEST(TreeWalk, FifosAndHostileNamesAreListedAndNotOpened) {
  const TempTree tree;
  ASSERT_EQ(mkfifo(tree.At("AGENTS.md").c_str(), 0600), 0);
  const std::string longest(255, 'x');
  for (const std::string& name : {std::string("-rf"), std::string("a\nb"), std::string("\xff\xfe"),
                                  std::string("\x1b[2J"), std::string("..\n"), longest}) {
    tree.Write("d/" + name, "");
  }
  const Walked walked = WalkAll(tree.path());
  EXPECT_EQ(walked.names.size(), 8u);
  EXPECT_TRUE(walked.names.contains("d/" + longest));
  EXPECT_TRUE(walked.names.contains("d/\xff\xfe"));
}

TEST(TreeWalk, TooManyFilesAreAGap) {
  const TempTree tree;
  for (int i = 0; i < 20; ++i) tree.Write("d/" + std::to_string(i), "");
  const Walked walked = WalkAll(tree.path(), {.entries = 10});
  EXPECT_EQ(walked.names.size(), 10u);
  ASSERT_EQ(walked.gap_count, 1u);
  EXPECT_EQ(walked.gaps[0].path, "d");
  EXPECT_EQ(walked.gaps[0].why, "more than 10 files");
}

TEST(TreeWalk, TimeAndWaitingDirectoriesAreBounded) {
  const TempTree tree;
  for (int i = 10; i < 30; ++i) tree.Directory("d/" + std::to_string(i));
  const Walked late = WalkAll(tree.path(), {.time_us = -1});
  EXPECT_TRUE(late.directories.empty());
  ASSERT_EQ(late.gap_count, 1u);
  EXPECT_EQ(late.gaps[0].why, "the time for looking was over");
  const Walked full = WalkAll(tree.path(), {.waiting_bytes = 12});
  EXPECT_EQ(full.directories.size(), 5u);
  EXPECT_EQ(full.gap_count, 17u);
  EXPECT_EQ(full.gaps.size(), TreeWalk::kMaxGaps);
}

TEST(TreeWalk, DirectoryThatMayNotBeListedIsAGap) {
  const TempTree tree;
  tree.Write("closed/f", "");
  ASSERT_EQ(chmod(tree.At("closed").c_str(), 0), 0);
  const Walked walked = WalkAll(tree.path());
  ASSERT_EQ(chmod(tree.At("closed").c_str(), 0700), 0);
  if (geteuid() == 0) {
    EXPECT_TRUE(walked.names.contains("closed/f")) << "root lists every directory";
    return;
  }
  ASSERT_EQ(walked.gap_count, 1u);
  EXPECT_EQ(walked.gaps[0].path, "closed");
  EXPECT_EQ(walked.gaps[0].why, "Permission denied");
}

TEST(TreeWalk, DirectoryWhosePathIsTooLongIsAGap) {
  constexpr int kLevels = 20;  // 255 bytes each: PATH_MAX is 4096
  const std::string name(255, 'd');
  const TempTree tree;
  UniqueFd at(::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kLevels; ++i) {
    ASSERT_EQ(mkdirat(at.get(), name.c_str(), 0755), 0);
    at.Reset(openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.ok());
  }
  const Walked walked = WalkAll(tree.path());
  EXPECT_EQ(walked.directories.size(), 17u);  // the root and 16 levels
  ASSERT_EQ(walked.gap_count, 1u);
  EXPECT_EQ(walked.gaps[0].why, "lies deeper than a path can say");
  for (int i = 0; i < kLevels; ++i) {
    at.Reset(openat(at.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(unlinkat(at.get(), name.c_str(), AT_REMOVEDIR), 0);
  }
}

}  // namespace
}  // namespace warder::sandbox
