// ServeLauncher: builds cells for the supervisor, and tells it what the kernel says of them.
#ifndef WARDER_SUPERVISOR_LAUNCHER_SERVER_H_
#define WARDER_SUPERVISOR_LAUNCHER_SERVER_H_

#include "manifest/config.h"
#include "sandbox/cgroup_host.h"
#include "sandbox/host.h"
#include "supervisor/launcher_settings.h"
#include "supervisor/policy_store.h"

namespace warder::supervisor {

// Serves kLauncherSocketFd until the supervisor closes it, and then ends the calls that still run.
void ServeLauncher(manifest::Config config, PolicyStore policies, const sandbox::Host& host,
                   sandbox::CgroupHost cgroups, const sandbox::UidRange& uids);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_LAUNCHER_SERVER_H_
