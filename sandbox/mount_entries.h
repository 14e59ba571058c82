// MountEntry: one thing that appears in a cell's file view, before it is turned into steps.
#ifndef WARDER_SANDBOX_MOUNT_ENTRIES_H_
#define WARDER_SANDBOX_MOUNT_ENTRIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/mounts.h"

namespace warder::sandbox {

enum class EntryKind : std::uint8_t {
  kTree,     // a detached mount
  kLink,     // a symlink
  kTmpfs,    // a private tmpfs of the policy's size
  kOverlay,  // a detached mount, read-only, below a writable layer that is thrown away
  kMask,     // an empty, read-only directory; what a longer path grants below it is in it
};

struct MountEntry {
  std::string target;  // absolute
  EntryKind kind = EntryKind::kTree;
  UniqueFd tree;
  bool directory = true;
  std::string link;
  LandlockAccess access = LandlockAccess::kRead;
  bool narrows = false;  // takes away from the workspace around it: Landlock needs no rule for it
};

// What a cell's view is made of.
struct FileView {
  std::vector<MountEntry> entries;  // parents before children
  std::vector<std::string> absent;  // protected names that are not there, relative to the workspace
};

// True when `path` is `directory` or lies below it, by whole components.
bool IsBelow(std::string_view path, std::string_view directory);

// The view that the policy's grants, workspace, protected and hidden paths ask for. The longest
// path wins, whatever the order in the file. On equal paths the narrower rule does: hidden,
// protected, workspace, then the grants, read before write. Errors: those of AddMountSteps.
absl::StatusOr<FileView> CollectView(const MountRequest& request);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_MOUNT_ENTRIES_H_
