#include "supervisor/sensitive_changes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "manifest/digest.h"
#include "tests/support/call_fixture.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

namespace fs = std::filesystem;
using ::warder::testing::TempTree;
using ::warder::testing::WorkspaceAt;

// Returns once the clock of file times has moved on: what is written before and after then differs.
void NextTick() {
  timespec before = {}, now = {};
  clock_gettime(CLOCK_REALTIME, &before);
  do {
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
  } while (std::tie(now.tv_sec, now.tv_nsec) <= std::tie(before.tv_sec, before.tv_nsec));
}

// Stands for a call: what happens between Scan and Found is the tool's work.
class SensitiveChangesTest : public ::testing::Test {
 protected:
  void Start(std::vector<sandbox::ProtectedPath> protect = {}) {
    sandbox::FilesystemPolicy policy;
    policy.protect = std::move(protect);
    NextTick();
    scan_ = std::make_unique<SensitiveScan>(workspace_, policy);
  }
  SensitiveChanges Take(const std::vector<sandbox::Quarantined>& quarantined = {}) {
    while (scan_->Step()) continue;
    return scan_->Take(quarantined);
  }
  std::string Found() {
    std::string text;
    for (const SensitiveChange& change : Take().changes) {
      text += change.kind + " " + change.path + "\n";
    }
    return text;
  }

  TempTree tree_;
  manifest::Workspace workspace_ = WorkspaceAt(tree_.Directory("ws"));
  std::unique_ptr<SensitiveScan> scan_;
};

TEST_F(SensitiveChangesTest, WhatWasThereBeforeIsNotReported) {
  tree_.Write("ws/.git/hooks/pre-commit", "x");
  tree_.Write("ws/AGENTS.md", "x");
  tree_.Write("ws/suid", "x", 04755);
  tree_.Link("ws/out", "/etc/passwd");
  Start();
  tree_.Write("ws/src/main.c", "x");
  tree_.Write("ws/Makefile", "x");
  EXPECT_EQ(Found(), "");
}

TEST_F(SensitiveChangesTest, NewAndRewrittenConfigurationIsReportedWithItsDigest) {
  tree_.Write("ws/AGENTS.md", "old");
  Start();
  tree_.Write("ws/AGENTS.md", "new");
  const SensitiveChanges found = Take();
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_EQ(found.changes[0].path, "AGENTS.md");
  EXPECT_EQ(found.changes[0].sha256, manifest::Digest("new"));
  EXPECT_EQ(found.unseen_count, 0u);
}

