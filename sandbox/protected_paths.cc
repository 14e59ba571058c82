#include "sandbox/protected_paths.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace warder::sandbox {
namespace {

// As many links as the kernel follows in one look-up (path_resolution(7)).
constexpr int kMaxLinks = 40;
// A pointer file is one line with one path.
constexpr std::size_t kMaxPointerBytes = 8192;
constexpr std::string_view kPointerWord = "gitdir: ";
constexpr std::string_view kGit = ".git";

using Names = std::deque<std::string>;

Names Split(std::string_view path) {
  Names names;
  for (const auto& part : absl::StrSplit(absl::string_view(path.data(), path.size()), '/')) {
    if (!part.empty() && part != ".") names.emplace_back(part.data(), part.size());
  }
  return names;
}

std::string Join(const std::string& at, const Names& names) {
  std::string path = at;
  for (const std::string& name : names) path = JoinPath(path, name);
  return path;
}

void Append(Names& names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
}

class Finder {
 public:
  Finder(int root, const std::string& path) : root_(root), path_(path) {}

  absl::Status Follow(const std::string& rule);
  absl::StatusOr<std::vector<std::string>> Submodules();
  ProtectedNodes Take();

 private:
  // Where a look-up stands: `at` is a directory without links in its name, `left` what remains.
  struct Walk {
    std::string at;
    Names left;
    int links = 0;
  };
  absl::Status FollowWalk(Walk walk);
  absl::StatusOr<bool> Enter(Walk& walk, const std::string& path, TreeNode node);
  void Lead(Walk& walk, std::string_view text) const;
  absl::Status FollowPointer(const Walk& walk, const TreeNode& file);

  int root_;
  const std::string& path_;
  std::map<std::string, ProtectedNode>
      nodes_;  // sorted: a parent's name is a prefix of its child's
  std::set<std::string> absent_;
  std::vector<Walk> waiting_;
};

// Goes on from `walk.at` with the path `text`. Leaves nothing to follow when it is absolute and
// outside the workspace: the cell does not see that place.
void Finder::Lead(Walk& walk, std::string_view text) const {
  Names names;
  if (text.starts_with('/')) {
    const std::string inside = path_ + "/";
    if (!text.starts_with(inside)) {
      walk.left.clear();
      return;
    }
    walk.at.clear();
    text.remove_prefix(inside.size());
  }
  names = Split(text);
  Append(names, walk.left);
  walk.left = std::move(names);
}

// "" of what git would not take for a pointer either.
absl::StatusOr<std::string> ReadLine(const TreeNode& file, const std::string& name) {
  if (!S_ISREG(file.status.st_mode) ||
      static_cast<std::uint64_t>(file.status.st_size) > kMaxPointerBytes) {
    return "";
  }
  auto text = ReadRegularFile(file.fd.get(), name, kMaxPointerBytes);
  if (absl::IsPermissionDenied(text.status())) return "";  // the tool has no more rights than we
  if (!text.ok()) return text.status();
  return text->substr(0, text->find_last_not_of("\r\n") + 1);
}

// The file `.git` of a worktree or submodule names the repository; that one may name another, whose
// hooks and configuration count (gitrepository-layout(5), commondir).
absl::Status Finder::FollowPointer(const Walk& walk, const TreeNode& file) {
  const auto line = ReadLine(file, path_ + "/" + JoinPath(walk.at, kGit));
  if (!line.ok()) return line.status();
  if (!line->starts_with(kPointerWord)) return absl::OkStatus();
  Walk repository = walk;
  Lead(repository, std::string_view(*line).substr(kPointerWord.size()));
  waiting_.push_back(repository);
  if (repository.left.empty()) return absl::OkStatus();
  Walk common;
  common.at = repository.at;
  common.left = repository.left;
  common.left.resize(common.left.size() - walk.left.size());
  // Where the repository is, without "..": git itself writes it so.
  Names real;
  for (const std::string& name : Split(Join(common.at, common.left))) {
    if (name != "..") {
      real.push_back(name);
    } else if (real.empty()) {
      return absl::OkStatus();
    } else {
      real.pop_back();
    }
  }
  const std::string name = Join(Join("", real), {"commondir"});
  auto node = OpenNode(root_, name);
  const absl::Status& opened = node.status();
  // Not there, or behind a link or a directory that is closed to the tool as well.
  if (absl::IsNotFound(opened) || absl::IsFailedPrecondition(opened) ||
      absl::IsPermissionDenied(opened)) {
    return absl::OkStatus();
  }
  if (!node.ok()) return opened;
  const auto shared = ReadLine(*node, path_ + "/" + name);
  if (!shared.ok()) return shared.status();
  common.at = Join("", real);
  common.left = walk.left;
  common.links = walk.links;
  Lead(common, *shared);
  waiting_.push_back(std::move(common));
  return absl::OkStatus();
}

// Takes note of one node on the way. False when nothing is left to follow.
absl::StatusOr<bool> Finder::Enter(Walk& walk, const std::string& path, TreeNode node) {
  const mode_t mode = node.status.st_mode;
  if (!S_ISDIR(mode) && !S_ISREG(mode) && !S_ISLNK(mode)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s/%s: is %s under a protected name: remove it; a cell never gets "
                        "sockets, FIFOs or devices of the host",
                        path_, path, FileKind(mode)));
  }
  const bool above = S_ISDIR(mode) && !walk.left.empty();
  if (S_ISDIR(mode)) walk.at = path;
  bool more = above;
  if (S_ISLNK(mode) && ++walk.links <= kMaxLinks) {
    auto text = ReadLink(node.fd.get(), path_ + "/" + path);
    if (!text.ok()) return text.status();
    Lead(walk, *text);
    more = !walk.left.empty();
  } else if (S_ISREG(mode) && !walk.left.empty() && path == JoinPath(walk.at, kGit)) {
    absl::Status followed = FollowPointer(walk, node);
    if (!followed.ok()) return followed;
  }
  ProtectedNode& kept = nodes_.try_emplace(path, ProtectedNode{path, {}, above}).first->second;
  kept.node = std::move(node);
  kept.writable = kept.writable && above;
  return more;
}

