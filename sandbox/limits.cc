#include "sandbox/limits.h"

#include <algorithm>

namespace warder::sandbox {
namespace {

// A core file would leave the tool's memory, secrets included, in the workspace.
constexpr rlim64_t kCoreBytes = 0;
// Enough for a program that locks a key in memory; locked pages are not reclaimed.
constexpr rlim64_t kLockedBytes = 8u << 20;
// POSIX message queues are kernel memory; this is the kernel's own default.
constexpr rlim64_t kQueueBytes = 819200;
// Signals that wait to be taken, and POSIX timers, are kernel memory too; the kernel's own default
// grows with the memory of the machine. The busiest programs have some hundred.
constexpr rlim64_t kPendingSignals = 1024;
// The hard CPU limit comes this much after SIGXCPU: SIGKILL, for a program that ignores the first.
constexpr rlim64_t kCpuGraceSeconds = 1;
// The kernel looks at RLIMIT_NPROC, which counts init and what is just being made, before it asks
// the control group. The group is to refuse first: only it counts what it refused.
constexpr rlim64_t kProcessSlack = 8;

ResourceLimit Same(int resource, const char* name, rlim64_t value) {
  return {resource, name, {value, value}};
}

// Nobody in a cell may raise a limit, and nobody needs to: the host's lower one holds.
void LowerToOwn(ResourceLimit& limit) {
  rlimit64 own = {};
  if (getrlimit64(static_cast<__rlimit_resource>(limit.resource), &own) != 0) return;
  limit.lowered = own.rlim_max < limit.value.rlim_max;
  limit.value.rlim_max = std::min(limit.value.rlim_max, own.rlim_max);
  limit.value.rlim_cur = std::min(limit.value.rlim_cur, limit.value.rlim_max);
}

}  // namespace

std::vector<ResourceLimit> ResourceLimits(const Limits& limits, bool cgroup) {
  std::vector<ResourceLimit> list = {
      Same(RLIMIT_CORE, "Max core file size", kCoreBytes),
      Same(RLIMIT_MEMLOCK, "Max locked memory", kLockedBytes),
      Same(RLIMIT_MSGQUEUE, "Max msgqueue size", kQueueBytes),
      // A host that lets its users run before others does not let strangers' programs.
      Same(RLIMIT_RTPRIO, "Max realtime priority", 0),
      Same(RLIMIT_NICE, "Max nice priority", 0),
      Same(RLIMIT_SIGPENDING, "Max pending signals", kPendingSignals),
  };
  if (limits.cpu_ms.has_value()) {
    const rlim64_t seconds = (*limits.cpu_ms + 999) / 1000;
    list.push_back({RLIMIT_CPU, "Max cpu time", {seconds, seconds + kCpuGraceSeconds}});
  }
  if (limits.memory_bytes.has_value() && !cgroup) {
    list.push_back(Same(RLIMIT_DATA, "Max data size", *limits.memory_bytes));
  }
  if (limits.processes.has_value()) {
    list.push_back(
        Same(RLIMIT_NPROC, "Max processes", *limits.processes + (cgroup ? kProcessSlack : 0)));
  }
  if (limits.open_files.has_value()) {
    list.push_back(Same(RLIMIT_NOFILE, "Max open files", *limits.open_files));
  }
  if (limits.file_bytes.has_value()) {
    list.push_back(Same(RLIMIT_FSIZE, "Max file size", *limits.file_bytes));
  }
  for (ResourceLimit& limit : list) LowerToOwn(limit);
  return list;
}

}  // namespace warder::sandbox
