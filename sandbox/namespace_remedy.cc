#include "sandbox/namespace_remedy.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_format.h"

namespace warder::sandbox {
namespace {

struct Namespace {
  std::uint64_t flag;
  const char* name;   // as the attestation names the layer
  const char* limit;  // the sysctl's name for it
  const char* option;
};
constexpr Namespace kNamespaces[] = {
    {CLONE_NEWUSER, "user", "user", "CONFIG_USER_NS"},
    {CLONE_NEWPID, "pid", "pid", "CONFIG_PID_NS"},
    {CLONE_NEWNS, "mount", "mnt", "CONFIG_NAMESPACES"},
    {CLONE_NEWIPC, "ipc", "ipc", "CONFIG_IPC_NS"},
    {CLONE_NEWUTS, "uts", "uts", "CONFIG_UTS_NS"},
    {CLONE_NEWNET, "network", "net", "CONFIG_NET_NS"},
    {CLONE_NEWCGROUP, "cgroup", "cgroup", "CONFIG_CGROUPS"},
};

// The kernel's own default is a few thousand for each GiB of memory.
constexpr int kUsualLimit = 15000;

bool Reads(const char* path, const char* value) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line == value;
}

// The errno of making one such namespace, or 0.
int TryNamespace(std::uint64_t flags) {
  const long pid = syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  if (pid < 0) return errno;
  while (waitpid(static_cast<pid_t>(pid), nullptr, 0) < 0 && errno == EINTR) continue;
  return 0;
}

std::string Why(const Namespace& kind, int error) {
  if (error == ENOSPC || error == EUSERS) {
    return absl::StrFormat("the limit is reached: raise sysctl user.max_%s_namespaces (to %d)",
                           kind.limit, kUsualLimit);
  }
  if (error == EINVAL || error == ENOSYS) {
    return absl::StrFormat("this kernel has none: use one with %s=y", kind.option);
  }
  if (kind.flag == CLONE_NEWUSER) return UserNamespaceRemedy();
  return "refused: needs CAP_SYS_ADMIN, as root or in a user namespace, and no container or "
         "security module that refuses it";
}

}  // namespace

std::string UserNamespaceRemedy() {
  if (Reads("/proc/sys/kernel/unprivileged_userns_clone", "0")) {
    return "sysctl kernel.unprivileged_userns_clone is 0: set it to 1 or run as root";
  }
  if (Reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")) {
    return "sysctl kernel.apparmor_restrict_unprivileged_userns is 1: add an AppArmor profile with "
           "`userns,` for warder, set it to 0, or run as root";
  }
  return "a container, a chroot or a security module refuses them: allow unshare(CLONE_NEWUSER) "
         "there, or run warder outside";
}

std::string NamespaceRemedy(std::uint64_t flags) {
  std::string text;
  for (const Namespace& kind : kNamespaces) {
    if ((flags & kind.flag) == 0) continue;
    const int error = TryNamespace(kind.flag | (flags & CLONE_NEWUSER));
    if (error == 0) continue;
    text += absl::StrFormat("%s%s namespace: %s", text.empty() ? "" : "; ", kind.name,
                            Why(kind, error));
    if (kind.flag == CLONE_NEWUSER) break;  // the others were asked for inside it
  }
  return text;
}

}  // namespace warder::sandbox
