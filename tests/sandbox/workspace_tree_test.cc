#include "sandbox/workspace_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "sandbox/unique_fd.h"
#include "tests/support/temp_tree.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::TempTree;

absl::StatusOr<std::string> Read(const std::string& path, std::size_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  return ReadRegularFile(fd.get(), "the file", limit_bytes);
}

TEST(ReadRegularFile, AllBytesAreReadUpToTheLimit) {
  const TempTree tree;
  const std::string content(300'000, 'x');
  const std::string path = tree.Write("f", content);
  EXPECT_EQ(*Read(path, content.size()), content);
  EXPECT_EQ(*Read(tree.Write("empty", ""), 0), "");
}

TEST(ReadRegularFile, OneByteMoreThanTheLimitIsRefused) {
  const TempTree tree;
  const absl::StatusOr<std::string> bytes = Read(tree.Write("f", "12345"), 4);
  EXPECT_EQ(bytes.status(),
            absl::ResourceExhaustedError("the file: is larger than the limit of 4 bytes"));
}

TEST(ReadRegularFile, FileThatSaysItIsEmptyIsReadToItsEnd) {
  const absl::StatusOr<std::string> bytes = Read("/proc/self/status", 1u << 20);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_NE(bytes->find("Name:"), std::string::npos);
}

TEST(ReadRegularFile, WhatIsNoRegularFileIsNamedAndNotOpened) {
  const TempTree tree;
  ASSERT_EQ(::mkfifo(tree.At("fifo").c_str(), 0644), 0);
  const absl::StatusOr<std::string> fifo = Read(tree.At("fifo"), 10);
  EXPECT_EQ(fifo.status(),
            absl::InvalidArgumentError("the file: is a FIFO: only a regular file is read"));
  EXPECT_EQ(Read(tree.Directory("d"), 10).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read(tree.Link("l", "/etc/passwd"), 10).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("/dev/null", 10).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(OpenPath, LinkOnTheWayIsRefusedAndALinkItselfIsOpened) {
  const TempTree tree;
  tree.Write("real/file", "x");
  tree.Link("link", "real");
  EXPECT_TRUE(OpenPath(AT_FDCWD, tree.At("real/file")).ok());
  EXPECT_EQ(OpenPath(AT_FDCWD, tree.At("link/file")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenPath(AT_FDCWD, tree.At("absent")).status().code(), absl::StatusCode::kNotFound);
  auto link = OpenNode(AT_FDCWD, tree.At("link"));
  ASSERT_TRUE(link.ok()) << link.status();
  EXPECT_STREQ(FileKind(link->status.st_mode), "a symbolic link");
  EXPECT_EQ(*ReadLink(link->fd.get(), "link"), "real");
}

TEST(OpenPath, StaysBelowItsDirectory) {
  const TempTree tree;
  tree.Write("in/file", "x");
  tree.Write("out", "x");
  const UniqueFd in(::open(tree.At("in").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(OpenPath(in.get(), "file").ok());
  EXPECT_EQ(OpenPath(in.get(), "../out").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenPath(in.get(), tree.At("in/file")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(ListDirectory, NamesAreBytesAndCounted) {
  const TempTree tree;
  const std::vector<std::string> hostile = {"-rf", "a\nb", "\xff\xfe",           "\x1b[2J",
                                            " ",   "..\n", std::string(255, 'x')};
  for (const std::string& name : hostile) tree.Write("d/" + name, "");
  const UniqueFd fd(::open(tree.At("d").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto names = ListDirectory(fd.get(), 100);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ::testing::UnorderedElementsAreArray(hostile));
  EXPECT_EQ(ListDirectory(fd.get(), 3)->size(), 3u);
  const UniqueFd file(::open(tree.Write("f", "").c_str(), O_PATH | O_CLOEXEC));
  EXPECT_FALSE(ListDirectory(file.get(), 3).ok());
}

}  // namespace
}  // namespace warder::sandbox
