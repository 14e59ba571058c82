// Catalog: the tools that one workspace offers, layered from its own manifest and the global one.
#ifndef WARDER_MANIFEST_CATALOG_H_
#define WARDER_MANIFEST_CATALOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/tool_spec.h"
#include "sandbox/unique_fd.h"

namespace warder::manifest {

inline constexpr std::size_t kMaxManifestBytes = 1u << 20;  // a thousand times a usual manifest
// In one manifest; more than a model or a person can choose from.
inline constexpr std::size_t kMaxTools = 256;
inline constexpr std::size_t kMaxToolNameBytes = 64;  // what MCP clients take

// Hosts offer the tools of their MCP servers under names with this prefix.
inline constexpr std::string_view kForeignToolPrefix = "mcp__";
// Words of warder's own command line and of its approvers' answers: a tool of that name could be
// taken for them.
inline constexpr std::array<std::string_view, 18> kReservedToolNames = {
    "allow", "approve", "audit",   "call",   "check",   "deny",  "doctor", "exec", "help",
    "list",  "mcp",     "pending", "policy", "preview", "rules", "status", "top",  "warder"};

// Parses the bytes of one manifest (schema 1, DESIGN 7.1). Opens nothing, reads no environment.
// Errors: kInvalidArgument "SOURCE:LINE:COLUMN: tool `NAME`: field: what"; kResourceExhausted.
absl::StatusOr<std::vector<ToolSpec>> ParseManifest(std::string_view bytes,
                                                    std::string_view source);

// A workspace directory, opened once. `path` is the real path of `fd` (absolute, no symlinks),
// device and inode its identity.
struct Workspace {
  std::string path;
  sandbox::UniqueFd fd;  // O_PATH | O_DIRECTORY
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
// Errors: kNotFound, kInvalidArgument (not a directory), kFailedPrecondition ("/" cannot be a
// workspace).
absl::StatusOr<Workspace> OpenWorkspace(const std::string& path);

struct ShadowedTool {
  std::string name;
  std::string source;  // the manifest whose entry is not used
  std::string shadowed_by;
};

// Sorted by name. Move-only because of the workspace descriptor.
struct Catalog {
  std::vector<ToolSpec> tools;
  std::vector<ShadowedTool> shadowed;
  const ToolSpec* Find(std::string_view name) const;
};

// Reads `<workspace>/.basis/tools.json`, then `global_manifest` (may be ""); the workspace's entry
// wins by name, and the same file reached twice is one source. A missing file means no tools; a
// directory in its place is ignored; a link, FIFO, socket or device is refused; any fault in either
// file fails the whole. The global one must stand the test of ReadTrustedFile.
//
// Errors: those of ParseManifest, kPermissionDenied (unreadable, not the operator's),
//   kResourceExhausted (too large).
absl::StatusOr<Catalog> LoadCatalog(const Workspace& workspace, const std::string& global_manifest);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_CATALOG_H_
