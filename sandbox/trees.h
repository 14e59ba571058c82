// Trees: parts of the host's file view, cloned as detached mounts that a cell can be given.
#ifndef WARDER_SANDBOX_TREES_H_
#define WARDER_SANDBOX_TREES_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sandbox/policy.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// The owner on disk, and who that is inside the cell.
struct IdMap {
  uid_t disk_uid = 0;
  gid_t disk_gid = 0;
  uid_t cell_uid = 0;
  gid_t cell_gid = 0;
};

// A detached copy of the mount tree at `source`, with nosuid and (unless `devices`) nodev,
// read-only on request. With `map` files owned by disk_uid and disk_gid appear as, and are written
// by, the cell's ids. Needs CAP_SYS_ADMIN in the user namespace of our mount namespace; `map` needs
// it in the initial one. Errors: kFailedPrecondition, naming `what` and the call that failed.
// Source: open_tree(2), mount_setattr(2); 5.12.
struct TreeOptions {
  PathAccess access = PathAccess::kRead;
  bool devices = false;
  std::optional<IdMap> map = std::nullopt;
};
absl::StatusOr<UniqueFd> CloneTree(int source, const TreeOptions& options, const std::string& what);

// A user namespace that maps nothing but `map`, for id-mapped mounts. The process that made it is
// gone again.
absl::StatusOr<UniqueFd> MakeIdMapNamespace(const IdMap& map);

// Writes `text` to a file that exists, in one write. Errors: kInternal, with the path.
absl::Status WriteExisting(const std::string& path, const std::string& text);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_TREES_H_
