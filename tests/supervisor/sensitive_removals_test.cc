#include "supervisor/sensitive_removals.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sandbox/unique_fd.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

namespace fs = std::filesystem;
using ::warder::testing::TempTree;

class SensitiveRemovalsTest : public ::testing::Test {
 protected:
  SensitiveRemovals Look() {
    root_.Reset(open(tree_.Directory("ws").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return SensitiveRemovals(root_.get());
  }
  static std::string Gone(const SensitiveRemovals& removals) {
    std::string text;
    for (const SensitiveRemovals::Name& name : removals.Gone()) {
      text += std::string(name.kind) + " " + name.path + "\n";
    }
    return text;
  }

  TempTree tree_;
  sandbox::UniqueFd root_;
};

TEST_F(SensitiveRemovalsTest, NothingIsGoneWhenNothingWasTakenAway) {
  tree_.Write("ws/.envrc", "x");
  tree_.Write("ws/.git/hooks/pre-commit", "x");
  const SensitiveRemovals removals = Look();
  EXPECT_EQ(Gone(removals), "");
  EXPECT_TRUE(removals.gaps().empty());
}

TEST_F(SensitiveRemovalsTest, HooksAndGitsConfigurationCount) {
  tree_.Write("ws/.git/hooks/pre-commit", "x");
  tree_.Write("ws/.git/hooks/pre-push.sample", "x");
  tree_.Write("ws/.git/config", "x");
  tree_.Write("ws/.git/objects/00/11", "x");
  const SensitiveRemovals removals = Look();
  fs::remove_all(tree_.At("ws/.git"));
  EXPECT_EQ(Gone(removals), "git hook .git/hooks/pre-commit\ngit configuration .git/config\n");
}

TEST_F(SensitiveRemovalsTest, NameThatIsOfAnotherKindNowIsNotGone) {
  tree_.Write("ws/.envrc", "x");
  const SensitiveRemovals removals = Look();
  fs::remove(tree_.At("ws/.envrc"));
  tree_.Link("ws/.envrc", "/nowhere");
  EXPECT_EQ(Gone(removals), "") << "it changed, which is for the look after the call";
}

TEST_F(SensitiveRemovalsTest, OrdinaryFilesAndDeepOnesDoNotCount) {
  tree_.Write("ws/main.c", "x");
  tree_.Write("ws/sub/.envrc", "x");
  tree_.Write("ws/.gitattributes", "* filter=x\n");
  const SensitiveRemovals removals = Look();
  fs::remove_all(tree_.At("ws"));
  EXPECT_EQ(Gone(removals), "");
}

TEST_F(SensitiveRemovalsTest, LinkInPlaceOfASensitiveDirectoryIsNotFollowed) {
  tree_.Write("elsewhere/settings.json", "x");
  tree_.Link("ws/.claude", tree_.At("elsewhere"));
  const SensitiveRemovals removals = Look();
  fs::remove_all(tree_.At("elsewhere"));
  EXPECT_EQ(Gone(removals), "");
}

TEST_F(SensitiveRemovalsTest, WhatIsTooMuchIsSaid) {
  for (std::size_t i = 0; i <= SensitiveRemovals::kLimits.entries; ++i) {
    tree_.Write("ws/.claude/" + std::to_string(i), "");
  }
  const SensitiveRemovals removals = Look();
  ASSERT_EQ(removals.gaps().size(), 1u);
  EXPECT_EQ(removals.gaps()[0].path, ".claude");
  EXPECT_TRUE(removals.gaps()[0].why.starts_with("not looked at before the call"));
}

}  // namespace
}  // namespace warder::supervisor
