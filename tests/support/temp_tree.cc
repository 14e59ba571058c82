#include "tests/support/temp_tree.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace warder::testing {
namespace {

void Require(bool done, const std::string& path) {
  if (done) return;
  std::perror(path.c_str());
  std::abort();
}

}  // namespace

TempTree::TempTree() {
  std::string name =
      std::filesystem::canonical(std::filesystem::temp_directory_path()) / "warder-test-XXXXXX";
  Require(mkdtemp(name.data()) != nullptr, name);
  path_ = name;
}

TempTree::~TempTree() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempTree::At(std::string_view relative) const {
  return path_ + "/" + std::string(relative);
}

std::string TempTree::Write(std::string_view relative, std::string_view bytes, mode_t mode) const {
  const std::string path = At(relative);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  Require(file.good() && chmod(path.c_str(), mode) == 0, path);
  return path;
}

std::string TempTree::Script(std::string_view relative, std::string_view bytes) const {
  return Write(relative, bytes, 0755);
}

std::string TempTree::Link(std::string_view relative, const std::string& target) const {
  const std::string path = At(relative);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::filesystem::remove(path);
  Require(symlink(target.c_str(), path.c_str()) == 0, path);
  return path;
}

std::string TempTree::Directory(std::string_view relative, mode_t mode) const {
  const std::string path = At(relative);
  std::filesystem::create_directories(path);
  Require(chmod(path.c_str(), mode) == 0, path);
  return path;
}

}  // namespace warder::testing
