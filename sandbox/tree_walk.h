// TreeWalk: every directory of a workspace, nearest to its root first, within bounds.
#ifndef WARDER_SANDBOX_TREE_WALK_H_
#define WARDER_SANDBOX_TREE_WALK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sandbox/workspace_tree.h"

namespace warder::sandbox {

struct WalkLimits {
  std::size_t entries = 200'000;          // a large checkout with its dependencies
  std::size_t waiting_bytes = 16u << 20;  // names of directories that are still to be listed
  std::int64_t time_us = 500'000;         // spent in Next(), so that a call's end does not hang
  bool kinds_only =
      false;  // of an entry's status only the kind (S_IFMT) is wanted: no stat(2) each
};

struct WalkEntry {
  std::string name;         // any bytes but '/' and NUL
  struct stat status = {};  // of the entry itself, not of what a link leads to
};

struct WalkDirectory {
  std::string path;  // relative to the root; "" is the root
  UniqueFd fd;
  struct stat status = {};
  std::vector<WalkEntry> entries;
};

// What was not looked at, and why.
struct WalkGap {
  std::string path;
  std::string why;
};

// Follows no link, enters no other mount, opens nothing but directories.
class TreeWalk {
 public:
  // Borrows `root`, a directory (O_PATH will do).
  explicit TreeWalk(int root, const WalkLimits& limits = {});

  // The next directory; null at the end. Valid until the next call. Blocks for one directory.
  const WalkDirectory* Next();

  // At most kMaxGaps of them; more are counted.
  const std::vector<WalkGap>& gaps() const { return gaps_; }
  std::size_t gap_count() const { return gap_count_; }

  static constexpr std::size_t kMaxGaps = 8;

 private:
  bool List();
  void Wait(std::string path);
  void Gap(const std::string& path, std::string why);

  int root_;
  WalkLimits limits_;
  std::deque<std::string> waiting_ = {""};
  std::size_t waiting_bytes_ = 0, seen_ = 0, gap_count_ = 0;
  std::int64_t spent_us_ = 0;
  WalkDirectory current_;
  std::vector<WalkGap> gaps_;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_TREE_WALK_H_
