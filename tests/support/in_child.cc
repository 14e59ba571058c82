#include "tests/support/in_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace warder::testing {
namespace {

bool WriteText(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return written;
}

bool UnshareMounts() {
  if (::geteuid() == 0) return ::unshare(CLONE_NEWNS) == 0;
  const std::string uid = std::to_string(::geteuid()), gid = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && WriteText("/proc/self/setgroups", "deny") &&
         WriteText("/proc/self/uid_map", uid + " " + uid + " 1") &&
         WriteText("/proc/self/gid_map", gid + " " + gid + " 1");
}

}  // namespace

pid_t StartChild(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) ::_exit(body());
  return pid;
}

int ExitCodeOf(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) std::abort();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int InChild(const std::function<int()>& body) { return ExitCodeOf(StartChild(body)); }

bool MountPrivateTmpfs(const std::string& directory, std::size_t bytes) {
  const std::string options = "mode=0700,size=" + std::to_string(bytes);
  return UnshareMounts() && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

}  // namespace warder::testing
