#include "sandbox/trees.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::ScratchDirectory;

TEST(OpenPath, SymlinkAnywhereIsRefused) {
  const ScratchDirectory directory;
  directory.Write("real/file", "x");
  std::filesystem::create_symlink("real", directory.path() + "/link");
  EXPECT_TRUE(OpenPath(AT_FDCWD, directory.path() + "/real/file").ok());
  const auto through = OpenPath(AT_FDCWD, directory.path() + "/link/file");
  EXPECT_EQ(through.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenPath(AT_FDCWD, directory.path() + "/absent").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(OpenPath, StaysBelowItsDirectory) {
  const ScratchDirectory directory;
  directory.Write("in/file", "x");
  directory.Write("out", "x");
  const UniqueFd in(open((directory.path() + "/in").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(OpenPath(in.get(), "file").ok());
  EXPECT_EQ(OpenPath(in.get(), "../out").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CloneTree, ReadOnlyCopyCannotBeWritten) {
  const ScratchDirectory directory;
  directory.Write("file", "x");
  EXPECT_EQ(InLauncher([&](const Host&) -> std::string {
              auto source = OpenPath(AT_FDCWD, directory.path());
              auto tree = CloneTree(source->get(), {}, "test");
              if (!tree.ok()) return std::string(tree.status().message());
              const int fd = openat(tree->get(), "file", O_WRONLY | O_CLOEXEC);
              return fd < 0 ? strerrorname_np(errno) : "WRITABLE";
            }),
            "EROFS");
}

TEST(CloneTree, IdMapGivesFilesToTheCellAndWritesAsTheOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "id-mapped mounts of host file systems need root";
  const ScratchDirectory directory;
  directory.Write("file", "x");
  for (const char* path : {"", "/file"})
    ASSERT_EQ(chown((directory.path() + path).c_str(), 4321, 4321), 0);
  EXPECT_EQ(InLauncher([&](const Host&) -> std::string {
              auto source = OpenPath(AT_FDCWD, directory.path());
              auto tree = CloneTree(
                  source->get(),
                  {.access = PathAccess::kReadWrite, .map = IdMap{4321, 4321, 77'777, 77'777}},
                  "test");
              if (!tree.ok()) return std::string(tree.status().message());
              struct stat status = {};
              if (fstatat(tree->get(), "file", &status, 0) != 0) return "STAT";
              return std::to_string(status.st_uid);
            }),
            "77777");
}

TEST(WriteExisting, NeverCreates) {
  const ScratchDirectory directory;
  const absl::Status status = WriteExisting(directory.path() + "/absent", "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(access((directory.path() + "/absent").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace warder::sandbox
