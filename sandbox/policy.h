// Policy: what a cell may reach, as plain values. The defaults grant nothing.
//
// The values come from the operator's policy files (manifest/policy_file.h); nothing here reads a
// file or acts.
#ifndef WARDER_SANDBOX_POLICY_H_
#define WARDER_SANDBOX_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warder::sandbox {

// How a cell is built, weakest first. A policy names the weakest one that it accepts.
enum class Tier : std::uint8_t { kLandlock = 1, kUserns = 2, kRoot = 3 };
const char* TierName(Tier tier);

enum class PathAccess : std::uint8_t { kRead, kReadWrite };

// One host path that appears in the cell at the same place. A symlink on the host (/bin -> usr/bin)
// becomes the same symlink in the cell. An `optional` path that is absent is left out; any other
// absent path is a setup failure.
struct PathGrant {
  std::string path;  // absolute, normalised
  PathAccess access = PathAccess::kRead;
  bool optional = false;
  std::string reason;
};

// A path masked after all grants are in place: an empty directory, or an empty file.
struct HiddenPath {
  std::string path;
  std::string reason;
};

// A path below the workspace root that stays read-only when the workspace is writable. Absent ones
// are skipped.
struct ProtectedPath {
  std::string path;  // relative to the workspace root, normalised, no ".."
  std::string reason;
};

enum class WorkspaceMode : std::uint8_t { kReadOnly, kReadWrite, kOverlay };
const char* WorkspaceModeName(WorkspaceMode mode);

struct FilesystemPolicy {
  std::vector<PathGrant> grants;
  std::vector<HiddenPath> hide;
  WorkspaceMode workspace = WorkspaceMode::kReadOnly;
  std::vector<ProtectedPath> protect;
};

enum class NetworkMode : std::uint8_t {
  kNone,  // a network namespace of the cell's own, with only its loopback
  kHost,  // the host's network namespace
};
const char* NetworkModeName(NetworkMode mode);

// (argument[index] & mask) == value. Only this form: libseccomp 2.5.4 compiles some ordered
// comparisons wrongly. `int` arguments need mask 0xffffffff (or narrower), because the kernel
// ignores their upper half.
struct ArgMatch {
  unsigned index = 0;  // 0 to 5
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t value = 0;
};

enum class DenyAction : std::uint8_t { kErrno, kKillProcess };

// One rule on one system call. All of `when` must hold. Several rules on one call are alternatives.
struct SyscallRule {
  std::string name;  // as in <asm/unistd.h>
  std::vector<ArgMatch> when;
  DenyAction action = DenyAction::kErrno;  // used by deny rules only
  int error = 1;                           // used with kErrno; EPERM by default
  std::string reason;
  std::string place = {};  // "FILE:LINE" of the entry that says so, "" when no file does
  std::string group = {};  // the group of calls that the entry names, "" for a call by name
  bool boundary = false;   // part of the cell's wall: never suggested to an operator
};

// A call is allowed when an allow rule matches and no deny rule does. A call that no rule names
// gets ENOSYS; a call by a foreign ABI kills the process.
struct SyscallPolicy {
  std::vector<SyscallRule> allow;
  std::vector<SyscallRule> deny;
};

// Absent means "no limit from this policy" except where said otherwise. Bytes are bytes, times are
// milliseconds.
struct Limits {
  std::optional<std::uint64_t> wall_ms;  // upper bound on a tool's own timeout
  // Of the whole cell where there is a v2 control group; of each process everywhere (RLIMIT_CPU,
  // rounded up to seconds).
  std::optional<std::uint64_t> cpu_ms;
  // Of the whole cell, what it writes to its private directories included, where there is a control
  // group; otherwise the private memory of each process (RLIMIT_DATA).
  std::optional<std::uint64_t> memory_bytes;
  // Of the whole cell where there is a control group; otherwise RLIMIT_NPROC, which counts init.
  std::optional<std::uint64_t> processes;
  std::optional<std::uint64_t> open_files;  // RLIMIT_NOFILE
  std::optional<std::uint64_t> file_bytes;  // RLIMIT_FSIZE
  std::optional<std::uint64_t>
      disk_bytes;  // size of each private tmpfs (/tmp, home, /dev/shm, overlay)
  std::optional<std::uint64_t> disk_inodes;   // files in each of them; kTmpfsInodes when absent
  std::optional<std::uint64_t> output_bytes;  // of both streams; more ends the call
  std::optional<std::uint64_t> stdout_bytes;  // captured; more is counted, not kept
  std::optional<std::uint64_t> stderr_bytes;
};

// What to do where the kernel or the host lacks a layer that others stand behind.
enum class OnMissing : std::uint8_t { kRefuse, kDegrade };

struct Policy {
  std::string name;
  Tier minimum_tier = Tier::kUserns;
  FilesystemPolicy filesystem;
  NetworkMode network = NetworkMode::kNone;
  SyscallPolicy syscalls;
  std::vector<std::string>
      capabilities;  // kept inside the cell's own user namespace; normally empty
  Limits limits;
  OnMissing without_cgroup = OnMissing::kRefuse;  // memory and process limits of the whole cell
  OnMissing without_landlock = OnMissing::kRefuse;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_POLICY_H_
