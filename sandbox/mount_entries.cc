#include "sandbox/mount_entries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "sandbox/host_endpoints.h"
#include "sandbox/protected_paths.h"
#include "sandbox/workspace_tree.h"

namespace warder::sandbox {
namespace {

// Errors: kNotFound when nothing is there, or nothing that a launcher without privileges can reach;
// a tool has no more than that. Whatever else goes wrong says nothing about what is there.
absl::Status Unresolved(const std::string& path) {
  const std::string text = absl::StrFormat("%s: %s", path, strerror(errno));
  if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP) {
    return absl::NotFoundError(text);
  }
  return absl::ErrnoToStatus(errno, path);
}

absl::StatusOr<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), free);
  if (real == nullptr) return Unresolved(path);
  return std::string(real.get());
}

// What a policy hides, by the names that these places really have; shorter ones first.
struct HiddenPlace {
  std::string path;
  bool directory = true;
};

absl::StatusOr<std::vector<HiddenPlace>> HiddenPlaces(const FilesystemPolicy& policy) {
  std::vector<HiddenPlace> places;
  for (const HiddenPath& hidden : policy.hide) {
    struct stat status = {};
    auto real = RealPath(hidden.path);
    absl::Status found = real.status();
    if (real.ok() && lstat(real->c_str(), &status) != 0) found = Unresolved(hidden.path);
    if (absl::IsNotFound(found)) continue;
    if (!found.ok()) return found;
    places.push_back({*std::move(real), S_ISDIR(status.st_mode)});
  }
  std::sort(places.begin(), places.end(), [](const HiddenPlace& a, const HiddenPlace& b) {
    return a.path.size() < b.path.size();
  });
  return places;
}

// The entry with the longest path that `path` lies in, the last one of several; links hold nothing.
const MountEntry* Longest(const std::string& path, const std::vector<MountEntry>& entries) {
  const MountEntry* longest = nullptr;
  for (const MountEntry& entry : entries) {
    if (entry.kind == EntryKind::kLink || !IsBelow(path, entry.target)) continue;
    if (longest == nullptr || entry.target.size() >= longest->target.size()) longest = &entry;
  }
  return longest;
}

std::optional<IdMap> MapFor(const MountRequest& request, PathAccess access,
                            const struct stat& owner) {
  if (!request.id_map || access == PathAccess::kRead || owner.st_uid == request.uid) {
    return std::nullopt;
  }
  return IdMap{owner.st_uid, owner.st_gid, request.uid, request.gid};
}

LandlockAccess AccessRights(PathAccess access) {
  return access == PathAccess::kReadWrite ? LandlockAccess::kReadWrite : LandlockAccess::kRead;
}

// What is at `path`, as an entry at `target`. Only regular files and directories: a socket, FIFO or
// device would be a way out.
absl::StatusOr<MountEntry> TreeEntry(const MountRequest& request, const std::string& path,
                                     const std::string& target, PathAccess access) {
  auto node = OpenNode(AT_FDCWD, path);
  if (!node.ok()) return node.status();
  const mode_t mode = node->status.st_mode;
  if (!S_ISREG(mode) && !S_ISDIR(mode)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: is %s; a cell never gets sockets, FIFOs or devices of the host", path,
                        FileKind(mode)));
  }
  auto tree = CloneTree(node->fd.get(),
                        {.access = access, .map = MapFor(request, access, node->status)}, path);
  if (!tree.ok()) return tree.status();
  MountEntry entry;
  entry.target = target;
  entry.tree = std::move(*tree);
  entry.directory = S_ISDIR(mode);
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
absl::StatusOr<MountEntry> GrantEntry(const MountRequest& request, const PathGrant& grant,
                                      const std::vector<HiddenPlace>& hidden) {
  struct stat status = {};
  if (lstat(grant.path.c_str(), &status) != 0) {
    return Unresolved(
        absl::StrFormat("%s (policy `%s` grants it)", grant.path, request.policy->name));
  }
  if (!S_ISLNK(status.st_mode)) return TreeEntry(request, grant.path, grant.path, grant.access);
  auto resolved = RealPath(grant.path);
  if (!resolved.ok()) return resolved.status();
  const std::string real = *std::move(resolved);
  for (const HiddenPlace& place : hidden) {
    if (!IsBelow(real, place.path)) continue;
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: leads to %s, which policy `%s` hides: grant it by that name, or not",
                        grant.path, real, request.policy->name));
  }
  if (!Granted(request.policy->filesystem, real, &grant)) {
    return TreeEntry(request, real, grant.path, grant.access);
  }
  auto link = OpenPath(AT_FDCWD, grant.path);
  if (!link.ok()) return link.status();
  auto text = ReadLink(link->get(), grant.path);
  if (!text.ok()) return text.status();
  MountEntry entry;
  entry.target = grant.path;
  entry.kind = EntryKind::kLink;
  entry.link = *std::move(text);
  return entry;
}

