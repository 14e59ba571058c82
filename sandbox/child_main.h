// RunChild: the only code that runs between clone and exec, in a cell's init and in its tool.
//
// A ChildPlan is made before the clone and is a list of steps, one system call or a fixed few each.
// RunChild allocates nothing, takes no lock, logs nothing and never returns.
// tests/rules/child_symbols.txt lists what it may call.
#ifndef WARDER_SANDBOX_CHILD_MAIN_H_
#define WARDER_SANDBOX_CHILD_MAIN_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warder::sandbox {

// Descriptors that a step opens are kept in slots, so that a later step can name one before it
// exists.
inline constexpr int kSlots = 4;
inline constexpr int kSlotBase = 1 << 24;  // far above any descriptor number
constexpr int Slot(int index) { return kSlotBase + index; }

enum class StepKind : std::uint32_t {
  kCloseUnused,      // close the plan's `unused` descriptors
  kReadGo,           // read one byte from fd; end of file means that the launcher is gone
  kJoinNamespace,    // setns(fd, value)
  kNewNamespace,     // unshare(value)
  kCloneSibling,     // clone a child of our parent, which goes on with the next step; we report its
                     // pid and end
  kSetGroup,         // setresgid(value)
  kClearGroups,      // setgroups(0)
  kSetUser,          // setresuid(value)
  kNewSession,       // setsid
  kMakePrivate,      // no mount event enters or leaves from here on
  kMount,            // mount(text, path, data, value, extra)
  kUnmount,          // umount2(path, value)
  kMoveMount,        // the detached mount fd to path
  kMountAttributes,  // set the attributes value on the mount at path
  kPivotRoot,        // pivot_root(".", ".")
  kMakeDirectory,    // mkdir(path, value); one that exists is fine
  kSymlink,          // symlink(text, path)
  kWriteFile,        // create path with mode value, write data_size bytes of data
  kCopyFile,         // create path with mode value in slot target, copy all of fd into it
  kBindFile,         // bind the file in slot fd onto path
  kChangeDirectory,  // chdir(path)
  kOpenExpected,  // open path with flags value into slot target; device, inode, size and times must
                  // be those in data
  kOpenSame,      // open path with flags value into slot target; must be the file in slot fd
  kEnterDirectory,  // fchdir(fd)
  kDuplicate,       // dup3(fd, target, value)
  kCloseRange,      // close_range(value, target), target -1 meaning the last
  kLoopbackUp,      // bring "lo" up
  kSetHostName,     // sethostname(text, value)
  kSetUmask,        // umask(value)
  kSetPriority,     // nice 0, SCHED_OTHER, default I/O priority
  kSetLimit,        // setrlimit(value, data)
  kDropBounding,  // drop capabilities 0 to value from the bounding set, but those in mask data_size
  kSetCapabilities,  // permitted, effective, inheritable and ambient := mask value
  kNoNewPrivileges,
  kLandlockCreate,  // ruleset of data into slot target
  kLandlockRule,    // allow value below path in ruleset fd
  kLandlockRestrict,
  kSeccomp,      // install the filter in data with flags value; the listener that they ask for must
                 // get number target
  kDeathSignal,  // SIGKILL when the launcher dies
  kNotDumpable,
  kIgnoreChildren,  // the kernel reaps what is orphaned to us
  kUnblockSignals,
  kReport,  // tell the launcher on fd that all steps so far worked
  kIdle,    // pause for ever
  kExec,    // execveat(fd, "", argv, envp, AT_EMPTY_PATH)
};

struct Step {
  StepKind kind = StepKind::kIdle;
  int fd = -1;
  int target = -1;
  std::uint64_t value = 0;
  const char* path = nullptr;
  const char* text = nullptr;
  const void* data = nullptr;
  std::size_t data_size = 0;
};

// What kOpenExpected compares, and how much of it.
enum class Compare : std::uint8_t {
  kIdentity,  // device and inode: enough for a directory
  kContent,   // size and times too: a file that only root can change
  kNothing,   // in an overlay every file has a new identity
};
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  Compare compare = Compare::kIdentity;
};

// kMount's third to fifth argument of mount(2).
struct MountArguments {
  const char* type = nullptr;
  const char* options = nullptr;
};

// Descriptors `first` to `last`, both included.
struct DescriptorRange {
  unsigned first = 0, last = 0;
};

struct ChildPlan {
  const Step* steps = nullptr;
  std::size_t count = 0;
  const DescriptorRange* unused = nullptr;  // what kCloseUnused closes
  std::size_t unused_count = 0;
  int report_fd = -1;  // where a failure is reported, as a ChildReport
  const char* const* argv = nullptr;
  const char* const* envp = nullptr;
};

inline constexpr std::int32_t kReportReady = 0;
inline constexpr std::int32_t kReportCloned = -1;  // from kCloneSibling; `step` is the pid

// Written whole to report_fd (smaller than PIPE_BUF, so never torn). error == kReportReady comes
// from a kReport step.
struct ChildReport {
  std::uint32_t step = 0;
  std::int32_t error = 0;
};

static_assert(std::is_trivially_copyable_v<Step> && std::is_standard_layout_v<Step>);
static_assert(std::is_trivially_copyable_v<ChildPlan> &&
              std::is_trivially_destructible_v<ChildPlan>);
static_assert(std::is_trivially_copyable_v<ChildReport> && sizeof(ChildReport) == 8);

// Runs the steps in order. The first failure is reported and the process exits with 127.
[[noreturn]] void RunChild(const ChildPlan& plan) noexcept;

// "mount", "pivot_root", ...: for messages.
const char* StepName(StepKind kind);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CHILD_MAIN_H_
