// FaultyRun: runs the real binary under ptrace(2) and lets the kernel refuse one of the system
// calls that it and its children make until the tool's program is loaded.
#ifndef WARDER_TESTS_SUPPORT_FAULTY_RUN_H_
#define WARDER_TESTS_SUPPORT_FAULTY_RUN_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace warder::testing {

// Who makes a call, in the order in which a run makes processes: one process each.
inline constexpr int kSupervisorRole = 0;
inline constexpr int kLauncherRole = 1;
inline constexpr int kFirstCellRole = 2;  // a child of the launcher; the next one is 3, and so on

// A process makes its calls in the same order in every run; two processes do not.
struct SetupCall {
  int role = 0;
  int number = -1;  // of the system call; -1: none
  int index = 0;    // among the calls of this number that the process makes
  bool operator==(const SetupCall&) const = default;
};

struct Fault {
  SetupCall call;
  int error = 0;  // what it gets, without being made
};

struct FaultyCommand {
  std::vector<std::string> argv, environment;
  std::string directory;
};

struct FaultyRun {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  bool hung = false;  // it did not end in time and was killed
  pid_t launcher = 0;
  int left = 0;  // processes that were alive when it had ended, and did not end soon after
  std::string out, err;
  std::vector<SetupCall> calls;  // without a fault: all that could be refused
  bool refused = false;          // the call of the fault was made
};

// Runs `command` with nothing on stdin. Counted are the calls before the tool's program is loaded,
// but for those of the dynamic loader, which are not Warder's. The process that calls this has no
// other children.
FaultyRun RunWithFault(const FaultyCommand& command, const Fault& fault);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_FAULTY_RUN_H_
