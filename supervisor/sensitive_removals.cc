#include "supervisor/sensitive_removals.h"

#include <sys/stat.h>

#include <utility>

#include "sandbox/workspace_tree.h"
#include "supervisor/sensitive_names.h"

namespace warder::supervisor {
namespace {

using sandbox::JoinPath;

// Names in the workspace's root. It is listed without asking about each.
constexpr std::size_t kMaxRootNames = 4096;

}  // namespace

SensitiveRemovals::SensitiveRemovals(int root) : root_(root) {
  const auto names = sandbox::ListDirectory(root, kMaxRootNames);
  if (!names.ok()) {
    Gap("", std::string(names.status().message()));
    return;
  }
  if (names->size() == kMaxRootNames) Gap("", "too many names");
  for (const std::string& name : *names) {
    if (IsSensitiveDirectory(name) && name != ".git") LookInto(name);
    NoteFile(name);
  }
  // The rest is git's own data.
  LookInto(".git/hooks");
  NoteFile(".git/config");
}

void SensitiveRemovals::Gap(const std::string& path, const std::string& why) {
  gaps_.push_back({path, "not looked at before the call, so removals are not known: " + why});
}

void SensitiveRemovals::Note(std::string path) {
  const SensitiveName* name = FindSensitiveName(path);
  // Whether it mattered depends on what was in it; that a filter is gone harms nobody.
  if (name == nullptr || !name->contains.empty()) return;
  if (names_.size() < kMaxNames) {
    names_.push_back({std::move(path), name->kind});
  } else if (!std::exchange(full_, true)) {
    Gap(path, "too many sensitive names");
  }
}

void SensitiveRemovals::NoteFile(const std::string& path) {
  if (FindSensitiveName(path) == nullptr) return;
  const auto node = sandbox::OpenNode(root_, path);
  if (node.ok() && !S_ISDIR(node->status.st_mode)) Note(path);
}

void SensitiveRemovals::LookInto(const std::string& directory) {
  const auto node = sandbox::OpenNode(root_, directory);
  if (!node.ok() || !S_ISDIR(node->status.st_mode)) return;
  sandbox::TreeWalk walk(node->fd.get(), kLimits);
  while (const sandbox::WalkDirectory* at = walk.Next()) {
    for (const sandbox::WalkEntry& entry : at->entries) {
      if (S_ISDIR(entry.status.st_mode)) continue;
      Note(JoinPath(JoinPath(directory, at->path), entry.name));
    }
  }
  if (walk.gap_count() > 0) Gap(directory, walk.gaps().front().why);
}

std::vector<SensitiveRemovals::Name> SensitiveRemovals::Gone() const {
  std::vector<Name> gone;
  for (const Name& name : names_) {
    const auto node = sandbox::OpenPath(root_, name.path);
    if (absl::IsNotFound(node.status())) gone.push_back(name);
  }
  return gone;
}

}  // namespace warder::supervisor
