#include "sandbox/mount_entries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace warder::sandbox {
namespace {

absl::StatusOr<struct stat> Status(int fd, const std::string& path) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, path + ": stat");
  return status;
}

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), free);
  return real == nullptr ? "" : real.get();
}

std::optional<IdMap> MapFor(const MountRequest& request, PathAccess access,
                            const struct stat& owner) {
  if (!request.id_map || access == PathAccess::kRead || owner.st_uid == request.uid)
    return std::nullopt;
  return IdMap{owner.st_uid, owner.st_gid, request.uid, request.gid};
}

LandlockAccess AccessRights(PathAccess access) {
  return access == PathAccess::kReadWrite ? LandlockAccess::kReadWrite : LandlockAccess::kRead;
}

// What is at `path`, as an entry at `target`. Only regular files and directories: a socket, FIFO or
// device would be a way out.
absl::StatusOr<MountEntry> TreeEntry(const MountRequest& request, const std::string& path,
                                     const std::string& target, PathAccess access) {
  auto fd = OpenPath(AT_FDCWD, path);
  if (!fd.ok()) return fd.status();
  auto status = Status(fd->get(), path);
  if (!status.ok()) return status.status();
  if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: neither a file nor a directory; a cell never gets sockets, FIFOs or "
                        "devices of the host",
                        path));
  }
  auto tree =
      CloneTree(fd->get(), {.access = access, .map = MapFor(request, access, *status)}, path);
  if (!tree.ok()) return tree.status();
  MountEntry entry;
  entry.target = target;
  entry.tree = std::move(*tree);
  entry.directory = S_ISDIR(status->st_mode);
  entry.access = AccessRights(access);
  return entry;
}

bool Granted(const FilesystemPolicy& policy, const std::string& path, const PathGrant* except) {
  return std::any_of(policy.grants.begin(), policy.grants.end(), [&](const PathGrant& grant) {
    return &grant != except && IsBelow(path, grant.path);
  });
}

// A link stays a link when the cell sees what it leads to; otherwise (resolv.conf in /run) its
// target takes its place.
absl::StatusOr<MountEntry> GrantEntry(const MountRequest& request, const PathGrant& grant) {
  struct stat status = {};
  if (lstat(grant.path.c_str(), &status) != 0) {
    return absl::NotFoundError(absl::StrFormat("%s: %s (policy `%s` grants it)", grant.path,
                                               strerror(errno), request.policy->name));
  }
  if (!S_ISLNK(status.st_mode)) return TreeEntry(request, grant.path, grant.path, grant.access);
  const std::string real = RealPath(grant.path);
  if (real.empty()) return absl::NotFoundError(grant.path + ": the link leads nowhere");
  if (!Granted(request.policy->filesystem, real, &grant)) {
    return TreeEntry(request, real, grant.path, grant.access);
  }
  std::array<char, PATH_MAX> target = {};
  const ssize_t size = readlink(grant.path.c_str(), target.data(), target.size());
  if (size <= 0) return absl::ErrnoToStatus(errno, grant.path + ": readlink");
  MountEntry entry;
  entry.target = grant.path;
  entry.kind = EntryKind::kLink;
  entry.link.assign(target.data(), static_cast<std::size_t>(size));
  return entry;
}

// Protected paths and every directory between them and the root become mounts, so that none of them
// can be renamed away.
absl::Status AddProtected(const MountRequest& request, int root, const IdMap* map,
                          std::vector<MountEntry>& entries) {
  std::vector<std::string> done;
  for (const ProtectedPath& rule : request.policy->filesystem.protect) {
    auto exists = OpenPath(root, rule.path);
    if (absl::IsNotFound(exists.status())) continue;
    if (!exists.ok()) return exists.status();
    for (std::size_t end = rule.path.find('/');; end = rule.path.find('/', end + 1)) {
      const std::string part = rule.path.substr(0, end);
      const bool last = end == std::string::npos;
      if (!last && std::find(done.begin(), done.end(), part) != done.end()) continue;
      done.push_back(part);
      auto fd = OpenPath(root, part);
      if (!fd.ok()) return fd.status();
      auto status = Status(fd->get(), part);
      if (!status.ok()) return status.status();
      TreeOptions options{.access = last ? PathAccess::kRead : PathAccess::kReadWrite};
      if (map != nullptr) options.map = *map;
      auto tree = CloneTree(fd->get(), options, request.workspace->path + "/" + part);
      if (!tree.ok()) return tree.status();
      MountEntry entry;
      entry.target = request.workspace->path + "/" + part;
      entry.tree = std::move(*tree);
      entry.directory = S_ISDIR(status->st_mode);
      entry.access = AccessRights(options.access);
      entries.push_back(std::move(entry));
      if (last) break;
    }
  }
  return absl::OkStatus();
}

