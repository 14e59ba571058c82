// Pinning: holds the content of one file that a call executes, so that what was hashed is what
// runs.
#ifndef WARDER_MANIFEST_PINNING_H_
#define WARDER_MANIFEST_PINNING_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "manifest/host_path.h"
#include "manifest/prepared_call.h"

namespace warder::manifest {

// The largest program: above any single executable of a distribution, below what a copy may cost in
// memory.
inline constexpr std::uint64_t kMaxProgramBytes = 512u << 20;

// True when someone other than root could change `file` or put another one in its place: it or a
// directory above it belongs to another user, or is writable for its group or for everyone (a
// sticky directory of root is not).
bool OthersMayChange(const HostPath& file);

// Opens, hashes and holds the content of `file`, a regular file that someone may execute.
//
// Copies it to sealed memory when others may change it, or when a cell may (`view`); else holds the
// host's file, whose digest is remembered for this process by device, inode, size and times.
// Errors: kPermissionDenied (no permission to read, not executable, noexec mount), kInvalidArgument
//   (not a regular file), kResourceExhausted (above kMaxProgramBytes, memory, descriptors),
//   kAborted (changed while it was read), kFailedPrecondition (executable memory switched off on
//   this host).
// Source: memfd_create(2), fcntl(2) "File Sealing".
absl::StatusOr<PinnedFile> Pin(const HostPath& file, const CellView& view, FileRole role,
                               std::string written);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_PINNING_H_
