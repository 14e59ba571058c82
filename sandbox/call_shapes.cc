#include "sandbox/call_shapes.h"

#include <linux/fs.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"

namespace warder::sandbox {
namespace {

using enum PartKind;

// Every call that a shipped policy denies with an errno and that acts on something that can be
// named, and those that an operator's policy is most likely to deny.
constexpr CallShape kShapes[] = {
    {"mount", {{{kPath, 1, "target"}, {kText, 2, "type"}, {kPath, 0, "source"}}}},
    {"umount2", {{{kPath, 0, "target"}}}},
    {"chroot", {{{kPath, 0, "path"}}}},
    {"pivot_root", {{{kPath, 0, "new"}, {kPath, 1, "old"}}}},
    {"move_mount", {{{kPathAt, 1, "from"}, {kPathAt, 3, "to"}}}},
    {"open_tree", {{{kPathAt, 1, "path"}}}},
    {"fsopen", {{{kText, 0, "type"}}}},
    {"fspick", {{{kPathAt, 1, "path"}}}},
    {"fsconfig", {{{kDescriptor, 0, "fd"}, {kNumber, 1, "command"}, {kText, 2, "key"}}}},
    {"fsmount", {{{kDescriptor, 0, "fd"}}}},
    {"mount_setattr", {{{kPathAt, 1, "path"}}}},
    {"unshare", {{{kCloneFlags, 0, "flags"}}}},
    {"setns", {{{kDescriptor, 0, "fd"}, {kCloneFlags, 1, "type"}}}},
    {"clone", {{{kCloneFlags, 0, "flags"}}}},
    {"finit_module", {{{kDescriptor, 0, "fd"}}}},
    {"delete_module", {{{kText, 0, "module"}}}},
    {"acct", {{{kPath, 0, "path"}}}},
    {"reboot", {{{kHex, 2, "command"}}}},
    {"swapon", {{{kPath, 0, "path"}}}},
    {"swapoff", {{{kPath, 0, "path"}}}},
    {"syslog", {{{kNumber, 0, "action"}}}},
    {"quotactl", {{{kText, 1, "device"}, {kHex, 0, "command"}}}},
    {"add_key", {{{kText, 0, "type"}, {kText, 1, "description"}}}},
    {"request_key", {{{kText, 0, "type"}, {kText, 1, "description"}}}},
    {"keyctl", {{{kNumber, 0, "operation"}}}},
    {"bpf", {{{kNumber, 0, "command"}}}},
    {"perf_event_open", {{{kNumber, 1, "pid"}, {kNumber, 2, "cpu"}}}},
    {"userfaultfd", {{{kHex, 0, "flags"}}}},
    {"memfd_secret", {{{kHex, 0, "flags"}}}},
    {"vmsplice", {{{kDescriptor, 0, "fd"}}}},
    {"ptrace", {{{kNumber, 0, "request"}, {kNumber, 1, "pid"}}}},
    {"process_vm_readv", {{{kNumber, 0, "pid"}}}},
    {"process_vm_writev", {{{kNumber, 0, "pid"}}}},
    {"process_madvise", {{{kDescriptor, 0, "pidfd"}}}},
    {"process_mrelease", {{{kDescriptor, 0, "pidfd"}}}},
    {"pidfd_getfd", {{{kDescriptor, 0, "pidfd"}, {kNumber, 1, "fd"}}}},
    {"kcmp", {{{kNumber, 0, "pid1"}, {kNumber, 1, "pid2"}}}},
    {"clock_settime", {{{kNumber, 0, "clock"}}}},
    {"clock_adjtime", {{{kNumber, 0, "clock"}}}},
    {"fanotify_init", {{{kHex, 0, "flags"}}}},
    {"fanotify_mark", {{{kPathAt, 4, "path"}}}},
    {"name_to_handle_at", {{{kPathAt, 1, "path"}}}},
    {"open_by_handle_at", {{{kDescriptor, 0, "mount"}}}},
    {"migrate_pages", {{{kNumber, 0, "pid"}}}},
    {"move_pages", {{{kNumber, 0, "pid"}}}},
    {"iopl", {{{kNumber, 0, "level"}}}},
    {"ioperm", {{{kHex, 0, "from"}, {kNumber, 1, "count"}}}},
    {"modify_ldt", {{{kNumber, 0, "function"}}}},
    {"sched_setattr", {{{kNumber, 0, "pid"}}}},
    {"sched_setscheduler", {{{kNumber, 0, "pid"}, {kNumber, 1, "policy"}}}},
    {"ioctl", {{{kRequest, 1, "request"}, {kDescriptor, 0, "fd"}}}},
    {"prlimit64", {{{kNumber, 0, "pid"}, {kNumber, 1, "resource"}}}},
    {"personality", {{{kHex, 0, "persona"}}}},
    {"prctl", {{{kNumber, 0, "option"}}}},
    {"arch_prctl", {{{kHex, 0, "option"}}}},
    {"chmod", {{{kPath, 0, "path"}, {kMode, 1, "mode"}}}},
    {"fchmod", {{{kDescriptor, 0, "fd"}, {kMode, 1, "mode"}}}},
    {"fchmodat", {{{kPathAt, 1, "path"}, {kMode, 2, "mode"}}}},
    {"chown", {{{kPath, 0, "path"}, {kNumber, 1, "uid"}, {kNumber, 2, "gid"}}}},
    {"lchown", {{{kPath, 0, "path"}, {kNumber, 1, "uid"}, {kNumber, 2, "gid"}}}},
    {"fchown", {{{kDescriptor, 0, "fd"}, {kNumber, 1, "uid"}, {kNumber, 2, "gid"}}}},
    {"fchownat", {{{kPathAt, 1, "path"}, {kNumber, 2, "uid"}, {kNumber, 3, "gid"}}}},
    {"creat", {{{kPath, 0, "path"}, {kMode, 1, "mode"}}}},
    {"mknod", {{{kPath, 0, "path"}, {kMode, 1, "mode"}}}},
    {"mknodat", {{{kPathAt, 1, "path"}, {kMode, 2, "mode"}}}},
    {"open", {{{kPath, 0, "path"}, {kHex, 1, "flags"}, {kMode, 2, "mode"}}}},
    {"openat", {{{kPathAt, 1, "path"}, {kHex, 2, "flags"}, {kMode, 3, "mode"}}}},
    {"mkdir", {{{kPath, 0, "path"}, {kMode, 1, "mode"}}}},
    {"mkdirat", {{{kPathAt, 1, "path"}, {kMode, 2, "mode"}}}},
    {"rmdir", {{{kPath, 0, "path"}}}},
    {"unlink", {{{kPath, 0, "path"}}}},
    {"unlinkat", {{{kPathAt, 1, "path"}}}},
    {"rename", {{{kPath, 0, "from"}, {kPath, 1, "to"}}}},
    {"renameat", {{{kPathAt, 1, "from"}, {kPathAt, 3, "to"}}}},
    {"renameat2", {{{kPathAt, 1, "from"}, {kPathAt, 3, "to"}}}},
    {"link", {{{kPath, 0, "from"}, {kPath, 1, "to"}}}},
    {"linkat", {{{kPathAt, 1, "from"}, {kPathAt, 3, "to"}}}},
    {"symlink", {{{kText, 0, "to"}, {kPath, 1, "path"}}}},
    {"symlinkat", {{{kText, 0, "to"}, {kPathAt, 2, "path"}}}},
    {"truncate", {{{kPath, 0, "path"}}}},
    {"ftruncate", {{{kDescriptor, 0, "fd"}}}},
    {"setxattr", {{{kPath, 0, "path"}, {kText, 1, "name"}}}},
    {"lsetxattr", {{{kPath, 0, "path"}, {kText, 1, "name"}}}},
    {"fsetxattr", {{{kDescriptor, 0, "fd"}, {kText, 1, "name"}}}},
    {"execve", {{{kPath, 0, "path"}}}},
    {"execveat", {{{kPathAt, 1, "path"}}}},
    {"socket", {{{kFamily, 0, "family"}, {kSocketType, 1, "type"}, {kNumber, 2, "protocol"}}}},
    {"socketpair", {{{kFamily, 0, "family"}, {kSocketType, 1, "type"}, {kNumber, 2, "protocol"}}}},
    {"connect", {{{kAddress, 1, "address"}, {kDescriptor, 0, "fd"}}}},
    {"bind", {{{kAddress, 1, "address"}, {kDescriptor, 0, "fd"}}}},
    {"sendto", {{{kAddress, 4, "address"}, {kDescriptor, 0, "fd"}}}},
    {"listen", {{{kDescriptor, 0, "fd"}}}},
    {"kill", {{{kNumber, 0, "pid"}, {kNumber, 1, "signal"}}}},
    {"tkill", {{{kNumber, 0, "tid"}, {kNumber, 1, "signal"}}}},
    {"tgkill", {{{kNumber, 0, "pid"}, {kNumber, 1, "tid"}, {kNumber, 2, "signal"}}}},
    {"pidfd_send_signal", {{{kDescriptor, 0, "pidfd"}, {kNumber, 1, "signal"}}}},
    {"memfd_create", {{{kText, 0, "name"}, {kHex, 1, "flags"}}}},
    {"mq_open", {{{kText, 0, "name"}}}},
    {"setpriority", {{{kNumber, 0, "which"}, {kNumber, 1, "who"}, {kNumber, 2, "priority"}}}},
};

constexpr NamedNumber kFamilyNames[] = {
    {AF_UNIX, "AF_UNIX"}, {AF_INET, "AF_INET"},       {AF_INET6, "AF_INET6"},
    {AF_AX25, "AF_AX25"}, {AF_IPX, "AF_IPX"},         {AF_APPLETALK, "AF_APPLETALK"},
    {AF_KEY, "AF_KEY"},   {AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"},
    {AF_RDS, "AF_RDS"},   {AF_PPPOX, "AF_PPPOX"},     {AF_LLC, "AF_LLC"},
    {AF_CAN, "AF_CAN"},   {AF_TIPC, "AF_TIPC"},       {AF_BLUETOOTH, "AF_BLUETOOTH"},
    {AF_ALG, "AF_ALG"},   {AF_NFC, "AF_NFC"},         {AF_VSOCK, "AF_VSOCK"},
    {AF_KCM, "AF_KCM"},   {AF_QIPCRTR, "AF_QIPCRTR"}, {AF_SMC, "AF_SMC"},
    {AF_XDP, "AF_XDP"}};

constexpr NamedNumber kTypeNames[] = {
    {SOCK_STREAM, "SOCK_STREAM"}, {SOCK_DGRAM, "SOCK_DGRAM"},         {SOCK_RAW, "SOCK_RAW"},
    {SOCK_RDM, "SOCK_RDM"},       {SOCK_SEQPACKET, "SOCK_SEQPACKET"}, {SOCK_DCCP, "SOCK_DCCP"},
    {SOCK_PACKET, "SOCK_PACKET"}};

constexpr NamedNumber kRequestNames[] = {{TIOCSTI, "TIOCSTI"},
                                         {TIOCLINUX, "TIOCLINUX"},
                                         {TIOCCONS, "TIOCCONS"},
                                         {TIOCSSERIAL, "TIOCSSERIAL"},
                                         {TIOCSETD, "TIOCSETD"},
                                         {TIOCVHANGUP, "TIOCVHANGUP"},
                                         {TIOCSCTTY, "TIOCSCTTY"},
                                         {FIBMAP, "FIBMAP"},
                                         {FIFREEZE, "FIFREEZE"},
                                         {FITHAW, "FITHAW"},
                                         {FITRIM, "FITRIM"},
                                         {FS_IOC_SETFLAGS, "FS_IOC_SETFLAGS"},
                                         {FS_IOC_SETVERSION, "FS_IOC_SETVERSION"},
                                         {FS_IOC_FSSETXATTR, "FS_IOC_FSSETXATTR"}};

constexpr NamedNumber kCloneFlagNames[] = {
    {CLONE_NEWTIME, "CLONE_NEWTIME"},     {CLONE_NEWNS, "CLONE_NEWNS"},
    {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"}, {CLONE_NEWUTS, "CLONE_NEWUTS"},
    {CLONE_NEWIPC, "CLONE_NEWIPC"},       {CLONE_NEWUSER, "CLONE_NEWUSER"},
    {CLONE_NEWPID, "CLONE_NEWPID"},       {CLONE_NEWNET, "CLONE_NEWNET"},
    {CLONE_PARENT, "CLONE_PARENT"}};

}  // namespace

const std::span<const NamedNumber> kFamilies(kFamilyNames);
const std::span<const NamedNumber> kSocketTypes(kTypeNames);
const std::span<const NamedNumber> kRequests(kRequestNames);
const std::span<const NamedNumber> kCloneBits(kCloneFlagNames);

const CallShape* ShapeOf(std::string_view name) {
  const auto* found = std::find_if(std::begin(kShapes), std::end(kShapes),
                                   [&](const CallShape& shape) { return shape.name == name; });
  return found == std::end(kShapes) ? nullptr : found;
}

std::string NameOf(std::span<const NamedNumber> names, std::uint32_t value) {
  for (const auto& [number, name] : names) {
    if (number == value) return name;
  }
  return absl::StrFormat("%#x", value);
}

std::optional<std::uint32_t> NumberOf(std::string_view name) {
  for (const auto names : {kFamilies, kSocketTypes, kRequests, kCloneBits}) {
    for (const auto& [number, known] : names) {
      if (known == name) return number;
    }
  }
  return std::nullopt;
}

}  // namespace warder::sandbox
