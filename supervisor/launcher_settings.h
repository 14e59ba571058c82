// LauncherSettings: what config.json says to the launcher.
#ifndef WARDER_SUPERVISOR_LAUNCHER_SETTINGS_H_
#define WARDER_SUPERVISOR_LAUNCHER_SETTINGS_H_

#include "absl/status/statusor.h"
#include "manifest/config.h"
#include "sandbox/host.h"

namespace warder::supervisor {

struct LauncherSettings {
  sandbox::UidRange uids;
};

// Reads `<config_dir>/config.json`: {"schema": 1, "uid_range": {"first": N, "count": N}}. A missing
// file means the defaults. Errors: kInvalidArgument "FILE:LINE:COLUMN: what", kPermissionDenied
// (not the operator's file).
absl::StatusOr<LauncherSettings> ReadLauncherSettings(const manifest::Config& config);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_LAUNCHER_SETTINGS_H_
