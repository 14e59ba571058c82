#include "manifest/pinning.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>

#include "manifest/digest.h"
#include "tests/support/call_fixture.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::HasSubstr;
using warder::testing::ContentOf;
using warder::testing::SystemPolicy;
using warder::testing::TempTree;
using warder::testing::WorkspaceAt;

class Pinning : public ::testing::Test {
 protected:
  absl::StatusOr<PinnedFile> PinPath(const std::string& path) {
    absl::StatusOr<HostPath> file = OpenHostPath(AT_FDCWD, path);
    if (!file.ok()) return file.status();
    return Pin(*file, view_, FileRole::kProgram, path);
  }

  TempTree tree_;
  Workspace workspace_ = WorkspaceAt(tree_.path());
  NamedPolicy policy_ = SystemPolicy();
  CellView view_{workspace_, policy_};
};

TEST_F(Pinning, WorkspaceProgramIsCopiedToSealedMemory) {
  const std::string path = tree_.Script("t", "#!/bin/sh\necho old\n");
  const absl::StatusOr<PinnedFile> pinned = PinPath(path);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  EXPECT_TRUE(pinned->copied);
  EXPECT_EQ(pinned->path, path);
  EXPECT_EQ(pinned->size, 19u);
  EXPECT_EQ(pinned->digest, Digest("#!/bin/sh\necho old\n"));
  EXPECT_EQ(fcntl(pinned->fd.get(), F_GET_SEALS),
            F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_EQ(fcntl(pinned->fd.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_NE(fcntl(pinned->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(Pinning, SealedCopyCannotBeOpenedAndWritten) {
  const absl::StatusOr<PinnedFile> pinned = PinPath(tree_.Script("t", "#!/bin/sh\n"));
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  const std::string again = "/proc/self/fd/" + std::to_string(pinned->fd.get());
  const sandbox::UniqueFd writer(open(again.c_str(), O_RDWR | O_CLOEXEC));
  if (geteuid() != 0) {
    EXPECT_FALSE(writer.ok());  // its mode lets nobody write
    return;
  }
  ASSERT_TRUE(writer.ok());  // root is not held by a mode, but by the seals
  EXPECT_EQ(pwrite(writer.get(), "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(writer.get(), 0), -1);
}

TEST_F(Pinning, OverwritingInPlaceDoesNotReachTheCopy) {
  const std::string path = tree_.Script("t", "#!/bin/sh\necho old\n");
  const absl::StatusOr<PinnedFile> pinned = PinPath(path);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  tree_.Script("t", "#!/bin/sh\necho evil\n");  // same inode, other bytes
  EXPECT_EQ(ContentOf(pinned->fd.get()), "#!/bin/sh\necho old\n");
  EXPECT_EQ(pinned->digest, Digest("#!/bin/sh\necho old\n"));
}

TEST_F(Pinning, RenamingAnotherFileOverItDoesNotReachTheCopy) {
  const std::string path = tree_.Script("t", "#!/bin/sh\necho old\n");
  const std::string evil = tree_.Script("evil", "#!/bin/sh\necho evil\n");
  const absl::StatusOr<PinnedFile> pinned = PinPath(path);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  std::filesystem::rename(evil, path);
  EXPECT_EQ(ContentOf(pinned->fd.get()), "#!/bin/sh\necho old\n");
}

TEST_F(Pinning, SystemProgramIsHeldAsItIs) {
  const absl::StatusOr<PinnedFile> pinned = PinPath("/usr/bin/env");
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  struct stat status = {};
  ASSERT_EQ(stat("/usr/bin/env", &status), 0);
  EXPECT_FALSE(pinned->copied);
  EXPECT_EQ(pinned->inode, status.st_ino);
  EXPECT_EQ(pinned->device, status.st_dev);
  EXPECT_EQ(pinned->size, static_cast<std::uint64_t>(status.st_size));
  EXPECT_EQ(pinned->mode, status.st_mode);
  EXPECT_EQ(pinned->digest, Digest(ContentOf(pinned->fd.get())));
}

TEST_F(Pinning, RememberedDigestIsTheSame) {
  const absl::StatusOr<PinnedFile> first = PinPath("/usr/bin/env");
  const absl::StatusOr<PinnedFile> second = PinPath("/usr/bin/env");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->digest, second->digest);
}

TEST_F(Pinning, ProgramBelowAReadWriteGrantIsCopied) {
  policy_.confinement.filesystem.grants.push_back(
      {"/usr", sandbox::PathAccess::kReadWrite, false, "test"});
  const absl::StatusOr<PinnedFile> pinned = PinPath("/usr/bin/env");
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  EXPECT_TRUE(pinned->copied);
  EXPECT_EQ(pinned->digest, Digest(ContentOf(pinned->fd.get())));
}

TEST_F(Pinning, WhatIsNoStartableFileIsRefused) {
  tree_.Directory("dir");
  ASSERT_EQ(mkfifo(tree_.At("fifo").c_str(), 0755), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(PinPath(tree_.At("dir")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PinPath(tree_.At("fifo")).status()));
  const absl::Status plain = PinPath(tree_.Write("plain", "#!/bin/sh\n", 0644)).status();
  EXPECT_TRUE(absl::IsPermissionDenied(plain));
  EXPECT_THAT(std::string(plain.message()), HasSubstr("chmod +x"));
}

TEST_F(Pinning, FileAboveTheLimitIsRefusedUnread) {
  const std::string path = tree_.Script("huge", "#!/bin/sh\n");
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(kMaxProgramBytes) + 1), 0);  // sparse
  const absl::Status status = PinPath(path).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("512 MiB"));
}

TEST_F(Pinning, FileThatChangedSinceItWasOpenedIsRefused) {
  const std::string path = tree_.Script("t", "#!/bin/sh\n");
  const absl::StatusOr<HostPath> file = OpenHostPath(AT_FDCWD, path);
  ASSERT_TRUE(file.ok());
  tree_.Script("t", "#!/bin/sh\n# longer\n");
  EXPECT_TRUE(absl::IsAborted(Pin(*file, view_, FileRole::kProgram, path).status()));
}

TEST(OthersMayChange, SystemProgramsAreRootsAlone) {
  const absl::StatusOr<HostPath> file = OpenHostPath(AT_FDCWD, "/usr/bin/env");
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(OthersMayChange(*file));
}

bool Changeable(const std::string& path) {
  const absl::StatusOr<HostPath> file = OpenHostPath(AT_FDCWD, path);
  EXPECT_TRUE(file.ok()) << path << " " << file.status();
  return !file.ok() || OthersMayChange(*file);
}

TEST(OthersMayChange, OwnerModeAndEveryDirectoryAboveCount) {
  const TempTree tree;
  const std::string path = tree.Script("a/b/t", "#!/bin/sh\n");
  if (geteuid() != 0) {
    EXPECT_TRUE(Changeable(path));  // the owner is not root
    return;
  }
  EXPECT_FALSE(Changeable(path));
  tree.Directory("a", 0777);
  EXPECT_TRUE(Changeable(path));
  tree.Directory("a", 01777);  // sticky: what root owns in it stays
  EXPECT_FALSE(Changeable(path));
  tree.Directory("a", 0775);
  EXPECT_TRUE(Changeable(path));
  tree.Directory("a", 0755);
  tree.Write("a/b/t", "#!/bin/sh\n", 0757);
  EXPECT_TRUE(Changeable(path));
  tree.Write("a/b/t", "#!/bin/sh\n", 01757);  // a sticky bit protects no file
  EXPECT_TRUE(Changeable(path));
  tree.Write("a/b/t", "#!/bin/sh\n", 0755);
  ASSERT_EQ(chown(tree.At("a/b").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(Changeable(path));
}

}  // namespace
}  // namespace warder::manifest