absl::Status AddWorkspace(const MountRequest& request, std::vector<MountEntry>& entries) {
  if (!request.workspace.has_value()) return absl::OkStatus();
  const WorkspaceSource& source = *request.workspace;
  auto fd = OpenPath(AT_FDCWD, source.path);
  if (!fd.ok()) return fd.status();
  auto status = Status(fd->get(), source.path);
  if (!status.ok()) return status.status();
  if (status->st_dev != source.device || status->st_ino != source.inode) {
    return absl::FailedPreconditionError(
        source.path + ": the workspace is no longer the directory that was shown");
  }
  const WorkspaceMode mode = request.policy->filesystem.workspace;
  const PathAccess access =
      mode == WorkspaceMode::kReadWrite ? PathAccess::kReadWrite : PathAccess::kRead;
  // Read-only and overlay views are mapped too: the tool must be able to read its own user's files.
  const std::optional<IdMap> map = MapFor(request, PathAccess::kReadWrite, *status);
  auto tree = CloneTree(fd->get(), {.access = access, .map = map}, source.path);
  if (!tree.ok()) return tree.status();
  MountEntry entry;
  entry.target = source.path;
  entry.kind = mode == WorkspaceMode::kOverlay ? EntryKind::kOverlay : EntryKind::kTree;
  entry.tree = std::move(*tree);
  entry.access =
      mode == WorkspaceMode::kReadOnly ? LandlockAccess::kRead : LandlockAccess::kReadWrite;
  entries.push_back(std::move(entry));
  if (mode != WorkspaceMode::kReadWrite) return absl::OkStatus();
  return AddProtected(request, fd->get(), map.has_value() ? &*map : nullptr, entries);
}

// Masks that have something to mask. A file is masked by the null device, which reads as empty.
absl::Status AddHidden(const MountRequest& request, std::vector<MountEntry>& entries) {
  for (const HiddenPath& hidden : request.policy->filesystem.hide) {
    struct stat status = {};
    if (lstat(hidden.path.c_str(), &status) != 0) continue;
    std::erase_if(entries, [&](const MountEntry& entry) { return entry.target == hidden.path; });
    const bool visible = std::any_of(entries.begin(), entries.end(), [&](const MountEntry& entry) {
      return entry.kind != EntryKind::kLink && IsBelow(hidden.path, entry.target);
    });
    if (!visible) continue;
    MountEntry entry;
    entry.target = hidden.path;
    entry.directory = S_ISDIR(status.st_mode);
    entry.kind = entry.directory ? EntryKind::kMask : EntryKind::kTree;
    if (!entry.directory) {
      auto null_device = OpenPath(AT_FDCWD, "/dev/null");
      if (!null_device.ok()) return null_device.status();
      auto tree = CloneTree(null_device->get(), {.devices = true}, "/dev/null");
      if (!tree.ok()) return tree.status();
      entry.tree = std::move(*tree);
    }
    entries.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

bool ParentsFirst(const MountEntry& a, const MountEntry& b) {
  return std::lexicographical_compare(
      a.target.begin(), a.target.end(), b.target.begin(), b.target.end(),
      [](char x, char y) { return (x == '/' ? '\0' : x) < (y == '/' ? '\0' : y); });
}

}  // namespace

bool IsBelow(std::string_view path, std::string_view directory) {
  if (path.substr(0, directory.size()) != directory) return false;
  return path.size() == directory.size() || directory == "/" || path[directory.size()] == '/';
}

absl::StatusOr<std::vector<MountEntry>> CollectEntries(const MountRequest& request) {
  std::vector<MountEntry> entries;
  for (const char* path : {"/tmp", "/dev/shm", kCellHome}) {
    MountEntry entry;
    entry.target = path;
    entry.kind = EntryKind::kTmpfs;
    entry.access = LandlockAccess::kReadWrite;
    entries.push_back(std::move(entry));
  }
  for (const PathGrant& grant : request.policy->filesystem.grants) {
    auto entry = GrantEntry(request, grant);
    if (grant.optional && absl::IsNotFound(entry.status())) continue;
    if (!entry.ok()) return entry.status();
    std::erase_if(entries, [&](const MountEntry& old) { return old.target == entry->target; });
    entries.push_back(std::move(*entry));
  }
  absl::Status status = AddWorkspace(request, entries);
  if (!status.ok()) return status;
  status = AddHidden(request, entries);
  if (!status.ok()) return status;
  // Of two entries for one path the later stays later, as it must.
  std::vector<MountEntry> sorted;
  for (MountEntry& entry : entries) {
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), entry, ParentsFirst),
                  std::move(entry));
  }
  return sorted;
}

}  // namespace warder::sandbox
