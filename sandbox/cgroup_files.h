// CgroupFiles: reading, writing, emptying and removing control groups, by directory descriptor.
//
// Source: cgroups(7), Documentation/admin-guide/cgroup-v2.rst.
#ifndef WARDER_SANDBOX_CGROUP_FILES_H_
#define WARDER_SANDBOX_CGROUP_FILES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// Every group that is made for a cell has a name that begins so; SweepGroups looks at no other.
inline constexpr char kGroupPrefix[] = "warder-";

// The file `file` of the group `dir`, without its last newline. Errors: those of open(2) and
// read(2), with the file's name.
absl::StatusOr<std::string> ReadGroupFile(int dir, const std::string& file);
// In one write, as these files want it. Errors: those of open(2) and write(2).
absl::Status WriteGroupFile(int dir, const std::string& file, const std::string& text);
bool HasGroupFile(int dir, const char* file);

// The number behind `key` in a file of lines "KEY NUMBER", such as memory.events. nullopt when
// there is no such file or line.
std::optional<std::uint64_t> GroupCounter(int dir, const std::string& file, const std::string& key);

// Makes the group `name` below `parent` and locks it (flock(2)) for as long as the descriptor
// lives; only its owner may open it. Errors: kAlreadyExists (choose another name), those of
// mkdir(2).
absl::StatusOr<UniqueFd> MakeGroup(int parent, const std::string& name);

// Ends every process in the group `dir`, which is `name` below `parent`, and removes it. Waits for
// a bounded time; false when something is still there, which the next sweep takes on.
bool RemoveGroup(int parent, const std::string& name, int dir);

// Removes the groups below `parent` whose launcher is gone: the kernel gives its locks back.
void SweepGroups(int parent);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CGROUP_FILES_H_
