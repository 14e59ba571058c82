// SensitiveRemovals: sensitive files that a call took away. What is gone leaves no change time
// behind, so it must be known before.
#ifndef WARDER_SUPERVISOR_SENSITIVE_REMOVALS_H_
#define WARDER_SUPERVISOR_SENSITIVE_REMOVALS_H_

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/tree_walk.h"

namespace warder::supervisor {

// Makes note of the sensitive names in a workspace's root and below the sensitive directories
// there, which is where programs look for them. Deeper ones would need a walk through all of the
// workspace before each call.
class SensitiveRemovals {
 public:
  struct Name {
    std::string path;       // relative to the workspace
    std::string_view kind;  // of the table in sensitive_names.cc
  };

  // Borrows `root` (O_PATH will do). Blocks for the look; its bounds are kMaxNames and kLimits.
  explicit SensitiveRemovals(int root);

  // What is no longer there. Call it when nothing runs in the cell any more.
  std::vector<Name> Gone() const;
  // What the look did not reach.
  const std::vector<sandbox::WalkGap>& gaps() const { return gaps_; }

  static constexpr std::size_t kMaxNames = 1024;  // more than a workspace configures
  // Of one sensitive directory: a person's configuration, and not a tree of data.
  static constexpr sandbox::WalkLimits kLimits = {
      .entries = 1024, .waiting_bytes = 64u << 10, .time_us = 10'000};

 private:
  void LookInto(const std::string& directory);
  void Note(std::string path);
  void NoteFile(const std::string& path);
  void Gap(const std::string& path, const std::string& why);

  int root_;
  bool full_ = false;
  std::vector<Name> names_;
  std::vector<sandbox::WalkGap> gaps_;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_SENSITIVE_REMOVALS_H_
