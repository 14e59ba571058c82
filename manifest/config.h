// Config: where the operator's files are, and the check that they are the operator's.
#ifndef WARDER_MANIFEST_CONFIG_H_
#define WARDER_MANIFEST_CONFIG_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/expansion.h"

namespace warder::manifest {

// The places of DESIGN 7.8. Root uses the system column, anyone else the user column.
struct Config {
  std::string config_dir;   // /etc/warder or $XDG_CONFIG_HOME/warder
  std::string share_dir;    // <directory of the binary>/../share/warder
  std::string state_dir;    // /var/lib/warder or $XDG_STATE_HOME/warder
  std::string runtime_dir;  // /run/warder or $XDG_RUNTIME_DIR/warder (falls back to state_dir/run)
  std::vector<std::string> workspaces;  // real paths; no configuration may lie inside one
};

// Works the places out from the user id, the environment (XDG_*, HOME) and /proc/self/exe. An empty
// or relative XDG value counts as unset.
//
// Errors: kFailedPrecondition (no /proc; neither XDG value nor HOME says where).
absl::StatusOr<Config> LocateConfig();
// The same from given facts; `executable` is the real path of the binary.
absl::StatusOr<Config> LocateConfigFrom(bool root, const VariableLookup& variable,
                                        const std::string& executable);

struct TrustedFile {
  std::string path;  // real path
  std::string bytes;
};

// Reads `path` if it is a regular file owned by root or the running user, writable by nobody else,
// and outside every workspace of `config`; at most `limit_bytes`. The directories above it must be
// such, too (one above its own may be sticky, as /tmp is). A link is followed when its own
// directory stands the same test.
//
// Errors: kNotFound, kPermissionDenied (names the file, what is wrong, and the chmod/chown that
//   mends it), kInvalidArgument (no regular file, path that cannot be one), kResourceExhausted;
//   rarely those of OpenHostPath.
absl::StatusOr<TrustedFile> ReadTrustedFile(const Config& config, const std::string& path,
                                            std::size_t limit_bytes = 1u << 20);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_CONFIG_H_
