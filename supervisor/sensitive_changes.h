// SensitiveChanges: what a call left in a writable workspace that would act later, outside any
// cell, and what it took away that would have.
#ifndef WARDER_SUPERVISOR_SENSITIVE_CHANGES_H_
#define WARDER_SUPERVISOR_SENSITIVE_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/catalog.h"
#include "manifest/tool_spec.h"
#include "sandbox/policy.h"
#include "sandbox/quarantine.h"
#include "sandbox/tree_walk.h"
#include "supervisor/sensitive_removals.h"

namespace warder::supervisor {

struct SensitiveChange {
  std::string kind;                        // "git hook", "socket", ...
  std::string path;                        // relative to the workspace; any bytes
  std::optional<manifest::Sha256> sha256;  // of a configuration file of up to kMaxDigestBytes
  std::string moved_to;                    // of a protected name that was moved to quarantine
  std::string fault;                       // why it could not be moved, or not to quarantine
  bool removed = false;                    // it was there before the call
};

struct SensitiveChanges {
  std::vector<SensitiveChange> changes;
  std::size_t left_out = 0;              // changes beyond kMaxChanges
  std::vector<sandbox::WalkGap> unseen;  // what was not looked at
  std::size_t unseen_count = 0;
};

inline constexpr std::size_t kMaxChanges = 256;             // more than anyone reads
inline constexpr std::size_t kMaxDigestBytes = 256u << 10;  // of one file

// Looks at a workspace after a call. Make it before the call starts: what counts as changed is what
// has a later change time (ctime, which a tool cannot set). A file that was rewritten with the same
// bytes counts. Where times are another machine's (NFS and the like), everything sensitive counts.
class SensitiveScan {
 public:
  // Borrows both.
  SensitiveScan(const manifest::Workspace& workspace, const sandbox::FilesystemPolicy& policy);

  // Looks at one directory more; false at the end. Blocks for that long.
  bool Step();
  // What Step found, after what was quarantined.
  SensitiveChanges Take(const std::vector<sandbox::Quarantined>& quarantined);

 private:
  bool Changed(const struct stat& status) const;
  void FixSince();
  void Look(const sandbox::WalkDirectory& directory);
  void LookAt(const sandbox::WalkDirectory& directory, const sandbox::WalkEntry& entry,
              bool in_repository);
  void CountName(const std::string& path, const struct stat& status);
  void Report(std::string_view kind, std::string path, bool removed = false);
  void ReportNamesElsewhere();
  void ReportRemovals();
  void ReportFile(const sandbox::WalkDirectory& directory, const sandbox::WalkEntry& entry,
                  std::string_view kind, std::string_view contains);

  const manifest::Workspace& workspace_;
  bool git_is_held_;  // the root's `.git` cannot be moved: the policy protects what is in it
  std::int64_t since_ns_ = 0;
  std::int64_t clock_offset_ns_ = 0;  // CLOCK_REALTIME - CLOCK_BOOTTIME
  bool started_ = false;
  SensitiveRemovals removals_;
  sandbox::TreeWalk walk_;
  // Directories that were moved to a sensitive place, with everything below them; and those that
  // git would take for a repository.
  std::set<std::string> moved_, repositories_;
  // Changed files that have several names, by device and inode.
  struct Names {
    std::string path;  // the first one
    nlink_t all = 0, seen = 0;
  };
  std::map<std::pair<dev_t, ino_t>, Names> names_;
  SensitiveChanges found_;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_SENSITIVE_CHANGES_H_
