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
  kMask,     // an empty, read-only directory
};

struct MountEntry {
  std::string target;  // absolute
  EntryKind kind = EntryKind::kTree;
  UniqueFd tree;
  bool directory = true;
  std::string link;
  LandlockAccess access = LandlockAccess::kRead;
};

// True when `path` is `directory` or lies below it, by whole components.
bool IsBelow(std::string_view path, std::string_view directory);

// The entries that the policy's grants, workspace, protected and hidden paths ask for, parents
// before children. A longer path always wins over a shorter one, whatever the order in the file.
absl::StatusOr<std::vector<MountEntry>> CollectEntries(const MountRequest& request);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_MOUNT_ENTRIES_H_
