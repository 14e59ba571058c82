// LauncherSettings: what config.json says to the launcher.
#ifndef WARDER_SUPERVISOR_LAUNCHER_SETTINGS_H_
#define WARDER_SUPERVISOR_LAUNCHER_SETTINGS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "manifest/config.h"
#include "sandbox/host.h"

namespace warder::supervisor {

struct LauncherSettings {
  sandbox::UidRange uids;
  std::optional<std::string> cgroup_parent;  // absolute path in the v2 control group tree
};

// Reads `<config_dir>/config.json`: {"schema": 1, "uid_range": {"first": N, "count": N},
// "cgroup_parent": "/sys/fs/cgroup/..."}; each member may be left out. A missing file means the
// defaults. Errors: kInvalidArgument "FILE:LINE:COLUMN: what", kPermissionDenied (not the
// operator's file).
absl::StatusOr<LauncherSettings> ReadLauncherSettings(const manifest::Config& config);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_LAUNCHER_SETTINGS_H_
