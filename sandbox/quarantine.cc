#include "sandbox/quarantine.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "absl/strings/str_format.h"
#include "sandbox/workspace_tree.h"

namespace warder::sandbox {
namespace {

// Of one thing: each attempt takes the next name.
constexpr int kMaxNames = 16;

// Never a name that the tool chose. Unique enough among processes; a name that is taken is not
// replaced.
std::string NewName(int number) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return absl::StrFormat("warder-quarantine-%d-%d-%d", std::chrono::nanoseconds(now).count(),
                         getpid(), number);
}

// The first name on the way to `path` that is no directory, or `path` itself; nothing when the way
// ends before.
std::optional<std::string> Appeared(int root, const std::string& path) {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    std::string part = path.substr(0, end);
    auto node = OpenNode(root, part);
    if (absl::IsNotFound(node.status())) return std::nullopt;
    // What cannot be examined is not known to be absent.
    if (!node.ok() || end == std::string::npos || !S_ISDIR(node->status.st_mode)) return part;
  }
}

UniqueFd OpenQuarantine(const std::string& directory) {
  mkdir(directory.c_str(), 0700);  // the open says what is wrong when this fails
  return UniqueFd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool IsFull(int quarantine) {
  const auto names = ListDirectory(quarantine, kMaxQuarantined);
  return names.ok() && names->size() >= kMaxQuarantined;
}

// The new name, or "" with errno.
std::string MoveInto(int from, const std::string& name, int to) {
  for (int number = 0; number < kMaxNames; ++number) {
    std::string moved = NewName(number);
    if (renameat2(from, name.c_str(), to, moved.c_str(), RENAME_NOREPLACE) == 0) return moved;
    if (errno != EEXIST) return "";
  }
  return "";
}

Quarantined Move(int root, const std::string& root_path, const std::string& path,
                 const std::string& directory) {
  Quarantined result{path, "", ""};
  const std::size_t slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  auto parent = OpenPath(root, above.empty() ? "." : above);
  if (!parent.ok()) {
    result.fault = std::string(parent.status().message());
    return result;
  }
  UniqueFd quarantine = OpenQuarantine(directory);
  if (quarantine.ok() && IsFull(quarantine.get())) {
    result.fault =
        absl::StrFormat("%s: holds %d things already; empty it", directory, kMaxQuarantined);
    quarantine.Reset();
  }
  if (quarantine.ok()) {
    const std::string moved = MoveInto(parent->get(), name, quarantine.get());
    if (!moved.empty()) result.moved_to = directory + "/" + moved;
  }
  if (!result.moved_to.empty() || (quarantine.ok() && errno == ENOENT)) return result;
  const std::string moved = MoveInto(parent->get(), name, parent->get());
  if (moved.empty()) {
    result.fault = absl::StrFormat("rename: %s", strerror(errno));
  } else {
    result.moved_to = JoinPath(JoinPath(root_path, above), moved);
  }
  return result;
}

}  // namespace

std::vector<Quarantined> QuarantineAppeared(int root, const std::string& root_path,
                                            const std::vector<std::string>& absent,
                                            const std::string& directory) {
  std::vector<Quarantined> results;
  for (const std::string& path : absent) {
    const auto appeared = Appeared(root, path);
    if (!appeared.has_value()) continue;
    Quarantined result = Move(root, root_path, *appeared, directory);
    if (!result.moved_to.empty() || !result.fault.empty()) results.push_back(std::move(result));
  }
  return results;
}

}  // namespace warder::sandbox
