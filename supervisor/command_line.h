// ParseCommandLine: from the words after `warder` to a command and its options. command_line.cc is
// the only file that includes CLI11.
#ifndef WARDER_SUPERVISOR_COMMAND_LINE_H_
#define WARDER_SUPERVISOR_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "supervisor/commands.h"

namespace warder::supervisor {

struct ParsedCommandLine {
  // The command to run; null when there is only something to print (help, version, a mistake).
  int (*run)(const Options&) = nullptr;
  Options options;
  std::string out, err;
  int exit_code = kExitOk;
};

// `arguments` without the program's name. Everything after a first `--` is the command of `exec`.
ParsedCommandLine ParseCommandLine(std::vector<std::string> arguments);

// The command line from start to end: parses, runs, returns the exit code.
int RunCommandLine(int argc, char** argv);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_COMMAND_LINE_H_
