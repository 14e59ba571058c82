#include "tests/support/own_group.h"

#include <fcntl.h>
#include <unistd.h>

#include "sandbox/cgroup_host.h"
#include "tests/support/in_launcher.h"

namespace warder::testing {

sandbox::UniqueFd OwnGroup(const std::string& controller) {
  const auto path =
      sandbox::OwnGroupDirectory(sandbox::ParseCgroupMounts(ReadFileText("/proc/self/mountinfo")),
                                 ReadFileText("/proc/self/cgroup"), controller);
  if (!path.has_value() || access(path->c_str(), W_OK) != 0) return {};
  return sandbox::UniqueFd(open(path->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace warder::testing
