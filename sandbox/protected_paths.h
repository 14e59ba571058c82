// ProtectedPaths: what of a writable workspace must stay as it is, found before its cell is built.
#ifndef WARDER_SANDBOX_PROTECTED_PATHS_H_
#define WARDER_SANDBOX_PROTECTED_PATHS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/policy.h"
#include "sandbox/workspace_tree.h"

namespace warder::sandbox {

// Something that becomes a mount of its own, so that nothing can be renamed over it, and it cannot
// be renamed or removed (EBUSY). Files, directories, and symlinks, which can be mount points too.
struct ProtectedNode {
  std::string path;  // relative to the workspace root, no symlink before its last name
  TreeNode node;
  bool writable = false;  // a directory above a protected name: only its place is fixed
};

struct ProtectedNodes {
  std::vector<ProtectedNode> nodes;  // parents before children
  // Protected names that are not there, relative to the root. Nothing is put in their place; what
  // appears there is for quarantine.h.
  std::vector<std::string> absent;
};

// Limits of one search: directories below .git/modules that are listed, names in one of them, and
// repositories found there. More is not protected, and what changes there is still reported.
inline constexpr std::size_t kMaxModuleDirectories = 256;
inline constexpr std::size_t kMaxSubmodules = 32;

// Follows each rule from `root` (the workspace `path`, O_PATH) as git and editors would: through
// symlinks and through a `.git` file that points elsewhere, as far as that stays in the workspace.
// Every link and pointer on the way is protected itself, and so is what it leads to. A rule below
// `.git` also holds for each submodule's repository in `.git/modules`. Other repositories below the
// workspace are not looked for.
// Errors: kFailedPrecondition (a socket, FIFO or device under a protected name: says which),
// kPermissionDenied, kResourceExhausted.
absl::StatusOr<ProtectedNodes> FindProtected(int root, const std::string& path,
                                             const std::vector<ProtectedPath>& rules);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_PROTECTED_PATHS_H_
