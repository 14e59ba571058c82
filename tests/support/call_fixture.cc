#include "tests/support/call_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

namespace warder::testing {
namespace {

class AnyObjectSchema : public manifest::InputSchema {
 public:
  absl::Status Check(const manifest::Json& input) const override {
    if (input.contains("refused")) return absl::InvalidArgumentError("`/refused`: not");
    return absl::OkStatus();
  }
  const std::vector<std::string>& Unenforced() const override { return unenforced_; }

 private:
  std::vector<std::string> unenforced_;
};

}  // namespace

manifest::Workspace WorkspaceAt(const std::string& path) {
  manifest::Workspace workspace;
  workspace.path = path;
  workspace.fd.Reset(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status = {};
  if (!workspace.fd.ok() || fstat(workspace.fd.get(), &status) != 0) {
    std::perror(path.c_str());
    std::abort();
  }
  workspace.device = status.st_dev;
  workspace.inode = status.st_ino;
  return workspace;
}

manifest::NamedPolicy SystemPolicy() {
  manifest::NamedPolicy policy;
  policy.name = "test";
  policy.source = "/etc/warder/policies/test.json";
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"}) {
    policy.confinement.filesystem.grants.push_back(
        {path, sandbox::PathAccess::kRead, true, "programs of the system"});
  }
  policy.environment.baseline = {"PATH", "HOME", "LC_*"};
  return policy;
}

manifest::ToolSpec ToolWith(std::vector<std::string> command) {
  manifest::ToolSpec tool;
  tool.name = "t";
  tool.description = "a tool";
  tool.input_schema = AnyObject();
  tool.command = std::move(command);
  return tool;
}

std::shared_ptr<const manifest::InputSchema> AnyObject() {
  static const auto schema = std::make_shared<const AnyObjectSchema>();
  return schema;
}

std::string ContentOf(int fd) {
  std::string content;
  std::array<char, 4096> buffer;
  ssize_t size = 0;
  while ((size = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(content.size()))) > 0) {
    content.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return content;
}

}  // namespace warder::testing
