#include "manifest/digest.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "sandbox/unique_fd.h"

namespace warder::manifest {
namespace {

sandbox::UniqueFd MemoryFile(const std::string& content) {
  sandbox::UniqueFd fd(::memfd_create("digest_test", MFD_CLOEXEC));
  EXPECT_EQ(::write(fd.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  return fd;
}

TEST(Digest, AgreesWithTheTestVectorsOfFips180) {
  EXPECT_EQ(Hex(Digest("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Digest("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, FileIsReadFromItsStartWhateverItsOffset) {
  const sandbox::UniqueFd fd = MemoryFile("abc");
  const absl::StatusOr<Sha256> digest = DigestFile(fd.get(), 3);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_EQ(*digest, Digest("abc"));
  EXPECT_EQ(::lseek(fd.get(), 0, SEEK_CUR), 3);
}

TEST(Digest, FileOfManyBlocksIsReadWhole) {
  const std::string content(1'000'003, 'x');
  const sandbox::UniqueFd fd = MemoryFile(content);
  const absl::StatusOr<Sha256> digest = DigestFile(fd.get(), 1u << 20);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_EQ(*digest, Digest(content));
}

TEST(Digest, FileAboveTheLimitIsRefused) {
  const sandbox::UniqueFd fd = MemoryFile("abcd");
  EXPECT_EQ(DigestFile(fd.get(), 3).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Digest, ReadErrorIsToldWithTheReason) {
  const absl::StatusOr<Sha256> digest = DigestFile(-1, 1);
  EXPECT_EQ(digest.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(digest.status().message(), "read: Bad file descriptor");
}

TEST(RandomBytes, HaveTheLengthAndDiffer) {
  EXPECT_EQ(RandomBytes(32).size(), 32u);
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
  EXPECT_EQ(RandomBytes(1000).size(),
            1000u);  // more than one getrandom(2) promises without a signal
}

}  // namespace
}  // namespace warder::manifest
