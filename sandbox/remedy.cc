#include "sandbox/remedy.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_format.h"
#include "sandbox/namespace_remedy.h"

namespace warder::sandbox {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// In the words of the kernel's own documentation and of seccomp profiles, so that they can be
// looked up.
constexpr Pair kRemedies[] = {
    {"user namespace",
     "set sysctl user.max_user_namespaces to 15000 and, on Debian, "
     "kernel.unprivileged_userns_clone to 1; in a container, allow clone3(2), unshare(2) and "
     "setns(2) with CLONE_NEWUSER; or run as root"},
    {"pid namespace",
     "use a kernel with CONFIG_PID_NS=y; in a container, allow clone3(2), setns(2) and "
     "pidfd_open(2)"},
    {"network namespace",
     "use a kernel with CONFIG_NET_NS=y; in a container, allow socket(2) and ioctl(2)"},
    {"uts namespace", "use a kernel with CONFIG_UTS_NS=y; in a container, allow sethostname(2)"},
    {"ipc namespace",
     "use a kernel with CONFIG_IPC_NS=y; in a container, allow unshare(2) with CLONE_NEWIPC"},
    {"cgroup namespace",
     "use a kernel with CONFIG_CGROUPS=y; in a container, allow unshare(2) with CLONE_NEWCGROUP"},
    {"user id", "in a container, allow setresuid(2), setresgid(2) and setgroups(2)"},
    {"file view",
     "use kernel 5.12 or newer; in a container, run with an unmasked /proc and allow mount(2), "
     "umount2(2), pivot_root(2), open_tree(2), move_mount(2), mount_setattr(2) and openat2(2)"},
    {"capabilities", "in a container, allow capset(2) and prctl(2)"},
    {"no_new_privs", "in a container, allow prctl(2)"},
    {"seccomp",
     "use a kernel with CONFIG_SECCOMP_FILTER=y; in a container, allow seccomp(2) and "
     "pidfd_getfd(2); sysctl kernel.yama.ptrace_scope must be below 3"},
    {"landlock",
     "use a kernel with CONFIG_SECURITY_LANDLOCK=y and put `landlock` into its lsm= boot "
     "parameter; in a container, allow landlock_create_ruleset(2), landlock_add_rule(2) and "
     "landlock_restrict_self(2); where the file view is enough, let a policy of your own say "
     "`on_missing_landlock`: degrade"},
    {"resource limits", "in a container, allow prlimit64(2)"},
    {"control group",
     "run as root, or in a systemd unit with Delegate=yes (`systemd-run --user --scope -p "
     "Delegate=yes warder ...`), or name a delegated v2 group as `cgroup_parent` in config.json; "
     "where limits of each process are enough, let a policy of your own say `on_missing_cgroup`: "
     "degrade"},
    {"descriptors", "use kernel 5.9 or newer; in a container, allow close_range(2) and dup3(2)"},
    {"session", "in a container, allow setsid(2)"},
};

constexpr Pair kLayers[] = {
    {"clone", "user namespace"},
    {"join-namespace", "user namespace"},
    {"clone-tool", "pid namespace"},
    {"new-namespace", "cgroup namespace"},
    {"loopback-up", "network namespace"},
    {"set-host-name", "uts namespace"},
    {"id-map", "user id"},
    {"set-group", "user id"},
    {"clear-groups", "user id"},
    {"set-user", "user id"},
    {"make-mounts-private", "file view"},
    {"mount", "file view"},
    {"unmount", "file view"},
    {"place-mount", "file view"},
    {"place-pinned-file", "file view"},
    {"mount-attributes", "file view"},
    {"pivot-root", "file view"},
    {"drop-bounding-set", "capabilities"},
    {"set-capabilities", "capabilities"},
    {"no-new-privileges", "no_new_privs"},
    {"seccomp", "seccomp"},
    {"landlock-ruleset", "landlock"},
    {"landlock-rule", "landlock"},
    {"landlock", "landlock"},
    {"set-limit", "resource limits"},
    {"control-group", "control group"},
    {"close-unused", "descriptors"},
    {"close-descriptors", "descriptors"},
    {"standard-streams", "descriptors"},
    {"new-session", "session"},
};

template <std::size_t N>
std::string_view Find(const Pair (&pairs)[N], std::string_view key, std::string_view otherwise) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return value;
  }
  return otherwise;
}

// What is known of one step and one error beyond the layer; "" when nothing is.
std::string Particular(const Step& step, int error) {
  if (error == ESTALE) return "what is there now is not what was shown";
  if (step.kind == StepKind::kNewNamespace) return NamespaceRemedy(step.value);
  if (step.kind == StepKind::kMount && error == EPERM) {
    return "a container may mask /proc: run with an unmasked /proc, or as root";
  }
  if (step.kind == StepKind::kMount && error == ENODEV) {
    const char* type = static_cast<const MountArguments*>(step.data)->type;
    return absl::StrFormat(
        "this kernel has no file system `%s`, or did not load its module: as root, modprobe %s",
        type, type);
  }
  if (step.kind == StepKind::kPivotRoot && error == EINVAL) {
    return "a system that runs from its initial RAM disk cannot: switch_root to a mounted file "
           "system first";
  }
  return "";
}

}  // namespace

std::string LayerRemedy(std::string_view layer) {
  return std::string(
      Find(kRemedies, layer, "use kernel 5.15 or newer with all namespaces built in"));
}

std::string StepRemedy(std::string_view step, int error) {
  const std::string_view layer = Find(kLayers, step, "");
  const bool refused = error == EPERM || error == ENOSYS || error == EOPNOTSUPP;
  if (layer.empty() || !refused) return "";
  return absl::StrFormat("; layer `%s`: %s", std::string(layer), LayerRemedy(layer));
}

std::string StepRemedy(const Step& step, int error) {
  const std::string particular = Particular(step, error);
  return particular.empty() ? StepRemedy(StepName(step.kind), error) : "; " + particular;
}

}  // namespace warder::sandbox