// True when protecting `path` would take nothing away: a longer rule than the workspace's already
// hides it or makes it read-only. A mount of ours there could only widen that.
bool AlreadyNarrower(const std::string& path, const std::vector<HiddenPlace>& hidden,
                     const std::vector<MountEntry>& entries) {
  const MountEntry* longest = Longest(path, entries);
  return longest->access != LandlockAccess::kReadWrite ||
         std::any_of(hidden.begin(), hidden.end(), [&](const HiddenPlace& place) {
           return IsBelow(path, place.path) && place.path.size() > longest->target.size();
         });
}

// Protected paths and every directory between them and the root become mounts, so that none of them
// can be renamed away.
absl::Status AddProtected(const WorkspaceSource& workspace,
                          const std::vector<ProtectedPath>& protect, int root, const IdMap* map,
                          const std::vector<HiddenPlace>& hidden, FileView& view) {
  auto found = FindProtected(root, workspace.path, protect);
  if (!found.ok()) return found.status();
  view.absent = std::move(found->absent);
  std::vector<MountEntry> added;
  for (const ProtectedNode& node : found->nodes) {
    MountEntry entry;
    entry.target = JoinPath(workspace.path, node.path);
    if (AlreadyNarrower(entry.target, hidden, view.entries)) continue;
    TreeOptions options{.access = node.writable ? PathAccess::kReadWrite : PathAccess::kRead};
    if (map != nullptr) options.map = *map;
    auto tree = CloneTree(node.node.fd.get(), options, entry.target);
    if (!tree.ok()) return tree.status();
    entry.tree = std::move(*tree);
    entry.directory = S_ISDIR(node.node.status.st_mode);
    entry.access = AccessRights(options.access);
    entry.narrows = true;
    added.push_back(std::move(entry));
  }
  std::move(added.begin(), added.end(), std::back_inserter(view.entries));
  return absl::OkStatus();
}

// Adds to `hidden` what of the workspace no cell gets.
absl::Status AddWorkspace(const MountRequest& request, std::vector<HiddenPlace>& hidden,
                          FileView& view) {
  if (!request.workspace.has_value()) return absl::OkStatus();
  const WorkspaceSource& source = *request.workspace;
  auto node = OpenNode(AT_FDCWD, source.path);
  if (!node.ok()) return node.status();
  if (node->status.st_dev != source.device || node->status.st_ino != source.inode) {
    return absl::FailedPreconditionError(
        source.path + ": the workspace is no longer the directory that was shown");
  }
  const WorkspaceMode mode = request.policy->filesystem.workspace;
  const PathAccess access =
      mode == WorkspaceMode::kReadWrite ? PathAccess::kReadWrite : PathAccess::kRead;
  // Read-only and overlay views are mapped too: the tool must be able to read its own user's files.
  const std::optional<IdMap> map = MapFor(request, PathAccess::kReadWrite, node->status);
  auto tree = CloneTree(node->fd.get(), {.access = access, .map = map}, source.path);
  if (!tree.ok()) return tree.status();
  MountEntry entry;
  entry.target = source.path;
  entry.kind = mode == WorkspaceMode::kOverlay ? EntryKind::kOverlay : EntryKind::kTree;
  entry.tree = std::move(*tree);
  entry.access =
      mode == WorkspaceMode::kReadOnly ? LandlockAccess::kRead : LandlockAccess::kReadWrite;
  view.entries.push_back(std::move(entry));
  if (mode == WorkspaceMode::kReadWrite) {
    absl::Status status = AddProtected(source, request.policy->filesystem.protect, node->fd.get(),
                                       map.has_value() ? &*map : nullptr, hidden, view);
    if (!status.ok()) return status;
  }
  // In an overlay a socket or FIFO is another one than the host's of the same name.
  if (mode == WorkspaceMode::kOverlay) return absl::OkStatus();
  auto endpoints = FindHostEndpoints(node->fd.get(), mode == WorkspaceMode::kReadOnly);
  if (!endpoints.ok()) return endpoints.status();
  for (const std::string& path : *endpoints) {
    hidden.push_back({JoinPath(source.path, path), false});
  }
  return absl::OkStatus();
}

