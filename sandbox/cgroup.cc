#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "sandbox/cgroup_files.h"

namespace warder::sandbox {
namespace {

// Names tried for one group: a number that a dead launcher of the same pid left is passed over.
constexpr int kNameTries = 1000;

// The largest piece that is charged at once, a huge page: so far below the limit it can be hit.
constexpr std::uint64_t kHugeCharge = 2u << 20;

// The first line is a heading.
bool HostSwaps() {
  std::ifstream table("/proc/swaps");
  std::string line;
  return std::getline(table, line) && std::getline(table, line);
}

bool IsMember(int dir, pid_t pid) {
  const auto members = ReadGroupFile(dir, "cgroup.procs");
  if (!members.ok()) return false;
  const std::vector<std::string> lines = absl::StrSplit(*members, '\n');
  return std::find(lines.begin(), lines.end(), std::to_string(pid)) != lines.end();
}

}  // namespace

absl::StatusOr<CellCgroup> CellCgroup::Make(const CgroupHost& host) {
  static unsigned last = 0;
  for (int i = 0; i < kNameTries; ++i) {
    CellCgroup group;
    group.version_ = host.version;
    group.name_ = absl::StrFormat("%s%d-%u", kGroupPrefix, getpid(), ++last);
    absl::Status status = group.MakeDirectory(host.unified, group.unified_);
    if (status.ok()) status = group.MakeDirectory(host.memory, group.memory_);
    if (status.ok()) status = group.MakeDirectory(host.pids, group.pids_);
    if (status.ok()) return group;
    if (!absl::IsAlreadyExists(status)) return status;
  }
  return absl::ResourceExhaustedError("no name left for a control group");
}

absl::Status CellCgroup::MakeDirectory(const CgroupParent& parent, Directory& directory) const {
  if (!parent.fd.ok()) return absl::OkStatus();
  auto fd = MakeGroup(parent.fd.get(), name_);
  if (!fd.ok()) {
    return absl::Status(fd.status().code(),
                        absl::StrCat(parent.path, "/", std::string(fd.status().message())));
  }
  directory.parent = parent.fd.get();
  directory.path = parent.path + "/" + name_;
  directory.fd = std::move(*fd);
  return absl::OkStatus();
}

CellCgroup::~CellCgroup() {
  for (const Directory* directory : {&unified_, &memory_, &pids_}) {
    // What cannot be removed stays locked until we end; the next launcher removes it.
    if (directory->fd.ok()) RemoveGroup(directory->parent, name_, directory->fd.get());
  }
}

absl::Status CellCgroup::Adopt(std::initializer_list<pid_t> pids) const {
  for (const Directory* directory : {&memory_, &pids_}) {
    if (!directory->fd.ok()) continue;
    for (const pid_t pid : pids) {
      const absl::Status moved =
          WriteGroupFile(directory->fd.get(), "cgroup.procs", std::to_string(pid));
      if (!moved.ok()) {
        return absl::Status(moved.code(),
                            absl::StrCat(directory->path, "/", std::string(moved.message())));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CellCgroup::Set(const Directory& directory, const std::string& file,
                             const std::string& value) {
  const absl::Status written = WriteGroupFile(directory.fd.get(), file, value);
  if (!written.ok()) {
    return absl::Status(written.code(),
                        absl::StrCat(directory.path, "/", std::string(written.message())));
  }
  settings_.push_back({directory.fd.get(), file, value});
  return absl::OkStatus();
}

// Swap is bounded with the memory, or the limit would only say how much of the cell is in which.
absl::Status CellCgroup::SetMemory(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  memory_bytes_ = bytes / page * page;  // as the kernel rounds
  const std::string value = std::to_string(memory_bytes_);
  const bool v1 = version_ == CgroupVersion::kV1;
  const Directory& directory = v1 ? memory_ : unified_;
  absl::Status status = Set(directory, v1 ? "memory.limit_in_bytes" : "memory.max", value);
  if (!status.ok()) return status;
  const char* swap = v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max";
  if (HasGroupFile(directory.fd.get(), swap)) {
    status = Set(directory, swap, v1 ? value : "0");
    if (!status.ok()) return status;
  } else if (HostSwaps()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s/%s: is not there, and this host swaps: boot with swapaccount=1", directory.path, swap));
  }
  absl::StrAppend(&limits_, ", memory ", value, " bytes without swap");
  return v1 ? WatchMemory() : Set(directory, "memory.oom.group", "1");
}

// v1 kills one process only; this tells us to kill the others.
absl::Status CellCgroup::WatchMemory() {
  memory_event_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const UniqueFd control(
      openat(memory_.fd.get(), "memory.oom_control", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!memory_event_.ok() || !control.ok()) {
    return absl::ErrnoToStatus(errno, memory_.path + "/memory.oom_control");
  }
  return WriteGroupFile(memory_.fd.get(), "cgroup.event_control",
                        absl::StrFormat("%d %d", memory_event_.get(), control.get()));
}

absl::Status CellCgroup::SetLimits(const Limits& limits, unsigned own_processes) {
  if (version_ == CgroupVersion::kNone) return absl::OkStatus();
  const Directory& pids = version_ == CgroupVersion::kV1 ? pids_ : unified_;
  absl::Status status;
  if (limits.memory_bytes.has_value()) status = SetMemory(*limits.memory_bytes);
  if (status.ok() && limits.processes.has_value()) {
    status = Set(pids, "pids.max", std::to_string(*limits.processes + own_processes));
    absl::StrAppend(&limits_, ", ", *limits.processes, " processes");
  }
  return status;
}

absl::StatusOr<std::string> CellCgroup::Prove(pid_t pid) const {
  for (const Directory* directory : {&unified_, &memory_, &pids_}) {
    if (directory->fd.ok() && !IsMember(directory->fd.get(), pid)) {
      return absl::FailedPreconditionError(directory->path + ": the tool is not in it");
    }
  }
  for (const Setting& setting : settings_) {
    const auto value = ReadGroupFile(setting.dir, setting.file);
    if (!value.ok() || *value != setting.value) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s is %s and not %s", setting.file,
          value.ok() ? *value : std::string(value.status().message()), setting.value));
    }
  }
  std::string text = version_ == CgroupVersion::kV1 ? "v1 memory+pids" : "v2 memory+pids";
  text += limits_;
  if (unified_.fd.ok()) text += ", processor time counted";
  return text;
}

// A group above ours that runs out has ours killed and notified, too; then ours never came near its
// own limit. (The kernel's failcnt does not count in all versions.)
bool CellCgroup::NearMemoryLimit() const {
  std::uint64_t most = 0;
  for (const char* file : {"memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"}) {
    const auto text = ReadGroupFile(memory_.fd.get(), file);
    std::uint64_t bytes = 0;
    if (text.ok() && absl::SimpleAtoi(*text, &bytes)) most = std::max(most, bytes);
  }
  return memory_bytes_ > 0 && most + kHugeCharge >= memory_bytes_;
}

bool CellCgroup::TakeMemoryEvent() {
  std::uint64_t count = 0;
  // Taken before the limit is looked at: what comes after that makes it readable again.
  if (memory_event_.ok() && read(memory_event_.get(), &count, sizeof count) == sizeof count) {
    out_of_memory_ = out_of_memory_ || NearMemoryLimit();
  }
  return out_of_memory_;
}

CgroupUse CellCgroup::Use() const {
  CgroupUse use;
  const auto positive = [](const std::optional<std::uint64_t>& count) {
    return count.value_or(0) > 0;
  };
  if (version_ == CgroupVersion::kV1) {
    pollfd event = {memory_event_.get(), POLLIN, 0};
    const bool killing =
        positive(GroupCounter(memory_.fd.get(), "memory.oom_control", "oom_kill")) ||
        poll(&event, 1, 0) == 1;
    use.out_of_memory = out_of_memory_ || (killing && NearMemoryLimit());
    use.out_of_processes = positive(GroupCounter(pids_.fd.get(), "pids.events", "max"));
  } else if (version_ == CgroupVersion::kV2) {
    const int dir = unified_.fd.get();
    use.out_of_memory = positive(GroupCounter(dir, "memory.events", "oom")) &&
                        positive(GroupCounter(dir, "memory.events", "oom_kill"));
    use.out_of_processes = positive(GroupCounter(dir, "pids.events", "max"));
  }
  if (unified_.fd.ok()) {
    const auto cpu = GroupCounter(unified_.fd.get(), "cpu.stat", "usage_usec");
    if (cpu.has_value()) use.cpu_us = static_cast<std::int64_t>(*cpu);
  }
  return use;
}

}  // namespace warder::sandbox
