// Landlock: what this kernel's version can restrict, and the access masks that a cell uses.
#ifndef WARDER_SANDBOX_LANDLOCK_H_
#define WARDER_SANDBOX_LANDLOCK_H_

#include <cstdint>
#include <string>

namespace warder::sandbox {

// struct landlock_ruleset_attr as of ABI 6. Debian 12's header has only the first member; the
// kernel takes a shorter size.
struct LandlockRuleset {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

enum class LandlockAccess : std::uint8_t {
  kList,       // the names in a directory
  kRead,       // read and execute
  kReadWrite,  // and create, change, remove; never device nodes
  kDevices,    // read, write and ioctl what exists
};

// The ABI version of the running kernel; 0 when it has no Landlock. Source: landlock(7).
int LandlockAbi();

// All file rights of `abi`, signals and abstract Unix sockets scoped to the cell where it can. No
// network rights: the network namespace is what confines the network.
LandlockRuleset CellRuleset(int abi);
// How many bytes of LandlockRuleset this ABI takes.
std::size_t RulesetSize(int abi);
// The rights of `access` that `abi` knows; `directory` false leaves out those that only directories
// have.
std::uint64_t LandlockRights(LandlockAccess access, int abi, bool directory);
// "ABI 7: files, refer, truncate, device ioctl, scoped signals and abstract sockets"
std::string DescribeLandlock(int abi);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_LANDLOCK_H_
