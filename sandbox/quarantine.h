// Quarantine: where a protected name goes that was absent before a call and is there after it.
#ifndef WARDER_SANDBOX_QUARANTINE_H_
#define WARDER_SANDBOX_QUARANTINE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace warder::sandbox {

struct Quarantined {
  std::string path;      // relative to the workspace root
  std::string moved_to;  // absolute; "" when it could not be moved
  std::string fault;     // why not, or why not to the directory of the quarantine
};

// Things in the directory. What comes after these is renamed beside its place: nothing here removes
// what a tool made, and a directory that nobody empties must not take all of the disk.
inline constexpr std::size_t kMaxQuarantined = 256;

// Moves each of `absent` that is now there below `root` (the workspace `root_path`, O_PATH) out of
// the way, into `directory`, which is made (0700) when needed. Where that is on another file
// system or full, it stays beside its old place, under a name that nothing reads. A link or file
// that the tool put in the place of a directory above the name is moved itself. Only renames:
// nothing is followed, read, copied or removed, so it costs the same whatever the tool made. Call
// it when nothing runs in the cell any more. Source: renameat2(2), RENAME_NOREPLACE, 3.15.
std::vector<Quarantined> QuarantineAppeared(int root, const std::string& root_path,
                                            const std::vector<std::string>& absent,
                                            const std::string& directory);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_QUARANTINE_H_