TEST_F(SensitiveChangesTest, WriteThroughAnotherHardLinkIsSeen) {
  tree_.Write("ws/.git/config", "old");
  fs::create_hard_link(tree_.At("ws/.git/config"), tree_.At("ws/other"));
  Start({{".git/config", "test"}});
  FILE* file = fopen(tree_.At("ws/other").c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("new", file);
  fclose(file);
  EXPECT_EQ(Found(), "git configuration .git/config\n");
}

TEST_F(SensitiveChangesTest, RepositoriesAreKnownByTheirContent) {
  Start();
  for (const char* repository : {"ws/sub/.git/", "ws/bare/"}) {
    tree_.Write(std::string(repository) + "HEAD", "ref: refs/heads/main\n");
    tree_.Directory(std::string(repository) + "objects");
    tree_.Directory(std::string(repository) + "refs");
    tree_.Write(std::string(repository) + "config", "");
    tree_.Write(std::string(repository) + "hooks/post-checkout", "");
    tree_.Write(std::string(repository) + "hooks/pre-commit.sample", "");
  }
  EXPECT_EQ(Found(),
            "git configuration bare/config\ngit hook bare/hooks/post-checkout\n"
            "git configuration sub/.git/config\ngit hook sub/.git/hooks/post-checkout\n");
}

TEST_F(SensitiveChangesTest, OldFilesMovedToASensitivePlaceAreReported) {
  tree_.Write("ws/harmless/hooks/post-checkout", "x");
  tree_.Write("ws/words/settings.json", "x");
  tree_.Directory("ws/sub");
  Start();
  fs::rename(tree_.At("ws/harmless"), tree_.At("ws/sub/.git"));
  fs::rename(tree_.At("ws/words"), tree_.At("ws/.claude"));
  EXPECT_EQ(Found(),
            "agent configuration .claude/settings.json\ngit hook sub/.git/hooks/post-checkout\n");
}

TEST_F(SensitiveChangesTest, GitThatRunsInARepositoryChangesNothingSensitive) {
  tree_.Write("ws/.git/config", "x");
  tree_.Write("ws/.git/hooks/pre-commit", "x");
  Start({{".git/config", "test"}});
  tree_.Write("ws/.git/index", "x");
  tree_.Write("ws/file", "x");
  EXPECT_EQ(Found(), "");
}

TEST_F(SensitiveChangesTest, StrangeKindsOfFileAreReported) {
  Start();
  tree_.Write("ws/suid", "x", 04755);
  tree_.Write("ws/sgid", "x", 02755);
  ASSERT_EQ(mkfifo(tree_.At("ws/fifo").c_str(), 0600), 0);
  ASSERT_EQ(mknod(tree_.At("ws/sock").c_str(), S_IFSOCK | 0600, 0), 0);
  std::string expected = "FIFO fifo\nset-group-id file sgid\nsocket sock\nset-user-id file suid\n";
  if (geteuid() == 0) {
    ASSERT_EQ(mknod(tree_.At("ws/gone").c_str(), S_IFCHR, makedev(0, 0)), 0);
    ASSERT_EQ(mknod(tree_.At("ws/null").c_str(), S_IFCHR | 0600, makedev(1, 3)), 0);
    expected += "whiteout gone\ndevice node null\n";
  }
  std::string found;
  for (const SensitiveChange& change : Take().changes) {
    const std::string line = change.kind + " " + change.path + "\n";
    EXPECT_NE(expected.find(line), std::string::npos) << line;
    found += line;
  }
  EXPECT_EQ(found.size(), expected.size()) << found;
}

void Append(const std::string& path) {
  FILE* file = fopen(path.c_str(), "a");
  ASSERT_NE(file, nullptr);
  fputs("more", file);
  fclose(file);
}

TEST_F(SensitiveChangesTest, FileThatHasANameOutsideIsReportedWhenItChanges) {
  tree_.Write("outside", "x");
  fs::create_hard_link(tree_.At("outside"), tree_.At("ws/shared"));
  fs::create_hard_link(tree_.At("outside"), tree_.At("ws/again"));
  tree_.Write("untouched", "x");
  fs::create_hard_link(tree_.At("untouched"), tree_.At("ws/untouched"));
  tree_.Write("ws/both", "x");
  fs::create_hard_link(tree_.At("ws/both"), tree_.At("ws/names"));
  Start();
  Append(tree_.At("ws/shared"));
  Append(tree_.At("ws/both"));
  const SensitiveChanges found = Take();
  ASSERT_EQ(found.changes.size(), 1u) << "once for the file";
  EXPECT_EQ(found.changes[0].kind, "file with a name elsewhere");
  EXPECT_TRUE(found.changes[0].path == "shared" || found.changes[0].path == "again");
}

TEST_F(SensitiveChangesTest, AttributesThatHideFilesFromAnOverlayAreReported) {
  tree_.Directory("ws/opaque");
  tree_.Directory("ws/harmless");
  tree_.Write("ws/moved", "x");
  tree_.Write("ws/old", "x");
  const auto set = [&](const char* path, const char* name) {
    ASSERT_EQ(setxattr(tree_.At(path).c_str(), name, "y", 1, 0), 0) << path << strerror(errno);
  };
  set("ws/old", "user.overlay.redirect");
  Start();
  set("ws", "user.overlay.opaque");
  set("ws/opaque", "user.overlay.opaque");
  set("ws/moved", "user.overlay.redirect");
  set("ws/harmless", "user.comment");
  std::set<std::string> lines;
  for (const SensitiveChange& change : Take().changes) {
    lines.insert(change.kind + " " + change.path);
  }
  EXPECT_EQ(lines, (std::set<std::string>{"overlay attribute .", "overlay attribute moved",
                                          "overlay attribute opaque"}));
}

TEST_F(SensitiveChangesTest, RemovedConfigurationIsReported) {
  tree_.Write("ws/.envrc", "x");
  tree_.Write("ws/AGENTS.md", "x");
  tree_.Write("ws/.github/workflows/check.yml", "x");
  Start();
  fs::remove(tree_.At("ws/.envrc"));
  fs::remove_all(tree_.At("ws/.github"));
  std::set<std::string> lines;
  for (const SensitiveChange& change : Take().changes) {
    EXPECT_TRUE(change.removed) << change.path;
    lines.insert(change.kind + " " + change.path);
  }
  EXPECT_EQ(lines, (std::set<std::string>{"shell configuration .envrc",
                                          "pipeline configuration .github/workflows/check.yml"}));
}

TEST_F(SensitiveChangesTest, LinksAreReportedWhenTheyLeadOut) {
  Start();
  tree_.Link("ws/a", "../outside");
  tree_.Link("ws/b", "/etc/passwd");
  tree_.Link("ws/d/e", "../../ws/x");
  tree_.Link("ws/in1", "d/../x");
  tree_.Link("ws/d/in2", "../x");
  tree_.Link("ws/in3", tree_.At("ws/x"));
  tree_.Link("ws/f", tree_.At("ws-beside"));
  tree_.Link("ws/.git", "d");
  SensitiveChanges found = Take();
  std::set<std::string> lines;
  for (const SensitiveChange& change : found.changes) lines.insert(change.kind + " " + change.path);
  EXPECT_EQ(lines, (std::set<std::string>{"link that leads out a", "link that leads out b",
                                          "link that leads out d/e", "link that leads out f",
                                          "git pointer .git"}));
}

TEST_F(SensitiveChangesTest, FifoUnderANameThatIsReadDoesNotHang) {
  Start();
  ASSERT_EQ(mkfifo(tree_.At("ws/AGENTS.md").c_str(), 0600), 0);
  EXPECT_EQ(Found(), "FIFO AGENTS.md\n");
}

TEST_F(SensitiveChangesTest, AttributesCountWithAFilter) {
  Start();
  tree_.Write("ws/a/.gitattributes", "* text=auto\n");
  tree_.Write("ws/b/.gitattributes", "* filter=evil\n");
  EXPECT_EQ(Found(), "git configuration b/.gitattributes\n");
}

TEST_F(SensitiveChangesTest, TooManyAreCountedAndLargeFilesHaveNoDigest) {
  Start();
  for (std::size_t i = 0; i < kMaxChanges + 5; ++i)
    tree_.Write("ws/.claude/" + std::to_string(i), "");
  tree_.Write("ws/.envrc", std::string(kMaxDigestBytes + 1, 'x'));
  const SensitiveChanges found = Take();
  EXPECT_EQ(found.changes.size(), kMaxChanges);
  EXPECT_EQ(found.left_out, 6u);
  EXPECT_EQ(found.changes[0].path, ".envrc");
  EXPECT_EQ(found.changes[0].sha256, std::nullopt);
}

TEST_F(SensitiveChangesTest, QuarantinedNamesComeFirst) {
  Start();
  tree_.Write("ws/.envrc", "x");
  const SensitiveChanges found = Take({{".git/hooks", "/q/1", ""}, {".basis", "", "no"}});
  ASSERT_EQ(found.changes.size(), 3u);
  EXPECT_EQ(found.changes[0].kind, "protected name");
  EXPECT_EQ(found.changes[0].moved_to, "/q/1");
  EXPECT_EQ(found.changes[1].fault, "no");
  EXPECT_EQ(found.changes[2].path, ".envrc");
}

}  // namespace
}  // namespace warder::supervisor
