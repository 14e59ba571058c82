// HostPath: one file or directory of the host, opened once and named by its real path; and what of
// the host a cell sees.
#ifndef WARDER_MANIFEST_HOST_PATH_H_
#define WARDER_MANIFEST_HOST_PATH_H_

#include <sys/stat.h>
#include <sys/vfs.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/catalog.h"
#include "manifest/policy_file.h"
#include "sandbox/unique_fd.h"

namespace warder::manifest {

// Owns the descriptor. `status` and `file_system` are what fstat(2) and fstatfs(2) said of it.
struct HostPath {
  std::string path;      // absolute, no symlink in it
  sandbox::UniqueFd fd;  // O_PATH
  struct stat status = {};
  struct statfs file_system = {};
};

// Opens `path`, relative to the directory `base_fd` unless absolute, through ordinary symlinks but
// never through the links of /proc, and never a file of procfs: those name whatever the reader has
// open.
//
// Errors say what is wrong and not with which path, because a path may hold a secret: kNotFound,
//   kInvalidArgument (link of /proc, link loop, file of procfs, name too long), kPermissionDenied
//   (directory that may not be searched), kAborted (moved while it was opened), kResourceExhausted
//   (descriptors), kFailedPrecondition (no /proc, no openat2).
// Source: openat2(2), RESOLVE_NO_MAGICLINKS, since Linux 5.6.
absl::StatusOr<HostPath> OpenHostPath(int base_fd, const std::string& path);

// What a policy lets a cell see. Borrows both arguments.
class CellView {
 public:
  CellView(const Workspace& workspace, const NamedPolicy& policy);

  // The longest path that covers `real_path` decides, whatever the order in the policy.
  // Errors: kPermissionDenied when `real_path` is outside the workspace and all grants, or hidden:
  //   names policy and path.
  absl::Status Check(const std::string& real_path) const;

  // Check() for `target`, and before it for every link that the last name of `written` (absolute)
  // goes through: a program such as `.venv/bin/python3` finds its files by the link.
  absl::Status CheckWithLinks(const std::string& written, const HostPath& target) const;

  // True when some cell may be allowed to write at `real_path`, whoever owns the file: it is in the
  // workspace (which another policy may make writable, through an id-mapped mount even for files of
  // root) or below a read-write grant.
  bool MayBeWritable(const std::string& real_path) const;

  const NamedPolicy& policy() const { return policy_; }

 private:
  const Workspace& workspace_;
  const NamedPolicy& policy_;
};

// `word` between backticks, for messages: control bytes as escapes (`\r`, `\x1b`), cut after 200
// bytes.
std::string Quoted(std::string_view word);

// `status` with "`prefix`: " before its message; OK stays OK.
absl::Status WithPrefix(const absl::Status& status, std::string_view prefix);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_HOST_PATH_H_
