#include "sandbox/mount_entries.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::ScratchDirectory;

std::string Collect(const Policy& policy) {
  return InLauncher([&](const Host&) -> std::string {
    MountRequest request;
    request.policy = &policy;
    auto view = CollectView(request);
    if (!view.ok()) return "ERROR " + std::string(view.status().message());
    std::string text;
    for (const MountEntry& entry : view->entries) {
      static constexpr const char* kKinds[] = {"tree", "link", "tmpfs", "overlay", "mask"};
      text += entry.target + " " + kKinds[static_cast<int>(entry.kind)];
      const bool writable = entry.access == LandlockAccess::kReadWrite;
      text += writable && entry.kind == EntryKind::kTree ? " writable\n" : "\n";
    }
    return text;
  });
}

Policy Granting(std::vector<PathGrant> grants) {
  Policy policy;
  policy.name = "test";
  policy.filesystem.grants = std::move(grants);
  return policy;
}

TEST(MountEntries, PathsAreComparedByWholeComponents) {
  EXPECT_TRUE(IsBelow("/a/b", "/a"));
  EXPECT_TRUE(IsBelow("/a", "/a"));
  EXPECT_TRUE(IsBelow("/a", "/"));
  EXPECT_FALSE(IsBelow("/ab", "/a"));
  EXPECT_FALSE(IsBelow("/", "/a"));
}

TEST(MountEntries, ParentsComeBeforeChildrenWhateverTheOrderInTheFile) {
  const ScratchDirectory directory;
  directory.Write("a/b/c", "");
  directory.Write("a-b/c", "");
  const std::string root = directory.path();
  const std::string text = Collect(Granting({{root + "/a/b", PathAccess::kRead, false, "t"},
                                             {root + "/a-b", PathAccess::kRead, false, "t"},
                                             {root + "/a", PathAccess::kRead, false, "t"}}));
  const std::size_t parent = text.find(root + "/a tree");
  const std::size_t child = text.find(root + "/a/b tree");
  ASSERT_NE(parent, std::string::npos) << text;
  ASSERT_NE(child, std::string::npos) << text;
  EXPECT_LT(parent, child);
}

TEST(MountEntries, LinkStaysALinkWhenItsTargetIsGranted) {
  const ScratchDirectory directory;
  directory.Write("real/file", "");
  std::filesystem::create_symlink("real", directory.path() + "/link");
  const std::string text =
      Collect(Granting({{directory.path() + "/real", PathAccess::kRead, false, "t"},
                        {directory.path() + "/link", PathAccess::kRead, false, "t"}}));
  EXPECT_NE(text.find("/link link\n"), std::string::npos) << text;
}

TEST(MountEntries, LinkToAPlaceThatIsNotGrantedBringsItsTarget) {
  const ScratchDirectory directory;
  directory.Write("real/file", "");
  std::filesystem::create_symlink("real/file", directory.path() + "/link");
  const std::string text =
      Collect(Granting({{directory.path() + "/link", PathAccess::kRead, false, "t"}}));
  EXPECT_NE(text.find("/link tree\n"), std::string::npos) << text;
}

TEST(MountEntries, AbsentPathIsAnErrorUnlessOptional) {
  EXPECT_EQ(Collect(Granting({{"/no/such/path", PathAccess::kRead, true, "t"}})).find("/no/such"),
            std::string::npos);
  const std::string text = Collect(Granting({{"/no/such/path", PathAccess::kRead, false, "t"}}));
  EXPECT_EQ(text, "ERROR /no/such/path (policy `test` grants it): No such file or directory");
}

TEST(MountEntries, SocketsAndFifosNeverComeIn) {
  const ScratchDirectory directory;
  const std::string fifo = directory.path() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string text = Collect(Granting({{fifo, PathAccess::kRead, false, "t"}}));
  EXPECT_EQ(text.rfind("ERROR " + fifo + ": is a FIFO; a cell never gets sockets", 0), 0u) << text;
}

TEST(MountEntries, NarrowerGrantOfOnePathWinsInEitherOrder) {
  const ScratchDirectory directory;
  const PathGrant read{directory.path(), PathAccess::kRead, false, "t"};
  const PathGrant write{directory.path(), PathAccess::kReadWrite, false, "t"};
  for (const auto& grants : {std::vector{read, write}, std::vector{write, read}}) {
    const std::string text = Collect(Granting(grants));
    EXPECT_NE(text.find(directory.path() + " tree\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("writable"), std::string::npos) << text;
  }
  EXPECT_NE(Collect(Granting({write})).find(" tree writable\n"), std::string::npos);
}

TEST(MountEntries, HiddenPathIsMaskedByTheNameThatItReallyHas) {
  const ScratchDirectory directory;
  directory.Write("real/secret/key", "k");
  std::filesystem::create_symlink("real", directory.path() + "/link");
  Policy policy = Granting({{directory.path() + "/real", PathAccess::kRead, false, "t"},
                            {directory.path() + "/link", PathAccess::kRead, false, "t"}});
  policy.filesystem.hide = {{directory.path() + "/link/secret", "t"}};
  EXPECT_NE(Collect(policy).find("/real/secret mask\n"), std::string::npos) << Collect(policy);
}

TEST(MountEntries, GrantThatLeadsToAHiddenPlaceIsRefused) {
  const ScratchDirectory directory;
  directory.Write("secret/key", "k");
  std::filesystem::create_symlink("secret/key", directory.path() + "/link");
  Policy policy = Granting({{directory.path() + "/link", PathAccess::kRead, false, "t"}});
  policy.filesystem.hide = {{directory.path() + "/secret", "t"}};
  EXPECT_NE(Collect(policy).find("which policy `test` hides"), std::string::npos);
}

TEST(MountEntries, HiddenPlaceThatNoTreeShowsNeedsNoMask) {
  const ScratchDirectory directory;  // below /tmp, which is private
  directory.Write("a/b/f", "");
  Policy policy = Granting({{directory.path() + "/a", PathAccess::kRead, false, "t"}});
  for (const bool reversed : {false, true}) {
    policy.filesystem.hide = {{directory.path(), "t"}, {directory.path() + "/a/b", "t"}};
    if (reversed) std::swap(policy.filesystem.hide[0], policy.filesystem.hide[1]);
    const std::string text = Collect(policy);
    EXPECT_EQ(text.find(directory.path() + " mask"), std::string::npos) << text;
    EXPECT_NE(text.find("/a/b mask\n"), std::string::npos) << text;
  }
}

TEST(MountEntries, PrivateDirectoriesAreAlwaysThere) {
  EXPECT_EQ(Collect(Granting({})), "/dev/shm tmpfs\n/home/tool tmpfs\n/tmp tmpfs\n");
}

TEST(MountEntries, GrantOfAPrivateDirectoryReplacesIt) {
  const std::string text = Collect(Granting({{"/tmp", PathAccess::kRead, false, "t"}}));
  EXPECT_NE(text.find("/tmp tree\n"), std::string::npos);
  EXPECT_EQ(text.find("/tmp tmpfs\n"), std::string::npos);
}

}  // namespace
}  // namespace warder::sandbox
