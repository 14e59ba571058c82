#include "manifest/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::warder::testing::TempTree;

constexpr uid_t kNobody = 65534;

// A manifest with one good tool, told apart by its program.
std::string Manifest(std::string_view name, std::string_view program = "/bin/true") {
  return absl::StrFormat(
      R"({"schema":1,"tools":{"%s":{"description":"d","input_schema":{},"command":["%s"]}}})", name,
      program);
}

Workspace Open(const std::string& path) {
  absl::StatusOr<Workspace> workspace = OpenWorkspace(path);
  EXPECT_TRUE(workspace.ok()) << workspace.status();
  return workspace.ok() ? *std::move(workspace) : Workspace();
}

absl::StatusOr<Catalog> Load(const TempTree& tree, const std::string& global = "") {
  return LoadCatalog(Open(tree.Directory("work")), global);
}

std::string Fault(const TempTree& tree, const std::string& global = "") {
  const absl::StatusOr<Catalog> catalog = Load(tree, global);
  return catalog.ok() ? "accepted" : std::string(catalog.status().message());
}

TEST(Workspace, IdentityIsThatOfTheDirectory) {
  const TempTree tree;
  const std::string path = tree.Directory("work");
  const Workspace workspace = Open(tree.Link("link", path) + "/.");
  EXPECT_EQ(workspace.path, path);
  struct stat status = {};
  ASSERT_EQ(::fstat(workspace.fd.get(), &status), 0);
  EXPECT_EQ(workspace.device, status.st_dev);
  EXPECT_EQ(workspace.inode, status.st_ino);
}

TEST(Workspace, MissingDirectoryIsNotFound) {
  const TempTree tree;
  const absl::StatusOr<Workspace> workspace = OpenWorkspace(tree.At("none"));
  EXPECT_EQ(workspace.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(workspace.status().message()), HasSubstr(tree.At("none")));
}

