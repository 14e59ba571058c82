#include "manifest/host_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/support/call_fixture.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using warder::testing::SystemPolicy;
using warder::testing::TempTree;
using warder::testing::WorkspaceAt;

TEST(HostPath, IsNamedByItsRealPath) {
  const TempTree tree;
  tree.Write("real/file", "x");
  tree.Link("link", "real");
  const absl::StatusOr<HostPath> opened = OpenHostPath(AT_FDCWD, tree.At("link/../link/file"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->path, tree.At("real/file"));
}

TEST(HostPath, RelativePathStartsFromTheDirectoryGiven) {
  const TempTree tree;
  tree.Write("sub/file", "x");
  const Workspace workspace = WorkspaceAt(tree.path());
  const absl::StatusOr<HostPath> opened = OpenHostPath(workspace.fd.get(), "./sub/file");
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->path, tree.At("sub/file"));
}

TEST(HostPath, WhatIsNotThereIsNotFound) {
  const TempTree tree;
  tree.Write("file", "x");
  tree.Link("dangling", "nowhere");
  EXPECT_TRUE(absl::IsNotFound(OpenHostPath(AT_FDCWD, tree.At("no")).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenHostPath(AT_FDCWD, tree.At("dangling")).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenHostPath(AT_FDCWD, tree.At("file/below")).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenHostPath(AT_FDCWD, "").status()));
}

TEST(HostPath, LinksOfProcAreRefused) {
  const TempTree tree;
  tree.Link("self", "/proc/self/exe");
  for (const std::string& path :
       {std::string("/proc/self/exe"), std::string("/proc/self/root/bin/sh"),
        std::string("/dev/fd/0"), std::string("/proc/self/status"), tree.At("self")}) {
    const absl::Status status = OpenHostPath(AT_FDCWD, path).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << path << " " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/proc")) << path;
  }
}

TEST(HostPath, LinkLoopNulAndEndlessNameAreRefused) {
  const TempTree tree;
  tree.Link("a", "b");
  tree.Link("b", "a");
  EXPECT_TRUE(absl::IsInvalidArgument(OpenHostPath(AT_FDCWD, tree.At("a")).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(OpenHostPath(AT_FDCWD, std::string("/bin/sh\0x", 9)).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(OpenHostPath(AT_FDCWD, "/" + std::string(5000, 'a')).status()));
}

TEST(HostPath, MessagesNeverHoldThePath) {
  const absl::Status status = OpenHostPath(AT_FDCWD, "/nowhere/s3cr3t").status();
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cr3t")));
}

TEST(CellView, WorkspaceAndGrantsAreSeenAndNothingElse) {
  const TempTree tree;
  const Workspace workspace = WorkspaceAt(tree.path());
  const NamedPolicy policy = SystemPolicy();
  const CellView view(workspace, policy);
  EXPECT_TRUE(view.Check(tree.path()).ok());
  EXPECT_TRUE(view.Check(tree.At("a/b")).ok());
  EXPECT_TRUE(view.Check("/usr/bin/env").ok());
  const absl::Status beside = view.Check(tree.path() + "-beside/x");
  EXPECT_TRUE(absl::IsPermissionDenied(beside));
  EXPECT_THAT(std::string(beside.message()), HasSubstr("policy `test` does not let a cell see"));
  EXPECT_THAT(std::string(beside.message()), HasSubstr(tree.path() + "-beside/x"));
  EXPECT_TRUE(absl::IsPermissionDenied(view.Check("/etc/shadow")));
  EXPECT_TRUE(absl::IsPermissionDenied(view.Check("/usrx")));
}

TEST(CellView, GrantCoversWhatItsLinkLeadsTo) {
  const TempTree tree;
  const TempTree outside;
  outside.Write("real/bin/x", "x");
  outside.Link("granted", "real/bin");
  const Workspace workspace = WorkspaceAt(tree.path());
  NamedPolicy policy = SystemPolicy();
  policy.confinement.filesystem.grants = {
      {outside.At("granted"), sandbox::PathAccess::kRead, false, "test"}};
  const CellView view(workspace, policy);
  EXPECT_TRUE(view.Check(outside.At("real/bin/x")).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(view.Check(outside.At("real/other"))));
}

TEST(CellView, HiddenPathIsNotSeenEvenInTheWorkspace) {
  const TempTree tree;
  const Workspace workspace = WorkspaceAt(tree.path());
  NamedPolicy policy = SystemPolicy();
  policy.confinement.filesystem.hide = {{tree.At("secrets"), "keys"},
                                        {"/usr/sbin", "not for tools"}};
  const CellView view(workspace, policy);
  EXPECT_TRUE(view.Check(tree.At("secretsx")).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(view.Check(tree.At("secrets/tool"))));
  const absl::Status hidden = view.Check("/usr/sbin/x");
  EXPECT_THAT(std::string(hidden.message()), HasSubstr("hides `/usr/sbin/x`"));
}

TEST(CellView, LongestPathDecidesInEveryOrder) {
  const TempTree tree;
  const Workspace workspace = WorkspaceAt(tree.path());
  NamedPolicy policy = SystemPolicy();
  auto& filesystem = policy.confinement.filesystem;
  filesystem.grants = {{"/srv", sandbox::PathAccess::kRead, true, "test"},
                       {"/srv/a/b", sandbox::PathAccess::kRead, true, "test"}};
  filesystem.hide = {{"/srv/a", "test"}, {"/srv/a/b/c", "test"}};
  for (int order = 0; order < 4; ++order) {
    const CellView view(workspace, policy);
    EXPECT_TRUE(view.Check("/srv/x").ok());
    EXPECT_FALSE(view.Check("/srv/a/x").ok());
    EXPECT_TRUE(view.Check("/srv/a/b/x").ok());
    EXPECT_FALSE(view.Check("/srv/a/b/c").ok());
    std::swap(filesystem.hide[0], filesystem.hide[1]);
    if (order == 1) std::swap(filesystem.grants[0], filesystem.grants[1]);
  }
}

TEST(CellView, WorkspaceAndReadWriteGrantsMayBeWritten) {
  const TempTree tree;
  const Workspace workspace = WorkspaceAt(tree.path());
  NamedPolicy policy = SystemPolicy();
  policy.confinement.filesystem.grants.push_back(
      {"/srv/data", sandbox::PathAccess::kReadWrite, true, "test"});
  const CellView view(workspace, policy);
  EXPECT_TRUE(view.MayBeWritable(tree.At("x")));
  EXPECT_TRUE(view.MayBeWritable("/srv/data/x"));
  EXPECT_FALSE(view.MayBeWritable("/usr/bin/env"));
}

TEST(Quoted, ControlBytesAreShownAndBackslashesStayAsTheyAre) {
  EXPECT_EQ(Quoted("C:\\Program Files\\node.exe"), "`C:\\Program Files\\node.exe`");
  EXPECT_EQ(Quoted("a\r\n\t\x1b[2J\x7f"), "`a\\r\\n\\t\\x1b[2J\\x7f`");
  EXPECT_EQ(Quoted(std::string(300, 'a')), "`" + std::string(200, 'a') + "...`");
}

}  // namespace
}  // namespace warder::manifest
