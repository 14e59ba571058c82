// RunWarder: the real binary as a person or a script runs it, with both streams and the exit code
// captured.
#ifndef WARDER_TESTS_SUPPORT_RUN_WARDER_H_
#define WARDER_TESTS_SUPPORT_RUN_WARDER_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/temp_tree.h"

namespace warder::testing {

struct WarderRun {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  std::string out, err;
};

// How to run it, beyond its arguments.
struct WarderSetting {
  std::string input = {};   // its stdin, then end of file
  bool hold_stdin = false;  // no end of file until it ends
  std::vector<std::pair<std::string, std::string>> environment =
      {};                      // besides PATH, HOME and XDG_*
  std::string directory = {};  // where it starts; "": the workspace
  int out_pipe_bytes = 0;      // capacity of its stdout's pipe; 0: the kernel's default
  // Words before warder's own, for example {"/bin/sh", "-c", "ulimit -f 0; exec \"$@\"", "sh"}.
  std::vector<std::string> prefix = {};
  // Called once, when stdout has the text `until` in it.
  std::string until = {};
  std::function<void(pid_t)> then = {};
};

// One operator and one workspace, in a fresh directory: workspace/, config/, state/, run/ and
// home/. Warder is told to use them also as root, so that nothing of the machine's own is read or
// written. No controlling terminal.
class WarderHost {
 public:
  WarderHost();
  const TempTree& tree() const { return tree_; }
  std::string Workspace() const { return tree_.At("workspace"); }
  std::string Config() const { return tree_.At("config"); }

  // Declares `tools`, the members of the "tools" object: R"("t": {...}, "u": {...})".
  void Declare(std::string_view tools) const;
  // A tool entry with an open schema: `command` is a JSON array, `more` further members (",
  // \"cwd\": \"x\"").
  static std::string Tool(std::string_view name, std::string_view command,
                          std::string_view more = "");

  // Kills the whole session and fails the test when it takes longer than 240 s.
  WarderRun Run(std::vector<std::string> arguments, const WarderSetting& setting = {}) const;

 private:
  TempTree tree_;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_RUN_WARDER_H_
