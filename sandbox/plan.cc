#include "sandbox/plan.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "sandbox/limits.h"
#include "sandbox/privileges.h"

namespace warder::sandbox {
namespace {

constexpr char kHostName[] = "cell";

// init sleeps for ever in pause(2); it can do nothing else, whatever happens to it.
constexpr sock_filter kInitFilter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pause, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

void AddIdentity(const CellRequest& request, StepList& steps) {
  steps.Add(StepKind::kSetGroup, std::to_string(request.gid)).value = request.gid;
  if (request.host->setgroups) steps.Add(StepKind::kClearGroups);
  steps.Add(StepKind::kSetUser, std::to_string(request.uid)).value = request.uid;
  // The change of credentials cleared it. A launcher that died meanwhile is met by the report or
  // the next barrier.
  steps.Add(StepKind::kDeathSignal);
}

void AddCloseRange(StepList& steps, unsigned first, int last) {
  Step& step = steps.Add(StepKind::kCloseRange);
  step.value = first;
  step.target = last;
}

void AddDropPrivileges(const CellRequest& request, std::uint64_t kept, StepList& steps) {
  Step& drop = steps.Add(StepKind::kDropBounding);
  drop.value = static_cast<std::uint64_t>(request.host->last_capability);
  drop.data_size = kept;
  steps.Add(StepKind::kSetCapabilities).value = kept;
  steps.Add(StepKind::kNoNewPrivileges);
}

Step& AddFilter(StepList& steps, const sock_filter* program, std::size_t size, const char* what) {
  Step& step = steps.Add(StepKind::kSeccomp, what);
  step.data = program;
  step.data_size = size;
  return step;
}

void AddOpen(StepList& steps, const std::string& path, const FileIdentity& identity, int flags,
             int slot) {
  const FileIdentity* kept = steps.KeepValue(identity);
  Step& step = steps.Add(StepKind::kOpenExpected, path);
  step.path = steps.Keep(path);
  step.value = static_cast<std::uint64_t>(flags);
  step.data = kept;
  step.target = slot;
}

void AddDuplicate(StepList& steps, int from, int to, int flags) {
  Step& step = steps.Add(StepKind::kDuplicate);
  step.fd = from;
  step.target = to;
  step.value = static_cast<std::uint64_t>(flags);
}

// Landlock knows a message queue by the root of its file system, so a rule needs it mounted.
void AddQueues(StepList& steps) {
  const MountArguments* arguments = steps.KeepValue(MountArguments{"mqueue", ""});
  Step& mount = steps.Add(StepKind::kMount, kQueueDirectory);
  mount.text = "mqueue";
  mount.path = kQueueDirectory;
  mount.value = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  mount.data = arguments;
}

// Copies what others could change onto the cell's own tmpfs and places each copy at the file's
// path. Opening the path again must give the copy: the path is then known to lead to what was
// shown.
void AddCopies(const ProgramRequest& program, StepList& steps) {
  const MountArguments* tmpfs = steps.KeepValue(MountArguments{"tmpfs", "mode=0755"});
  Step& mount = steps.Add(StepKind::kMount, kPinDirectory);
  mount.text = "tmpfs";
  mount.path = kPinDirectory;
  mount.value = MS_NOSUID | MS_NODEV;
  mount.data = tmpfs;
  for (std::size_t i = 0; i < program.files.size(); ++i) {
    const ProgramFile& file = program.files[i];
    if (!file.copied) continue;
    Step& copy = steps.Add(StepKind::kCopyFile, file.path);
    copy.fd = file.fd;
    copy.path = steps.Keep(absl::StrFormat("%s/%d", kPinDirectory, i));
    copy.value = 0555;
    copy.target = Slot(1);
    Step& bind = steps.Add(StepKind::kBindFile, file.path);
    bind.fd = Slot(1);
    bind.path = steps.Keep(file.path);
    Step& open = steps.Add(StepKind::kOpenSame, file.path);
    open.fd = Slot(1);
    open.path = steps.Keep(file.path);
    open.value = O_PATH;
    open.target = Slot(2);
    if (i == 0) AddDuplicate(steps, Slot(2), kExecFd, O_CLOEXEC);
  }
  Step& unmount = steps.Add(StepKind::kUnmount, kPinDirectory);
  unmount.path = kPinDirectory;
  unmount.value = MNT_DETACH;
}

void AddProgram(const ProgramRequest& program, StepList& steps) {
  AddOpen(steps, program.cwd, program.cwd_identity, O_PATH | O_DIRECTORY, Slot(0));
  steps.Add(StepKind::kEnterDirectory, program.cwd).fd = Slot(0);
  const auto copied = [](const ProgramFile& file) { return file.copied; };
  if (std::any_of(program.files.begin(), program.files.end(), copied)) AddCopies(program, steps);
  for (std::size_t i = 0; i < program.files.size(); ++i) {
    const ProgramFile& file = program.files[i];
    if (file.copied) continue;
    AddOpen(steps, file.path, file.identity, O_PATH, Slot(2));
    if (i == 0) AddDuplicate(steps, Slot(2), kExecFd, O_CLOEXEC);
  }
}

void AddLandlock(const CellRequest& request, const std::vector<PathRule>& rules, StepList& steps) {
  const int abi = request.host->landlock_abi;
  if (!HasLandlock(request)) return;
  const LandlockRuleset* ruleset = steps.KeepValue(CellRuleset(abi));
  Step& create = steps.Add(StepKind::kLandlockCreate);
  create.data = ruleset;
  create.data_size = RulesetSize(abi);
  create.target = Slot(3);
  for (const PathRule& rule : rules) {
    Step& step = steps.Add(StepKind::kLandlockRule, rule.path);
    step.fd = Slot(3);
    step.path = steps.Keep(rule.path);
    step.value = LandlockRights(rule.access, abi, rule.directory);
  }
}

// The steps after the barrier need these; a policy without them could not start anything, and could
// not say why.
absl::Status CheckEssentialCalls(const Policy& policy) {
  for (const char* name : {"read", "write", "execveat", "exit_group"}) {
    const bool allowed = std::any_of(
        policy.syscalls.allow.begin(), policy.syscalls.allow.end(),
        [&](const SyscallRule& rule) { return rule.name == name && rule.when.empty(); });
    if (!allowed) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "policy `%s`: syscalls: `%s` is not allowed; no program can start without it",
          policy.name, name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool HasLandlock(const CellRequest& request) {
  return request.host->landlock_abi > 0 || request.policy->without_landlock == OnMissing::kRefuse;
}

bool HasCgroupLimits(const CellRequest& request) {
  const Limits& limits = request.policy->limits;
  return request.cgroups != nullptr && request.cgroups->limits() &&
         (limits.memory_bytes.has_value() || limits.processes.has_value());
}

bool HasCgroup(const CellRequest& request) {
  return HasCgroupLimits(request) ||
         (request.cgroups != nullptr && request.cgroups->unified.fd.ok() &&
          request.policy->limits.cpu_ms.has_value());
}

std::uint64_t CellCloneFlags(const Policy& policy) {
  std::uint64_t flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS;
  if (policy.network == NetworkMode::kNone) flags |= CLONE_NEWNET;
  return flags;
}

absl::Status PlanInit(const CellRequest& request, StepList& steps, std::vector<PathRule>& rules,
                      std::vector<std::string>& absent) {
  steps.Add(StepKind::kReadGo).fd = kGoFd;
  AddIdentity(request, steps);
  MountRequest mounts;
  mounts.policy = request.policy;
  mounts.workspace = request.workspace;
  mounts.uid = request.uid;
  mounts.gid = request.gid;
  mounts.id_map = request.host->tier == Tier::kRoot;
  absl::Status status = AddMountSteps(mounts, steps, rules, absent);
  if (!status.ok()) return status;
  if (request.policy->network == NetworkMode::kNone) steps.Add(StepKind::kLoopbackUp);
  Step& name = steps.Add(StepKind::kSetHostName, kHostName);
  name.text = kHostName;
  name.value = sizeof kHostName - 1;
  steps.Add(StepKind::kIgnoreChildren);
  AddDropPrivileges(request, 0, steps);
  steps.Add(StepKind::kNotDumpable);
  AddCloseRange(steps, 0, kReportFd - 1);
  AddCloseRange(steps, kReportFd + 1, -1);
  steps.Add(StepKind::kReport);
  AddCloseRange(steps, 0, -1);
  AddFilter(steps, kInitFilter, std::size(kInitFilter), "init");
  steps.Add(StepKind::kIdle);
  return absl::OkStatus();
}

absl::Status PlanTool(const CellRequest& request, const ProgramRequest& program,
                      const CellNamespaces& namespaces, const std::vector<PathRule>& rules,
                      StepList& steps) {
  absl::Status status = CheckEssentialCalls(*request.policy);
  if (!status.ok()) return status;
  auto kept = CapabilityMask(request.policy->capabilities);
  if (!kept.ok()) return kept.status();
  // A builder joins the pid namespace for its children and clones the tool as the launcher's own
  // child: nobody inside can then forge its wait status. The tool joins the rest itself.
  for (const CellNamespaces::Entry& entry : namespaces.entries) {
    Step& join = steps.Add(StepKind::kJoinNamespace, entry.file);
    join.fd = entry.fd.get();
    join.value = static_cast<std::uint64_t>(entry.type);
    if (entry.type != CLONE_NEWPID) continue;
    steps.Add(StepKind::kNewSession, "builder");  // the tool is found in it, should we never report
    steps.Add(StepKind::kCloneSibling);
    steps.Add(StepKind::kDeathSignal);  // a clone does not inherit it
    steps.Add(StepKind::kReadGo).fd = kGoFd;
  }
  AddIdentity(request, steps);
  // The maker's own: its group is the root of the one, its user owns the message queues of the
  // other.
  steps.Add(StepKind::kNewNamespace, "cgroup and ipc").value = CLONE_NEWCGROUP | CLONE_NEWIPC;
  AddQueues(steps);
  steps.Add(StepKind::kNewSession);
  steps.Add(StepKind::kSetUmask).value = 022;
  steps.Add(StepKind::kSetPriority);
  if (!program.files.empty()) AddProgram(program, steps);
  for (int i = 0; i < 3; ++i) AddDuplicate(steps, program.stdio[static_cast<std::size_t>(i)], i, 0);
  AddLandlock(request, rules, steps);
  for (const ResourceLimit& limit :
       ResourceLimits(request.policy->limits, HasCgroupLimits(request))) {
    const rlimit64* value = steps.KeepValue(limit.value);
    Step& step = steps.Add(StepKind::kSetLimit, limit.name);
    step.value = static_cast<std::uint64_t>(limit.resource);
    step.data = value;
  }
  AddDropPrivileges(request, *kept, steps);
  if (HasLandlock(request)) steps.Add(StepKind::kLandlockRestrict).fd = Slot(3);
  AddCloseRange(steps, 3, kReportFd - 1);
  AddCloseRange(steps, kExecFd + 1, -1);
  steps.Add(StepKind::kUnblockSignals);
  // Nothing but the report, the barrier and exec may follow: the filter judges them.
  const SyscallFilter& filter = *request.filter;
  AddFilter(steps, filter.allow.data(), filter.allow.size(), "allow list");
  Step& deny = AddFilter(steps, filter.deny.data(), filter.deny.size(), "deny list");
  if (!filter.notifying.empty()) {
    // Without the flag nobody would answer, and the kernel would refuse with ENOSYS.
    if (request.host->listener_flags == 0) {
      return absl::FailedPreconditionError("the filter needs a listener, and there can be none");
    }
    deny.value = request.host->listener_flags;
    deny.target = kListenerFd;
  }
  steps.Add(StepKind::kReport);
  steps.Add(StepKind::kReadGo).fd = kGoFd;
  steps.Add(StepKind::kExec, program.files.empty() ? "" : program.files.front().path).fd = kExecFd;
  return absl::OkStatus();
}

}  // namespace warder::sandbox
