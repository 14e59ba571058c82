#include "sandbox/landlock.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace warder::sandbox {
namespace {

// Rights and scopes that came after Debian 12's header (landlock(7)).
constexpr std::uint64_t kTruncate = 1ull << 14;          // ABI 3
constexpr std::uint64_t kIoctlDev = 1ull << 15;          // ABI 5
constexpr std::uint64_t kScopeAbstractUnix = 1ull << 0;  // ABI 6
constexpr std::uint64_t kScopeSignal = 1ull << 1;        // ABI 6

constexpr std::uint64_t kReadRights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kMakeRights = LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                      LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                      LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM;
// Handled but granted nowhere.
constexpr std::uint64_t kNodeRights = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr std::uint64_t kDirectoryOnly =
    LANDLOCK_ACCESS_FS_READ_DIR | kMakeRights | kNodeRights | LANDLOCK_ACCESS_FS_REFER;

std::uint64_t FileRights(int abi) {
  if (abi < 1) return 0;
  std::uint64_t rights = kReadRights | kMakeRights | kNodeRights | LANDLOCK_ACCESS_FS_WRITE_FILE;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  return rights;
}

}  // namespace

int LandlockAbi() {
  const long abi =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

LandlockRuleset CellRuleset(int abi) {
  LandlockRuleset ruleset;
  ruleset.handled_access_fs = FileRights(abi);
  if (abi >= 6) ruleset.scoped = kScopeAbstractUnix | kScopeSignal;
  return ruleset;
}

std::size_t RulesetSize(int abi) {
  if (abi >= 6) return sizeof(LandlockRuleset);
  return abi >= 4 ? offsetof(LandlockRuleset, scoped)
                  : offsetof(LandlockRuleset, handled_access_net);
}

std::uint64_t LandlockRights(LandlockAccess access, int abi, bool directory) {
  std::uint64_t rights = 0;
  switch (access) {
    case LandlockAccess::kList:
      rights = LANDLOCK_ACCESS_FS_READ_DIR;
      break;
    case LandlockAccess::kRead:
      rights = kReadRights;
      break;
    case LandlockAccess::kReadWrite:
      rights = kReadRights | kMakeRights | LANDLOCK_ACCESS_FS_WRITE_FILE |
               LANDLOCK_ACCESS_FS_REFER | kTruncate;
      break;
    case LandlockAccess::kDevices:
      rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
               LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDev;
      break;
  }
  if (!directory) rights &= ~kDirectoryOnly;
  return rights & FileRights(abi);
}

std::string DescribeLandlock(int abi) {
  if (abi < 1) return "there is no Landlock: not in this kernel, or not for us";
  std::string text = "ABI " + std::to_string(abi) + ": files";
  if (abi >= 2) text += ", refer";
  if (abi >= 3) text += ", truncate";
  if (abi >= 5) text += ", device ioctl";
  if (abi >= 6) text += ", scoped signals and abstract sockets";
  return text;
}

}  // namespace warder::sandbox
