// CellCgroup: the control group of one cell. It bounds the memory and the processes of the whole
// cell and counts what the cell used.
#ifndef WARDER_SANDBOX_CGROUP_H_
#define WARDER_SANDBOX_CGROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/cgroup_host.h"
#include "sandbox/policy.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// What the kernel counted for the cell so far.
struct CgroupUse {
  bool out_of_memory = false;     // the cell's own memory limit was hit, and killing began
  bool out_of_processes = false;  // a fork was refused by the process limit
  // Processor time of all its processes, those that ended too; nullopt without a v2 tree.
  std::optional<std::int64_t> cpu_us;
};

// Made before the cell's first process, destroyed after its last one: whatever is left is killed
// then. Only the launcher that made it writes to it.
class CellCgroup {
 public:
  // Makes and locks the group's directories below the parents of `host`, which must outlive it.
  // Errors: those of mkdir(2), with the path.
  static absl::StatusOr<CellCgroup> Make(const CgroupHost& host);
  CellCgroup(CellCgroup&&) = default;
  CellCgroup& operator=(CellCgroup&&) = delete;
  ~CellCgroup();

  // For CLONE_INTO_CGROUP; -1 without a v2 tree.
  int birth() const { return unified_.fd.get(); }
  // Moves processes of ours, which run nothing of a stranger's yet, to where clone3 cannot put them
  // (v1). Errors: those of write(2).
  absl::Status Adopt(std::initializer_list<pid_t> pids) const;
  // Writes the limits; `own_processes` of ours inside come on top of the policy's. Once. Errors:
  // those of write(2); kFailedPrecondition where swap cannot be bounded.
  absl::Status SetLimits(const Limits& limits, unsigned own_processes);
  // Reads every limit back, and whether `pid` is a member: "v1 memory+pids: memory 1048576 bytes".
  // Errors: kFailedPrecondition, with what is not as it was set.
  absl::StatusOr<std::string> Prove(pid_t pid) const;

  CgroupUse Use() const;
  // Readable when memory ran out and we must kill the rest of the cell; -1 where the kernel does
  // that (v2).
  int memory_event() const { return memory_event_.get(); }
  // Takes the event, if there is one, and says whether our own limit was its cause.
  bool TakeMemoryEvent();

 private:
  struct Directory {
    int parent = -1;
    std::string path;
    UniqueFd fd;
  };
  // What was written to a file and must be read there.
  struct Setting {
    int dir = -1;
    std::string file, value;
  };

  CellCgroup() = default;
  absl::Status MakeDirectory(const CgroupParent& parent, Directory& directory) const;
  absl::Status Set(const Directory& directory, const std::string& file, const std::string& value);
  absl::Status SetMemory(std::uint64_t bytes);
  absl::Status WatchMemory();
  bool NearMemoryLimit() const;

  CgroupVersion version_ = CgroupVersion::kNone;
  std::string name_, limits_;
  std::uint64_t memory_bytes_ = 0;     // the limit; 0: none
  Directory unified_, memory_, pids_;  // v2 uses the first for everything
  std::vector<Setting> settings_;
  UniqueFd memory_event_;
  bool out_of_memory_ = false;  // by an event that was taken
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CGROUP_H_
