// TempTree: a fresh directory with files for one test, removed with it.
#ifndef WARDER_TESTS_SUPPORT_TEMP_TREE_H_
#define WARDER_TESTS_SUPPORT_TEMP_TREE_H_

#include <sys/stat.h>

#include <string>
#include <string_view>

namespace warder::testing {

class TempTree {
 public:
  TempTree();
  ~TempTree();
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  // Absolute, no symlink in it.
  const std::string& path() const { return path_; }
  // The absolute path of `relative`.
  std::string At(std::string_view relative) const;

  // Each makes the directories above what it makes, replaces what is there, and returns the
  // absolute path. Aborts when it cannot.
  std::string Write(std::string_view relative, std::string_view bytes, mode_t mode = 0644) const;
  std::string Script(std::string_view relative, std::string_view bytes) const;  // mode 0755
  std::string Link(std::string_view relative, const std::string& target) const;
  std::string Directory(std::string_view relative, mode_t mode = 0755) const;

 private:
  std::string path_;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_TEMP_TREE_H_