absl::Status Finder::FollowWalk(Walk walk) {
  while (!walk.left.empty()) {
    const std::string name = std::move(walk.left.front());
    walk.left.pop_front();
    if (name == "..") {
      if (walk.at.empty()) return absl::OkStatus();  // out of the workspace
      const std::size_t slash = walk.at.rfind('/');
      walk.at.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    std::string path = JoinPath(walk.at, name);
    auto node = OpenNode(root_, path);
    if (absl::IsNotFound(node.status())) {
      // Up to the first "..": what comes after it lies beside what is not there.
      walk.left.erase(std::find(walk.left.begin(), walk.left.end(), ".."), walk.left.end());
      absent_.insert(Join(path, walk.left));
      return absl::OkStatus();
    }
    if (!node.ok()) return node.status();
    auto more = Enter(walk, std::move(path), *std::move(node));
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status Finder::Follow(const std::string& rule) {
  waiting_.push_back(Walk{"", Split(rule)});
  // A pointer that leads to a pointer is followed as often as links are.
  for (int followed = 0; !waiting_.empty() && followed < kMaxLinks; ++followed) {
    Walk walk = std::move(waiting_.back());
    waiting_.pop_back();
    absl::Status status = FollowWalk(std::move(walk));
    if (!status.ok()) return status;
  }
  waiting_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Finder::Submodules() {
  std::vector<std::string> found;
  // Through links and pointers, as git gets there; what is found on the way is not kept.
  Finder modules(root_, path_);
  absl::Status followed = modules.Follow(".git/modules");
  if (!followed.ok()) return followed;
  std::deque<std::string> directories;
  for (const auto& [path, node] : modules.nodes_) {
    if (!node.writable && S_ISDIR(node.node.status.st_mode)) directories.push_back(path);
  }
  for (std::size_t listed = 0; !directories.empty() && listed < kMaxModuleDirectories; ++listed) {
    const std::string directory = std::move(directories.front());
    directories.pop_front();
    auto node = OpenNode(root_, directory);
    if (absl::IsNotFound(node.status())) continue;
    if (!node.ok()) return node.status();
    if (!S_ISDIR(node->status.st_mode)) continue;
    auto names = ListDirectory(node->fd.get(), kMaxModuleDirectories);
    if (!names.ok()) return names.status();
    const bool repository = std::find(names->begin(), names->end(), "HEAD") != names->end();
    if (repository && found.size() < kMaxSubmodules) found.push_back(directory);
    for (const std::string& name : *names) {
      // A submodule's name may have slashes in it, and a submodule may have submodules.
      if (!repository || name == "modules") directories.push_back(JoinPath(directory, name));
    }
  }
  return found;
}

ProtectedNodes Finder::Take() {
  ProtectedNodes result;
  for (auto& [path, node] : nodes_) result.nodes.push_back(std::move(node));
  result.absent.assign(absent_.begin(), absent_.end());
  return result;
}

}  // namespace

absl::StatusOr<ProtectedNodes> FindProtected(int root, const std::string& path,
                                             const std::vector<ProtectedPath>& rules) {
  Finder finder(root, path);
  std::vector<std::string> submodules;
  const std::string in_git = std::string(kGit) + "/";
  const auto is_git = [&](const ProtectedPath& rule) { return rule.path.starts_with(in_git); };
  if (std::any_of(rules.begin(), rules.end(), is_git)) {
    auto found = finder.Submodules();
    if (!found.ok()) return found.status();
    submodules = *std::move(found);
  }
  for (const ProtectedPath& rule : rules) {
    absl::Status status = finder.Follow(rule.path);
    if (!status.ok()) return status;
    if (!is_git(rule)) continue;
    for (const std::string& submodule : submodules) {
      status = finder.Follow(JoinPath(submodule, rule.path.substr(in_git.size())));
      if (!status.ok()) return status;
    }
  }
  return finder.Take();
}

}  // namespace warder::sandbox
