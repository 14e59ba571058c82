#include "sandbox/protected_paths.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_tree.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::TempTree;

// One line a node ("+" where only the place is fixed), then one an absent name.
std::string Found(const TempTree& tree, const std::vector<std::string>& paths) {
  const std::string root_path = tree.At("ws");
  const UniqueFd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<ProtectedPath> rules;
  for (const std::string& path : paths) rules.push_back({path, "test"});
  auto found = FindProtected(root.get(), root_path, rules);
  if (!found.ok()) return "ERROR " + std::string(found.status().message());
  std::string text;
  for (const ProtectedNode& node : found->nodes) {
    text += (node.writable ? "+" : "=") + node.path + "\n";
  }
  for (const std::string& path : found->absent) text += "-" + path + "\n";
  return text;
}

TEST(FindProtected, DirectoriesAboveAreOnlyFixedInPlace) {
  const TempTree tree;
  tree.Write("ws/a/b/c", "");
  EXPECT_EQ(Found(tree, {"a/b/c"}), "+a\n+a/b\n=a/b/c\n");
  EXPECT_EQ(Found(tree, {"a/b/c", "a"}), "=a\n+a/b\n=a/b/c\n");
  EXPECT_EQ(Found(tree, {"a", "a/b/c"}), "=a\n+a/b\n=a/b/c\n");
}

TEST(FindProtected, AbsentNamesAreListedAndTheirDirectoriesHeld) {
  const TempTree tree;
  tree.Directory("ws/.git");
  EXPECT_EQ(Found(tree, {".git/hooks", ".basis"}), "+.git\n-.basis\n-.git/hooks\n");
}

TEST(FindProtected, FileInPlaceOfADirectoryStaysAFile) {
  const TempTree tree;
  tree.Write("ws/a", "");
  EXPECT_EQ(Found(tree, {"a/b"}), "=a\n");
}

TEST(FindProtected, LinkAndItsTargetInTheWorkspaceAreProtected) {
  const TempTree tree;
  tree.Write("ws/shared/hooks/pre-commit", "");
  tree.Directory("ws/.git");
  tree.Link("ws/.git/hooks", "../shared/hooks");
  EXPECT_EQ(Found(tree, {".git/hooks"}), "+.git\n=.git/hooks\n+shared\n=shared/hooks\n");
}

TEST(FindProtected, LinkAboveAProtectedNameIsFollowed) {
  const TempTree tree;
  tree.Write("ws/real/config", "");
  tree.Link("ws/.git", tree.At("ws/real"));
  EXPECT_EQ(Found(tree, {".git/config"}), "=.git\n+real\n=real/config\n");
  tree.Write("ws/real/modules/lib/HEAD", "");
  EXPECT_NE(Found(tree, {".git/config"}).find("-real/modules/lib/config\n"), std::string::npos);
}

TEST(FindProtected, LinksThatLeadOutDangleOrLoopAreProtectedThemselves) {
  const TempTree tree;
  tree.Write("outside/config", "");
  tree.Directory("ws");
  tree.Link("ws/a", "../outside/config");
  tree.Link("ws/b", tree.At("outside/config"));
  tree.Link("ws/c", "sub/none");
  tree.Link("ws/d", "d");
  EXPECT_EQ(Found(tree, {"a", "b", "c", "d"}), "=a\n=b\n=c\n=d\n-sub/none\n");
}

TEST(FindProtected, WorktreePointerLeadsToTheRepositoryAndToWhatItShares) {
  const TempTree tree;
  tree.Write("ws/.git", "gitdir: main/.git/worktrees/w\n");
  tree.Write("ws/main/.git/worktrees/w/commondir", "../..\n");
  tree.Write("ws/main/.git/config", "");
  EXPECT_EQ(Found(tree, {".git/config"}),
            "=.git\n+main\n+main/.git\n=main/.git/config\n+main/.git/worktrees\n"
            "+main/.git/worktrees/w\n-main/.git/worktrees/w/config\n");
}

TEST(FindProtected, PointerThatLeadsOutIsProtectedItself) {
  const TempTree tree;
  tree.Write("main/.git/worktrees/w/commondir", "../..\n");
  tree.Write("ws/.git", "gitdir: " + tree.At("main/.git/worktrees/w") + "\n");
  EXPECT_EQ(Found(tree, {".git/config"}), "=.git\n");
  tree.Write("ws/.git", "gitdir: ../main/.git/worktrees/w\n");
  EXPECT_EQ(Found(tree, {".git/config"}), "=.git\n");
}

TEST(FindProtected, SubmodulesAreRepositoriesToo) {
  const TempTree tree;
  tree.Write("ws/.git/config", "");
  tree.Write("ws/.git/modules/lib/a/HEAD", "");
  tree.Write("ws/.git/modules/lib/a/config", "");
  tree.Write("ws/.git/modules/lib/a/modules/b/HEAD", "");
  EXPECT_EQ(Found(tree, {".git/config"}),
            "+.git\n=.git/config\n+.git/modules\n+.git/modules/lib\n+.git/modules/lib/a\n"
            "=.git/modules/lib/a/config\n+.git/modules/lib/a/modules\n"
            "+.git/modules/lib/a/modules/b\n-.git/modules/lib/a/modules/b/config\n");
  EXPECT_EQ(Found(tree, {".basis"}), "-.basis\n") << "only rules about git look there";
}

TEST(FindProtected, FifoUnderAProtectedNameIsRefusedByName) {
  const TempTree tree;
  tree.Directory("ws");
  ASSERT_EQ(mkfifo(tree.At("ws/.basis").c_str(), 0600), 0);
  EXPECT_EQ(Found(tree, {".basis"}).rfind("ERROR " + tree.At("ws/.basis") + ": is a FIFO", 0), 0u);
  EXPECT_EQ(Found(tree, {".basis/tools.json"}).rfind("ERROR ", 0), 0u);
}

// A tool wrote the pointer: it must not make the search wait, read much, or run for ever.
TEST(FindProtected, HostilePointersEnd) {
  const TempTree tree;
  tree.Write("ws/.git", "gitdir: .git\n");
  EXPECT_EQ(Found(tree, {".git/config"}), "=.git\n");
  tree.Write("ws/.git", "gitdir: x/.git\n");
  tree.Write("ws/x/.git", "gitdir: ../.git\n");
  EXPECT_NE(Found(tree, {".git/config"}).find("=.git\n"), std::string::npos);
  tree.Write("ws/.git", std::string(1u << 20, 'g'));
  EXPECT_EQ(Found(tree, {".git/config"}), "=.git\n");
  tree.Write("ws/.git", "gitdir: " + std::string("a\0b", 3));
  EXPECT_NE(Found(tree, {".git/config"}).find("=.git\n"), std::string::npos);
}

}  // namespace
}  // namespace warder::sandbox
