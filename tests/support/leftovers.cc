#include "tests/support/leftovers.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <system_error>

#include "sandbox/unique_fd.h"

namespace warder::testing {
namespace {

bool IsDead(const std::filesystem::path& group) {
  if (group.filename().string().rfind("warder-", 0) != 0) return false;
  const sandbox::UniqueFd fd(open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.ok() && flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::set<std::string> DeadGroups() {
  namespace fs = std::filesystem;
  std::set<std::string> dead;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it("/sys/fs/cgroup",
                                           fs::directory_options::skip_permission_denied, ignored);
       it != fs::recursive_directory_iterator(); it.increment(ignored)) {
    if (it->is_directory(ignored) && IsDead(it->path())) dead.insert(it->path().string());
  }
  return dead;
}

}  // namespace warder::testing
