#include "manifest/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>

#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::warder::testing::TempTree;

using Variables = std::map<std::string, std::string, std::less<>>;

absl::StatusOr<Config> Locate(bool root, const Variables& variables) {
  const auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  return LocateConfigFrom(root, lookup, "/opt/warder/bin/warder");
}

TEST(LocateConfig, RootUsesTheSystemPlacesWhateverTheEnvironmentSays) {
  const absl::StatusOr<Config> config =
      Locate(true, {{"HOME", "/root"}, {"XDG_CONFIG_HOME", "/evil"}, {"XDG_RUNTIME_DIR", "/evil"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->config_dir, "/etc/warder");
  EXPECT_EQ(config->state_dir, "/var/lib/warder");
  EXPECT_EQ(config->runtime_dir, "/run/warder");
  EXPECT_EQ(config->share_dir, "/opt/warder/share/warder");
  EXPECT_TRUE(config->workspaces.empty());
}

TEST(LocateConfig, UserPlacesFollowXdg) {
  const absl::StatusOr<Config> config = Locate(false, {{"HOME", "/home/u"},
                                                       {"XDG_CONFIG_HOME", "/c"},
                                                       {"XDG_STATE_HOME", "/s"},
                                                       {"XDG_RUNTIME_DIR", "/run/user/1000"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->config_dir, "/c/warder");
  EXPECT_EQ(config->state_dir, "/s/warder");
  EXPECT_EQ(config->runtime_dir, "/run/user/1000/warder");
}

TEST(LocateConfig, EmptyOrRelativeXdgValueCountsAsUnset) {
  const absl::StatusOr<Config> config = Locate(false, {{"HOME", "/home/u"},
                                                       {"XDG_CONFIG_HOME", ""},
                                                       {"XDG_STATE_HOME", "state"},
                                                       {"XDG_RUNTIME_DIR", "./run"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->config_dir, "/home/u/.config/warder");
  EXPECT_EQ(config->state_dir, "/home/u/.local/state/warder");
  EXPECT_EQ(config->runtime_dir, "/home/u/.local/state/warder/run");
}

TEST(LocateConfig, UserWithoutHomeIsToldWhatToSet) {
  const absl::StatusOr<Config> config = Locate(false, {{"HOME", "relative"}});
  EXPECT_EQ(config.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(config.status().message()),
              AllOf(HasSubstr("XDG_CONFIG_HOME"), HasSubstr("HOME"), HasSubstr("set one of them")));
}

TEST(LocateConfig, ShippedFilesAreBesideTheRunningBinary) {
  const absl::StatusOr<Config> config = LocateConfig();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->share_dir, AllOf(StartsWith("/"), ::testing::EndsWith("/share/warder")));
}

TEST(TrustedFile, OwnFileThatNobodyElseMayWriteIsRead) {
  const TempTree tree;
  const std::string path = tree.Write("etc/config.json", "{}");
  const absl::StatusOr<TrustedFile> file = ReadTrustedFile({}, path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->bytes, "{}");
  EXPECT_EQ(file->path, path);
}

TEST(TrustedFile, FileOfRootIsRead) { EXPECT_TRUE(ReadTrustedFile({}, "/etc/passwd").ok()); }

TEST(TrustedFile, MissingFileIsNotFoundByName) {
  const TempTree tree;
  const absl::StatusOr<TrustedFile> file = ReadTrustedFile({}, tree.At("none.json"));
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()), StartsWith(tree.At("none.json") + ": "));
}

TEST(TrustedFile, FileThatOthersMayWriteIsRefusedWithTheChmod) {
  const TempTree tree;
  for (const mode_t mode : {0664U, 0646U, 0666U}) {
    const std::string path = tree.Write("f.json", "{}", mode);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const absl::StatusOr<TrustedFile> file = ReadTrustedFile({}, path);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(file.status().message()),
                AllOf(StartsWith(path + ": "), HasSubstr("chmod go-w '" + path + "'")));
  }
}

TEST(TrustedFile, DirectoryThatOthersMayWriteIsRefusedByName) {
  const TempTree tree;
  const std::string path = tree.Write("open/f.json", "{}");
  for (const mode_t mode : {0777U, 01777U, 0775U}) {
    ASSERT_EQ(::chmod(tree.At("open").c_str(), mode), 0);
    const absl::StatusOr<TrustedFile> file = ReadTrustedFile({}, path);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(file.status().message()), StartsWith(tree.At("open") + ": "));
  }
}

TEST(TrustedFile, DirectoryFurtherUpThatOthersMayWriteIsRefusedUnlessSticky) {
  const TempTree tree;
  const std::string path = tree.Write("up/below/f.json", "{}");
  ASSERT_EQ(::chmod(tree.At("up").c_str(), 0777), 0);
  EXPECT_EQ(ReadTrustedFile({}, path).status().code(), absl::StatusCode::kPermissionDenied);
  ASSERT_EQ(::chmod(tree.At("up").c_str(), 01777), 0);
  EXPECT_TRUE(ReadTrustedFile({}, path).ok());
}

TEST(TrustedFile, DirectoriesAboveTheShippedFilesDoNotCount) {
  const TempTree tree;
  const std::string path = tree.Write("up/share/policies/f.json", "{}");
  ASSERT_EQ(::chmod(tree.At("up").c_str(), 0777), 0);
  Config config;
  config.share_dir = tree.At("up/share");
  EXPECT_TRUE(ReadTrustedFile(config, path).ok());
  ASSERT_EQ(::chmod(tree.At("up/share").c_str(), 0777), 0);
  EXPECT_EQ(ReadTrustedFile(config, path).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(TrustedFile, FileOfAnotherUserIsRefusedWithTheChown) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: chown(2) to another user";
  const TempTree tree;
  const std::string path = tree.Write("f.json", "{}");
  ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
  const absl::StatusOr<TrustedFile> file = ReadTrustedFile({}, path);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(file.status().message()),
              AllOf(HasSubstr("owned by user 12345"), HasSubstr("chown 0 '" + path + "'")));
}

TEST(TrustedFile, FileInsideAWorkspaceIsRefusedByName) {
  const TempTree tree;
  const std::string path = tree.Write("work/deep/f.json", "{}");
  Config config;
  config.workspaces = {tree.At("other"), tree.At("work")};
  const absl::StatusOr<TrustedFile> file = ReadTrustedFile(config, path);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(file.status().message()),
              AllOf(StartsWith(path + ": "), HasSubstr("inside the workspace " + tree.At("work"))));
}

