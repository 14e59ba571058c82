// WorkspaceTree: how Warder itself opens, lists and reads what lies in a workspace. By descriptor,
// never through a link, and never waiting for what is no file: a tool chose the names and the
// kinds.
#ifndef WARDER_SANDBOX_WORKSPACE_TREE_H_
#define WARDER_SANDBOX_WORKSPACE_TREE_H_

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// Opens `path` (O_PATH), with no symlink before its last name; a symlink there is opened itself.
// `under`, when not AT_FDCWD, is a directory that it must stay below.
// Errors: kNotFound, kFailedPrecondition (a symlink is in the way, or it leads out),
// kPermissionDenied, kResourceExhausted. Source: openat2(2), since Linux 5.6.
absl::StatusOr<UniqueFd> OpenPath(int under, const std::string& path);

// What OpenPath found, and what fstat(2) says of it.
struct TreeNode {
  UniqueFd fd;  // O_PATH
  struct stat status = {};
};
absl::StatusOr<TreeNode> OpenNode(int under, const std::string& path);

// "a directory", "a FIFO", ...
const char* FileKind(mode_t mode);

// What the symlink `fd` (O_PATH), called `name` in messages, says. Errors: kInternal.
absl::StatusOr<std::string> ReadLink(int fd, const std::string& name);

// Reads all of the file that `fd` (O_PATH) names. It is opened for reading only once it is known to
// be a regular file: opening a device or a FIFO can do something. `name` is what to call it in
// messages.
//
// Errors: kInvalidArgument (no regular file: says what it is), kPermissionDenied,
//   kResourceExhausted (above `limit_bytes`, or no descriptors), kInternal (read error).
absl::StatusOr<std::string> ReadRegularFile(int fd, const std::string& name,
                                            std::size_t limit_bytes);

// The names in the directory `fd` (O_PATH will do) in the kernel's order, at most `limit` of them,
// without "." and "..". Any byte but '/' and NUL can be in a name.
// Errors: kPermissionDenied, kInternal (not a directory), kResourceExhausted (descriptors).
absl::StatusOr<std::vector<std::string>> ListDirectory(int fd, std::size_t limit);

// `directory`/`name`, or one of them when the other is "".
std::string JoinPath(std::string_view directory, std::string_view name);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_WORKSPACE_TREE_H_
