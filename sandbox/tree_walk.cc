#include "sandbox/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"

namespace warder::sandbox {
namespace {

std::int64_t NowUs() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int OpenDirectory(int root, const std::string& path) {
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const char* name = path.empty() ? "." : path.c_str();
  return static_cast<int>(syscall(SYS_openat2, root, name, &how, sizeof how));
}

std::string WhyNot(int error) {
  if (error == EXDEV) return "another file system is mounted there";
  if (error == ENAMETOOLONG) return "lies deeper than a path can say";
  return strerror(error);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

TreeWalk::TreeWalk(int root, const WalkLimits& limits) : root_(root), limits_(limits) {}

void TreeWalk::Gap(const std::string& path, std::string why) {
  ++gap_count_;
  if (gaps_.size() < kMaxGaps) gaps_.push_back({path, std::move(why)});
}

void TreeWalk::Wait(std::string path) {
  if (waiting_bytes_ + path.size() > limits_.waiting_bytes) {
    Gap(path, "more directories than are looked at");
    return;
  }
  waiting_bytes_ += path.size();
  waiting_.push_back(std::move(path));
}

// Fills current_. False when the directory is not there any more, or became a gap.
bool TreeWalk::List() {
  const std::string& path = current_.path;
  current_.fd.Reset(OpenDirectory(root_, path));
  if (!current_.fd.ok()) {
    if (const int error = errno; error != ENOENT) Gap(path, WhyNot(error));
    return false;
  }
  if (fstat(current_.fd.get(), &current_.status) != 0) {
    Gap(path, WhyNot(errno));
    return false;
  }
  const std::unique_ptr<DIR, CloseDirectory> listing(
      fdopendir(fcntl(current_.fd.get(), F_DUPFD_CLOEXEC, 0)));
  if (listing == nullptr) {
    Gap(path, WhyNot(errno));
    return false;
  }
  while (const dirent* found = readdir(listing.get())) {
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    if (++seen_ > limits_.entries) {
      Gap(path, absl::StrFormat("more than %d files", limits_.entries));
      break;
    }
    WalkEntry entry;
    entry.name = name;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    if (limits_.kinds_only && found->d_type != DT_UNKNOWN) {
      entry.status.st_mode = static_cast<mode_t>(DTTOIF(found->d_type));
    } else if (fstatat(current_.fd.get(), found->d_name, &entry.status, flags) != 0) {
      if (errno != ENOENT) Gap(JoinPath(path, name), WhyNot(errno));
      continue;
    }
    if (S_ISDIR(entry.status.st_mode)) {
      Wait(JoinPath(path, name));
    }
    current_.entries.push_back(std::move(entry));
  }
  return true;
}

const WalkDirectory* TreeWalk::Next() {
  const std::int64_t start = NowUs();
  bool listed = false;
  while (!listed && !waiting_.empty()) {
    current_ = WalkDirectory{};
    current_.path = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= current_.path.size();
    const char* stop = nullptr;
    if (spent_us_ + NowUs() - start > limits_.time_us) stop = "the time for looking was over";
    if (seen_ >= limits_.entries) stop = "more files than are looked at";
    if (stop == nullptr) {
      listed = List();
      continue;
    }
    Gap(current_.path, stop);
    gap_count_ += waiting_.size();
    waiting_.clear();
  }
  spent_us_ += NowUs() - start;
  return listed ? &current_ : nullptr;
}

}  // namespace warder::sandbox
