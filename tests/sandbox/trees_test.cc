#include "sandbox/trees.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/workspace_tree.h"
#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::ScratchDirectory;

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
