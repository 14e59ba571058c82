// attack "NAME ARGUMENT..." ...: see probe.h. attack --here "NAME ARGUMENT...": one probe, in the
// program's own first process.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "tests/attacks/programs/probe.h"

namespace attack {
namespace {

constexpr int kProbeMs = 60000;  // a hang, even on a busy or emulated machine

const Probe* Find(const std::string& name) {
  for (const auto& probes :
       {FilesystemProbes(), ProcessProbes(), KernelProbes(), NetworkProbes(), ResourceProbes()}) {
    for (const Probe& probe : probes) {
      if (name == probe.name) return &probe;
    }
  }
  return nullptr;
}

std::string RunHere(const std::string& line) {
  std::istringstream stream(line);
  std::string name, word;
  std::vector<std::string> words;
  stream >> name;
  while (stream >> word) words.push_back(word);
  const Probe* probe = Find(name);
  return probe == nullptr ? "no such probe" : probe->run(Arguments(std::move(words)));
}

std::string ReadWithin(int fd, int limit_ms) {
  std::string text;
  char buffer[4096];
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, limit_ms) > 0) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text.empty() ? "no end" : text;
}

std::string RunInChild(const std::string& line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t pid = fork();
  if (pid < 0) return "no fork";
  if (pid == 0) {
    const std::string result = RunHere(line);
    const ssize_t written = write(ends[1], result.data(), result.size());
    _exit(written < 0);
  }
  close(ends[1]);
  std::string result = ReadWithin(ends[0], kProbeMs);
  close(ends[0]);
  if (result == "no end") kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (result.empty() && WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    result = "SIG" + std::string(name == nullptr ? "?" : name);
  }
  return result;
}

}  // namespace

std::string Arguments::Text(std::size_t index) const {
  return index < words_.size() ? words_[index] : "";
}

long Arguments::Number(std::size_t index) const {
  return static_cast<long>(strtoull(Text(index).c_str(), nullptr, 0));
}

std::string Result(long result) {
  if (result >= 0) return "done";
  const char* name = strerrorname_np(errno);
  return name == nullptr ? "errno " + std::to_string(errno) : name;
}

}  // namespace attack

int main(int argc, char** argv) {
  // For what ends, replaces or outlives the whole tool.
  if (argc == 3 && std::string(argv[1]) == "--here") {
    printf("%s\n", attack::RunHere(argv[2]).c_str());
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    printf("%s -> %s\n", argv[i], attack::RunInChild(argv[i]).c_str());
    fflush(stdout);
  }
}
