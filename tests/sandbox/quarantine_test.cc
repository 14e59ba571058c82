#include "sandbox/quarantine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/unique_fd.h"
#include "tests/support/temp_tree.h"

namespace warder::sandbox {
namespace {

namespace fs = std::filesystem;
using ::warder::testing::TempTree;

std::vector<Quarantined> Quarantine(const TempTree& tree, const std::vector<std::string>& absent,
                                    const std::string& directory) {
  const UniqueFd root(::open(tree.At("ws").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return QuarantineAppeared(root.get(), tree.At("ws"), absent, directory);
}

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Quarantine, NothingAppearedAndNothingIsMade) {
  const TempTree tree;
  tree.Directory("ws/.git");
  EXPECT_TRUE(Quarantine(tree, {".git/hooks", "a/b/c"}, tree.At("q")).empty());
  EXPECT_FALSE(fs::exists(tree.At("q")));
}

TEST(Quarantine, WhatAppearedIsMovedWhole) {
  const TempTree tree;
  tree.Write("ws/.git/hooks/pre-commit", "evil");
  tree.Write("ws/.git/index", "");
  tree.Write("ws/.basis", "x");
  const auto moved = Quarantine(tree, {".basis", ".git/config", ".git/hooks"}, tree.At("q"));
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[0].path, ".basis");
  EXPECT_EQ(moved[1].path, ".git/hooks");
  EXPECT_EQ(moved[1].fault, "");
  EXPECT_EQ(Text(moved[1].moved_to + "/pre-commit"), "evil");
  EXPECT_TRUE(moved[1].moved_to.starts_with(tree.At("q/")));
  EXPECT_FALSE(fs::exists(tree.At("ws/.git/hooks")));
  EXPECT_TRUE(fs::exists(tree.At("ws/.git/index")));
  struct stat status = {};
  ASSERT_EQ(stat(tree.At("q").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST(Quarantine, LinkOrFileInPlaceOfADirectoryIsMovedItself) {
  const TempTree tree;
  tree.Write("ws/evil/hooks/pre-commit", "evil");
  tree.Link("ws/.git", "evil");
  tree.Write("ws/.basis", "x");
  const auto moved =
      Quarantine(tree, {".basis/tools.json", ".git/config", ".git/hooks"}, tree.At("q"));
  ASSERT_EQ(moved.size(), 2u) << "the link goes once";
  EXPECT_EQ(moved[0].path, ".basis");
  EXPECT_EQ(moved[1].path, ".git");
  EXPECT_TRUE(fs::is_symlink(moved[1].moved_to));
  EXPECT_TRUE(fs::exists(tree.At("ws/evil/hooks/pre-commit"))) << "nothing is followed";
}

TEST(Quarantine, OnAnotherFileSystemItStaysBesideUnderANeutralName) {
  const TempTree tree;
  tree.Write("ws/.git/hooks/pre-commit", "evil");
  struct stat here = {}, there = {};
  ASSERT_EQ(stat(tree.path().c_str(), &here), 0);
  ASSERT_EQ(stat("/dev/shm", &there), 0);
  ASSERT_NE(here.st_dev, there.st_dev) << "/dev/shm must be a file system of its own";
  const std::string other = "/dev/shm/warder-test-" + std::to_string(getpid());
  const auto moved = Quarantine(tree, {".git/hooks"}, other);
  EXPECT_EQ(rmdir(other.c_str()), 0) << "it is empty";
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_TRUE(moved[0].moved_to.starts_with(tree.At("ws/.git/warder-quarantine-")));
  EXPECT_EQ(Text(moved[0].moved_to + "/pre-commit"), "evil");
  EXPECT_FALSE(fs::exists(tree.At("ws/.git/hooks")));
}

TEST(Quarantine, DirectoryThatCannotBeMadeStillTakesTheNameAway) {
  const TempTree tree;
  tree.Write("ws/.basis", "x");
  tree.Write("file", "");
  const auto moved = Quarantine(tree, {".basis"}, tree.At("file/q"));
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_TRUE(moved[0].moved_to.starts_with(tree.At("ws/warder-quarantine-")));
  EXPECT_FALSE(fs::exists(tree.At("ws/.basis")));
}

TEST(Quarantine, FullDirectoryTakesNoMoreAndLosesNothing) {
  const TempTree tree;
  for (std::size_t i = 0; i < kMaxQuarantined - 1; ++i) tree.Write("q/" + std::to_string(i), "");
  tree.Write("ws/.basis", "last");
  auto moved = Quarantine(tree, {".basis"}, tree.At("q"));
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_TRUE(moved[0].moved_to.starts_with(tree.At("q/"))) << "there was room for one";
  EXPECT_EQ(moved[0].fault, "");
  tree.Write("ws/.basis", "one more");
  moved = Quarantine(tree, {".basis"}, tree.At("q"));
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(Text(moved[0].moved_to), "one more");
  EXPECT_TRUE(moved[0].moved_to.starts_with(tree.At("ws/warder-quarantine-")));
  EXPECT_EQ(moved[0].fault, tree.At("q") + ": holds 256 things already; empty it");
  EXPECT_FALSE(fs::exists(tree.At("ws/.basis")));
}

TEST(Quarantine, ClosedFifoOrUnreadableThingsAreMovedUnopened) {
  const TempTree tree;
  tree.Directory("ws/.basis");
  ASSERT_EQ(chmod(tree.At("ws/.basis").c_str(), 0), 0);
  ASSERT_EQ(mkfifo(tree.At("ws/.mcp.json").c_str(), 0), 0);
  const auto moved = Quarantine(tree, {".basis", ".mcp.json"}, tree.At("q"));
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_NE(moved[0].moved_to, "") << moved[0].fault;
  EXPECT_TRUE(fs::is_fifo(moved[1].moved_to));
}

}  // namespace
}  // namespace warder::sandbox
