#include "sandbox/host_endpoints.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "sandbox/workspace_tree.h"

namespace warder::sandbox {
namespace {

// Connecting a datagram socket sends nothing. To a stream the kernel answers EPROTOTYPE, but only
// once it has found whose it is: ECONNREFUSED means that it is nobody's (unix(7)).
bool IsBound(int directory, const std::string& name) {
  const std::string path = absl::StrFormat("/proc/self/fd/%d/%s", directory, name);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return true;  // cannot be asked
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const UniqueFd asking(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  return connect(asking.get(), to, sizeof address) == 0 ||
         (errno != ECONNREFUSED && errno != ENOENT);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindHostEndpoints(int root, bool fifos) {
  std::vector<std::string> found;
  TreeWalk walk(root, kEndpointLimits);
  while (const WalkDirectory* directory = walk.Next()) {
    for (const WalkEntry& entry : directory->entries) {
      const mode_t mode = entry.status.st_mode;
      const bool open =
          S_ISSOCK(mode) ? IsBound(directory->fd.get(), entry.name) : fifos && S_ISFIFO(mode);
      if (!open) continue;
      std::string path = JoinPath(directory->path, entry.name);
      if (found.size() == kMaxEndpoints) {
        return absl::ResourceExhaustedError(absl::StrFormat(
            "%s: is %s, and %d more lie in the workspace: a cell gets none of them, and so many "
            "cannot be masked: move them elsewhere",
            path, FileKind(mode), kMaxEndpoints));
      }
      found.push_back(std::move(path));
    }
  }
  return found;
}

}  // namespace warder::sandbox