// Masks what the cell would otherwise see. A file is masked by the null device, which reads as
// empty.
absl::Status AddHidden(const std::vector<HiddenPlace>& hidden, std::vector<MountEntry>& entries) {
  for (const HiddenPlace& place : hidden) {
    std::erase_if(entries, [&](const MountEntry& entry) { return entry.target == place.path; });
    const MountEntry* around = Longest(place.path, entries);
    if (around == nullptr ||
        (around->kind != EntryKind::kTree && around->kind != EntryKind::kOverlay)) {
      continue;
    }
    MountEntry entry;
    entry.target = place.path;
    entry.directory = place.directory;
    entry.kind = entry.directory ? EntryKind::kMask : EntryKind::kTree;
    entry.narrows = true;
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

// A grant at a path that is granted already counts only when it is the narrower one. A private
// directory gives way to any grant.
void AddGrant(MountEntry entry, std::vector<MountEntry>& entries) {
  const auto same = std::find_if(entries.begin(), entries.end(),
                                 [&](const MountEntry& old) { return old.target == entry.target; });
  if (same == entries.end()) {
    entries.push_back(std::move(entry));
  } else if (same->kind == EntryKind::kTmpfs || entry.access == LandlockAccess::kRead) {
    *same = std::move(entry);
  }
}

}  // namespace

bool IsBelow(std::string_view path, std::string_view directory) {
  if (path.substr(0, directory.size()) != directory) return false;
  return path.size() == directory.size() || directory == "/" || path[directory.size()] == '/';
}

absl::StatusOr<FileView> CollectView(const MountRequest& request) {
  FileView view;
  for (const char* path : {"/tmp", "/dev/shm", kCellHome}) {
    MountEntry entry;
    entry.target = path;
    entry.kind = EntryKind::kTmpfs;
    entry.access = LandlockAccess::kReadWrite;
    view.entries.push_back(std::move(entry));
  }
  auto hidden_places = HiddenPlaces(request.policy->filesystem);
  if (!hidden_places.ok()) return hidden_places.status();
  std::vector<HiddenPlace>& hidden = *hidden_places;
  for (const PathGrant& grant : request.policy->filesystem.grants) {
    auto entry = GrantEntry(request, grant, hidden);
    if (grant.optional && absl::IsNotFound(entry.status())) continue;
    if (!entry.ok()) return entry.status();
    AddGrant(std::move(*entry), view.entries);
  }
  absl::Status status = AddWorkspace(request, hidden, view);
  if (!status.ok()) return status;
  status = AddHidden(hidden, view.entries);
  if (!status.ok()) return status;
  // Of two entries for one path the later stays later, as it must.
  std::vector<MountEntry> sorted;
  for (MountEntry& entry : view.entries) {
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), entry, ParentsFirst),
                  std::move(entry));
  }
  view.entries = std::move(sorted);
  return view;
}

}  // namespace warder::sandbox
