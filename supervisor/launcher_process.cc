// The launcher process: reads its settings and policies, becomes what may build cells, and serves.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "supervisor/launch_protocol.h"
#include "supervisor/launcher.h"
#include "supervisor/launcher_server.h"

namespace warder::supervisor {
namespace {

// False when nobody hears it; the supervisor then sees the end of file.
bool ReplyHello(const std::string& fault) {
  Message reply;
  reply.body = fault;
  return SendMessage(kLauncherSocketFd, reply).ok();
}

}  // namespace

int LauncherMain() {
  sandbox::ResetSignals();
  pollfd ready = {kLauncherSocketFd, POLLIN, 0};
  while (poll(&ready, 1, -1) < 0 && errno == EINTR) continue;
  auto hello = ReceiveMessage(kLauncherSocketFd);
  if (!hello.ok() || hello->kind != MessageKind::kHello) return 125;
  auto config = DecodeConfig(hello->body);
  if (!config.has_value()) return 125;
  // Settings first: an ordinary user's own files are not readable as anyone else's once in a user
  // namespace.
  auto settings = ReadLauncherSettings(*config);
  if (!settings.ok()) {
    ReplyHello(std::string(settings.status().message()));
    return 125;
  }
  PolicyStore policies(*config);
  const absl::Status loaded = geteuid() == 0 ? absl::OkStatus() : policies.LoadAll();
  if (!loaded.ok()) {
    ReplyHello(std::string(loaded.message()));
    return 125;
  }
  auto host = sandbox::EnterLauncher();
  if (!host.ok()) {
    ReplyHello(std::string(host.status().message()));
    return 125;
  }
  auto cgroups = sandbox::FindCgroupHost(settings->cgroup_parent);
  if (!cgroups.ok()) {
    ReplyHello(std::string(cgroups.status().message()));
    return 125;
  }
  prctl(PR_SET_NAME, "warder-launcher");
  if (!ReplyHello("")) return 125;
  ServeLauncher(*std::move(config), std::move(policies), *host, *std::move(cgroups),
                settings->uids);
  return 0;
}

}  // namespace warder::supervisor
