#include "tests/support/in_launcher.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sandbox/syscall_filter.h"

namespace warder::testing {

std::string InLauncher(const std::function<std::string(const sandbox::Host&)>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "FAILED: pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string text;
    auto host = sandbox::EnterLauncher();
    if (host.ok())
      text = body(*host);
    else
      text = "FAILED: " + std::string(host.status().message());
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t size = write(ends[1], text.data() + done, text.size() - done);
      if (size <= 0) break;
      done += static_cast<std::size_t>(size);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "FAILED: the launcher died: " + text;
  return text;
}

sandbox::Policy SmallPolicy(const std::vector<std::string>& denied) {
  sandbox::Policy policy;
  policy.name = "small";
  policy.without_cgroup = sandbox::OnMissing::kDegrade;
  for (const char* path :
       {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache"}) {
    policy.filesystem.grants.push_back({path, sandbox::PathAccess::kRead, true, "system"});
  }
  policy.filesystem.workspace = sandbox::WorkspaceMode::kReadWrite;
  constexpr int kLastCall = 460;
  for (int number = 0; number <= kLastCall; ++number) {
    const std::string name = sandbox::SyscallName(number);
    if (name.empty() || name == "clone3") continue;
    sandbox::SyscallRule rule;
    rule.name = name;
    rule.reason = "test";
    policy.syscalls.allow.push_back(rule);
  }
  for (const std::string& name : denied) {
    sandbox::SyscallRule rule;
    rule.name = name;
    rule.reason = "test";
    policy.syscalls.deny.push_back(rule);
  }
  policy.limits.open_files = 256;
  policy.limits.processes = 64;
  policy.limits.file_bytes = 16u << 20;
  policy.limits.disk_bytes = 8u << 20;
  return policy;
}

ScratchDirectory::ScratchDirectory() {
  const char* base = getenv("TMPDIR");
  std::string pattern = std::string(base == nullptr ? "/tmp" : base) + "/warder-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) abort();
  path_ = std::filesystem::canonical(pattern).string();
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchDirectory::Write(const std::string& name, const std::string& bytes,
                                    unsigned mode) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  chmod(path.c_str(), mode);
  return path.string();
}

std::string ReadFileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace warder::testing
