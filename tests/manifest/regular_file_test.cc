#include "manifest/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "sandbox/unique_fd.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::warder::testing::TempTree;

absl::StatusOr<std::string> Read(const std::string& path, std::size_t limit_bytes) {
  const sandbox::UniqueFd fd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
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

}  // namespace
}  // namespace warder::manifest
