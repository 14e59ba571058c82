#include "sandbox/cgroup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace warder::sandbox {
namespace {

// Bytes of one file that are read: a list of processes has at most 8 bytes for each of the
// machine's 4 million.
constexpr std::size_t kMaxFileBytes = 32u << 20;
// How often, and how long apart, a group that should be empty is looked at again. A process that
// was killed needs an instant to go.
constexpr int kRemoveTries = 50;
constexpr timespec kRemovePause = {0, 2'000'000};

UniqueFd OpenGroup(int parent, const char* name) {
  return UniqueFd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// A number can be another process by now: the descriptor holds one process, and the list must name
// it while we do.
void KillMember(int dir, pid_t pid) {
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.ok()) return;
  const auto members = ReadGroupFile(dir, "cgroup.procs");
  if (!members.ok()) return;
  for (const auto& line : absl::StrSplit(*members, '\n')) {
    if (std::string(line) != std::to_string(pid)) continue;
    syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
}

void KillAll(int dir) {
  if (WriteGroupFile(dir, "cgroup.kill", "1").ok()) return;  // v2, 5.14
  const auto members = ReadGroupFile(dir, "cgroup.procs");
  if (!members.ok()) return;
  for (const auto& line : absl::StrSplit(*members, '\n', absl::SkipEmpty())) {
    pid_t pid = 0;
    // 0 stands for a process that our pid namespace does not see.
    if (absl::SimpleAtoi(std::string(line), &pid) && pid > 0) KillMember(dir, pid);
  }
}

}  // namespace

absl::StatusOr<std::string> ReadGroupFile(int dir, const std::string& file) {
  const UniqueFd fd(openat(dir, file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.ok()) return absl::ErrnoToStatus(errno, file + ": open");
  std::string text;
  char chunk[4096];
  for (;;) {
    const ssize_t size = read(fd.get(), chunk, sizeof chunk);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return absl::ErrnoToStatus(errno, file + ": read");
    if (size == 0 || text.size() > kMaxFileBytes) break;
    text.append(chunk, static_cast<std::size_t>(size));
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

absl::Status WriteGroupFile(int dir, const std::string& file, const std::string& text) {
  const UniqueFd fd(openat(dir, file.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.ok()) return absl::ErrnoToStatus(errno, file + ": open");
  ssize_t size = 0;
  do {
    size = write(fd.get(), text.data(), text.size());
  } while (size < 0 && errno == EINTR);
  if (size == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  return absl::ErrnoToStatus(size < 0 ? errno : EIO, absl::StrFormat("%s: write `%s`", file, text));
}

bool HasGroupFile(int dir, const char* file) { return faccessat(dir, file, F_OK, 0) == 0; }

std::optional<std::uint64_t> GroupCounter(int dir, const std::string& file,
                                          const std::string& key) {
  const auto text = ReadGroupFile(dir, file);
  if (!text.ok()) return std::nullopt;
  std::istringstream words(*text);
  std::string name;
  for (std::uint64_t value = 0; words >> name >> value;) {
    if (name == key) return value;
  }
  return std::nullopt;
}

absl::StatusOr<UniqueFd> MakeGroup(int parent, const std::string& name) {
  // Closed to others: whoever can open a directory can lock it.
  if (mkdirat(parent, name.c_str(), 0700) != 0) return absl::ErrnoToStatus(errno, name + ": mkdir");
  UniqueFd dir = OpenGroup(parent, name.c_str());
  // A sweeper that came between has the lock, or has removed it already.
  if (!dir.ok() || flock(dir.get(), LOCK_EX | LOCK_NB) != 0 ||
      !HasGroupFile(dir.get(), "cgroup.procs")) {
    unlinkat(parent, name.c_str(), AT_REMOVEDIR);  // of a sweeper's it is gone already
    return absl::AlreadyExistsError(name + ": was taken away");
  }
  return dir;
}

bool RemoveGroup(int parent, const std::string& name, int dir) {
  for (int i = 0; i < kRemoveTries; ++i) {
    if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY) return false;
    KillAll(dir);
    nanosleep(&kRemovePause, nullptr);
  }
  return false;
}

void SweepGroups(int parent) {
  const int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(fdopendir(copy), closedir);
  std::vector<std::string> names;
  if (list == nullptr) {
    close(copy);
    return;
  }
  while (const dirent* entry = readdir(list.get())) {
    if (std::string_view(entry->d_name).starts_with(kGroupPrefix)) {
      names.emplace_back(entry->d_name);
    }
  }
  for (const std::string& name : names) {
    const UniqueFd dir = OpenGroup(parent, name.c_str());
    if (!dir.ok() || flock(dir.get(), LOCK_EX | LOCK_NB) != 0) continue;
    RemoveGroup(parent, name, dir.get());
  }
}

}  // namespace warder::sandbox