TEST(TrustedFile, NeighbourWithTheSameBeginningIsOutsideTheWorkspace) {
  const TempTree tree;
  Config config;
  config.workspaces = {tree.At("work")};
  EXPECT_TRUE(ReadTrustedFile(config, tree.Write("work2/f.json", "{}")).ok());
}

TEST(TrustedFile, LinkFromOutsideIntoAWorkspaceIsRefused) {
  const TempTree tree;
  Config config;
  config.workspaces = {tree.At("work")};
  const std::string link = tree.Link("etc/f.json", tree.Write("work/f.json", "{}"));
  EXPECT_EQ(ReadTrustedFile(config, link).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(TrustedFile, LinkInsideAWorkspaceChoosesNoFile) {
  const TempTree tree;
  Config config;
  config.workspaces = {tree.At("work")};
  const std::string link = tree.Link("work/f.json", tree.Write("etc/f.json", "{}"));
  EXPECT_EQ(ReadTrustedFile(config, link).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(TrustedFile, LinkBetweenTrustedPlacesIsFollowedToTheRealPath) {
  const TempTree tree;
  const std::string real = tree.Write("a/f.json", "{}");
  const absl::StatusOr<TrustedFile> file = ReadTrustedFile({}, tree.Link("b/f.json", real));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path, real);
}

TEST(TrustedFile, WhatIsNoRegularFileIsRefused) {
  const TempTree tree;
  EXPECT_EQ(ReadTrustedFile({}, tree.Directory("d")).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(::mkfifo(tree.At("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadTrustedFile({}, tree.At("fifo")).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TrustedFile, SizeIsBounded) {
  const TempTree tree;
  EXPECT_EQ(ReadTrustedFile({}, tree.Write("f.json", "12345"), 4).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace warder::manifest