TEST(Workspace, FileIsNoWorkspace) {
  const TempTree tree;
  EXPECT_EQ(OpenWorkspace(tree.Write("f", "")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Workspace, RootDirectoryCannotBeOne) {
  for (const char* path : {"/", "/usr/..", "//"}) {
    EXPECT_EQ(OpenWorkspace(path).status().code(), absl::StatusCode::kFailedPrecondition) << path;
  }
}

TEST(Catalog, WorkspaceManifestIsReadThenTheGlobalOne) {
  const TempTree tree;
  tree.Write("work/.basis/tools.json", Manifest("zed"));
  const absl::StatusOr<Catalog> catalog = Load(tree, tree.Write("etc/tools.json", Manifest("abc")));
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ASSERT_EQ(catalog->tools.size(), 2u);
  EXPECT_EQ(catalog->tools[0].name, "abc");
  EXPECT_EQ(catalog->tools[0].source, tree.At("etc/tools.json"));
  EXPECT_EQ(catalog->tools[1].source, tree.At("work/.basis/tools.json"));
  EXPECT_EQ(catalog->Find("zed"), &catalog->tools[1]);
  EXPECT_EQ(catalog->Find("none"), nullptr);
  EXPECT_TRUE(catalog->shadowed.empty());
}

TEST(Catalog, WorkspaceShadowsTheGlobalOneByName) {
  const TempTree tree;
  tree.Write("work/.basis/tools.json", Manifest("t", "/bin/own"));
  const absl::StatusOr<Catalog> catalog =
      Load(tree, tree.Write("etc/tools.json", Manifest("t", "/bin/global")));
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ASSERT_EQ(catalog->tools.size(), 1u);
  EXPECT_EQ(catalog->tools[0].command.front(), "/bin/own");
  ASSERT_EQ(catalog->shadowed.size(), 1u);
  EXPECT_EQ(catalog->shadowed[0].name, "t");
  EXPECT_EQ(catalog->shadowed[0].source, tree.At("etc/tools.json"));
  EXPECT_EQ(catalog->shadowed[0].shadowed_by, tree.At("work/.basis/tools.json"));
}

TEST(Catalog, SameFileReachedTwiceIsOneSource) {
  const TempTree tree;
  const std::string own = tree.Write("work/.basis/tools.json", Manifest("t"));
  tree.Directory("etc");
  ASSERT_EQ(::link(own.c_str(), tree.At("etc/tools.json").c_str()), 0);
  for (const std::string& global : {own, tree.At("etc/tools.json")}) {
    const absl::StatusOr<Catalog> catalog = Load(tree, global);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    EXPECT_EQ(catalog->tools.size(), 1u);
    EXPECT_TRUE(catalog->shadowed.empty());
  }
}

TEST(Catalog, MissingFileMeansNoTools) {
  const TempTree tree;
  const absl::StatusOr<Catalog> catalog = Load(tree, tree.At("etc/none.json"));
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_TRUE(catalog->tools.empty());
  tree.Write("work/.basis", "a file where the directory would be");
  EXPECT_EQ(Fault(tree), "accepted");
}

TEST(Catalog, DirectoryInPlaceOfAManifestIsIgnored) {
  const TempTree tree;
  tree.Directory("work/.basis/tools.json");
  const absl::StatusOr<Catalog> catalog = Load(tree, tree.Directory("etc/tools.json"));
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_TRUE(catalog->tools.empty());
}

TEST(Catalog, FileThatCannotBeReadFailsTheOpenByName) {
  const TempTree tree;
  ASSERT_EQ(::chmod(tree.path().c_str(), 0755), 0);
  tree.Write("work/.basis/tools.json", Manifest("t"), 0000);
  const Workspace workspace = Open(tree.At("work"));
  const uid_t user = ::geteuid();
  ASSERT_EQ(::seteuid(user == 0 ? kNobody : user), 0);  // root may read everything
  const absl::Cleanup restore = [user] { EXPECT_EQ(::seteuid(user), 0); };
  const absl::StatusOr<Catalog> catalog = LoadCatalog(workspace, "");
  EXPECT_EQ(catalog.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(catalog.status().message()),
              StartsWith(tree.At("work/.basis/tools.json") + ": cannot be opened"));
}

TEST(Catalog, FaultInEitherFileFailsTheWholeWithFileLineAndColumn) {
  const TempTree tree;
  const std::string global = tree.Write("etc/tools.json", "{\n ?");
  tree.Write("work/.basis/tools.json", Manifest("t"));
  EXPECT_THAT(Fault(tree, global), StartsWith(global + ":2:2: "));
  tree.Write("etc/tools.json", Manifest("t"));
  const std::string own = tree.Write("work/.basis/tools.json", Manifest("t t"));
  EXPECT_THAT(Fault(tree, global), AllOf(StartsWith(own + ":1:"), HasSubstr("tool `t t`")));
}

TEST(Catalog, ManifestThatIsALinkIsRefused) {
  const TempTree tree;
  tree.Link("work/.basis/tools.json", tree.Write("elsewhere.json", Manifest("t")));
  EXPECT_THAT(Fault(tree), StartsWith(tree.At("work/.basis/tools.json") + ": is a symbolic link"));
}

TEST(Catalog, FolderThatIsALinkIsRefusedByItsOwnName) {
  const TempTree tree;
  tree.Write("elsewhere/tools.json", Manifest("t"));
  tree.Link("work/.basis", tree.At("elsewhere"));
  EXPECT_THAT(Fault(tree), StartsWith(tree.At("work/.basis") + ": is a symbolic link"));
}

TEST(Catalog, LinkThatLeadsNowhereIsRefusedToo) {
  const TempTree tree;
  tree.Link("work/.basis/tools.json", "nowhere");
  EXPECT_THAT(Fault(tree), HasSubstr("is a symbolic link"));
}

TEST(Catalog, FifoOrSocketInPlaceOfAManifestIsRefusedWithoutWaiting) {
  const TempTree tree;
  tree.Directory("work/.basis");
  const std::string path = tree.At("work/.basis/tools.json");
  ASSERT_EQ(::mkfifo(path.c_str(), 0644), 0);
  EXPECT_EQ(Fault(tree), path + ": is a FIFO: only a regular file is read");
  ASSERT_EQ(::unlink(path.c_str()), 0);

  const sandbox::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(Fault(tree), path + ": is a socket: only a regular file is read");
}

TEST(Catalog, ManifestThatIsTooLargeIsRefused) {
  const TempTree tree;
  tree.Write("work/.basis/tools.json", std::string(kMaxManifestBytes + 1, ' '));
  EXPECT_EQ(Load(tree).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Catalog, GlobalManifestMustBeTheOperators) {
  const TempTree tree;
  const std::string global = tree.Write("etc/tools.json", Manifest("t"));
  ASSERT_EQ(::chmod(global.c_str(), 0666), 0);
  EXPECT_EQ(Load(tree, global).status().code(), absl::StatusCode::kPermissionDenied);
  const std::string inside = tree.Write("work/tools.json", Manifest("t"));
  EXPECT_THAT(Fault(tree, inside), HasSubstr("lies inside the workspace"));
  const std::string link = tree.Link("etc/link.json", tree.Write("etc/real.json", Manifest("t")));
  EXPECT_THAT(Fault(tree, link), StartsWith(link + ": is a symbolic link"));
}

TEST(Catalog, ManifestIsFoundThroughTheOpenedDirectoryNotItsName) {
  const TempTree tree;
  tree.Write("work/.basis/tools.json", Manifest("mine"));
  const Workspace workspace = Open(tree.At("work"));
  ASSERT_EQ(::rename(tree.At("work").c_str(), tree.At("moved").c_str()), 0);
  tree.Write("work/.basis/tools.json", Manifest("planted"));
  const absl::StatusOr<Catalog> catalog = LoadCatalog(workspace, "");
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_NE(catalog->Find("mine"), nullptr);
}

TEST(Catalog, ToolOfOneWorkspaceIsNeverOfferedToAnother) {
  const TempTree tree;
  tree.Write("a/.basis/tools.json", Manifest("of_a"));
  tree.Write("b/.basis/tools.json", Manifest("of_b"));
  const absl::StatusOr<Catalog> a = LoadCatalog(Open(tree.At("a")), "");
  const absl::StatusOr<Catalog> b = LoadCatalog(Open(tree.At("b")), "");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->Find("of_b"), nullptr);
  EXPECT_EQ(b->Find("of_a"), nullptr);
}

}  // namespace
}  // namespace warder::manifest
