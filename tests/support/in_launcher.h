// InLauncher: runs a piece of a test in a process that has become a launcher, because becoming one
// cannot be undone.
#ifndef WARDER_TESTS_SUPPORT_IN_LAUNCHER_H_
#define WARDER_TESTS_SUPPORT_IN_LAUNCHER_H_

#include <functional>
#include <string>

#include "sandbox/host.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"

namespace warder::testing {

// Forks, enters the launcher's namespaces there, runs `body` and returns the text that it returned.
// A crash, or a launcher that could not be entered, comes back as text that starts with "FAILED:".
std::string InLauncher(const std::function<std::string(const sandbox::Host&)>& body);

// A small policy by hand: the system view, every call of this machine allowed but the ones in
// `denied`, limits for a test.
sandbox::Policy SmallPolicy(const std::vector<std::string>& denied = {});

// A fresh directory below the test's temporary directory, owned by whom the tests run as; removed
// when destroyed.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  const std::string& path() const { return path_; }
  // Writes a file below it and returns its path.
  std::string Write(const std::string& name, const std::string& bytes, unsigned mode = 0644) const;

 private:
  std::string path_;
};

std::string ReadFileText(const std::string& path);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_IN_LAUNCHER_H_
