#include "tests/support/run_warder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sandbox/unique_fd.h"

namespace warder::testing {
namespace {

using sandbox::UniqueFd;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDeadline{240};  // a hang, even on a busy or emulated machine

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read.Reset(ends[0]);
    write.Reset(ends[1]);
  }
  UniqueFd read, write;
};

// The build puts test programs and warder into one directory.
std::string WarderBinary() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("warder").string();
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// One run: its process and this side's ends of its streams.
class Running {
 public:
  Running(std::vector<std::string> argv, std::vector<std::string> environment,
          const std::string& directory, int out_pipe_bytes) {
    if (out_pipe_bytes > 0) ::fcntl(out_.write.get(), F_SETPIPE_SZ, out_pipe_bytes);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, in_.read.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, out_.write.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, err_.write.get(), 2);
    ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    // A session of its own has no terminal, and one signal reaches all of it.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    const int error = ::posix_spawn(&pid_, argv.front().c_str(), &actions, &attributes,
                                    Pointers(argv).data(), Pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) std::abort();
    in_.read.Reset();
    out_.write.Reset();
    err_.write.Reset();
    ::fcntl(in_.write.get(), F_SETFL, O_NONBLOCK);
  }

  void Exchange(const WarderSetting& setting, WarderRun* run) {
    std::string_view input = setting.input;
    if (input.empty() && !setting.hold_stdin) in_.write.Reset();
    hold_stdin_ = setting.hold_stdin;
    bool told = setting.then == nullptr;
    const auto deadline = Clock::now() + kDeadline;
    while (out_.read.ok() || err_.read.ok()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      std::array<pollfd, 3> ready{pollfd{out_.read.get(), POLLIN, 0},
                                  pollfd{err_.read.get(), POLLIN, 0},
                                  pollfd{input.empty() ? -1 : in_.write.get(), POLLOUT, 0}};
      if (left.count() <= 0 ||
          ::poll(ready.data(), ready.size(), static_cast<int>(left.count())) == 0) {
        ADD_FAILURE() << "warder did not end in time; stderr so far: " << run->err;
        ::kill(-pid_, SIGKILL);
        return;
      }
      if (ready[0].revents != 0) ReadSome(&out_.read, &run->out);
      if (ready[1].revents != 0) ReadSome(&err_.read, &run->err);
      if (ready[2].revents != 0) WriteSome(&input);
      if (!told && run->out.find(setting.until) != std::string::npos) {
        told = true;
        setting.then(pid_);
      }
    }
  }

  void Wait(WarderRun* run) {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status)) run->exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) run->signal = WTERMSIG(status);
  }

 private:
  static void ReadSome(UniqueFd* fd, std::string* text) {
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(fd->get(), buffer.data(), buffer.size());
    if (count > 0) {
      text->append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      fd->Reset();
    }
  }

  void WriteSome(std::string_view* input) {
    const ssize_t count = ::write(in_.write.get(), input->data(), input->size());
    if (count > 0) input->remove_prefix(static_cast<std::size_t>(count));
    if ((input->empty() && !hold_stdin_) || (count < 0 && errno != EAGAIN && errno != EINTR))
      in_.write.Reset();
  }

  Pipe in_, out_, err_;
  bool hold_stdin_ = false;
  pid_t pid_ = -1;
};

}  // namespace

WarderHost::WarderHost() {
  ::signal(SIGPIPE, SIG_IGN);
  for (const char* name : {"workspace", "config", "state", "run", "home"}) {
    tree_.Directory(name, 0755);
  }
}

void WarderHost::Declare(std::string_view tools) const {
  tree_.Write("workspace/.basis/tools.json",
              "{\"schema\": 1, \"tools\": {" + std::string(tools) + "}}");
}

std::string WarderHost::Tool(std::string_view name, std::string_view command,
                             std::string_view more) {
  return "\"" + std::string(name) +
         "\": {\"description\": \"A tool.\", \"input_schema\": {\"type\": \"object\"}, "
         "\"command\": " +
         std::string(command) + std::string(more) + "}";
}

WarderRun WarderHost::Run(std::vector<std::string> arguments, const WarderSetting& setting) const {
  std::vector<std::string> argv = setting.prefix;
  argv.insert(argv.end(),
              {WarderBinary(), "--config-dir", Config(), "--state-dir", tree_.At("state")});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment{
      "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + tree_.At("home"),
      "XDG_CONFIG_HOME=" + tree_.At("home/config"), "XDG_STATE_HOME=" + tree_.At("home/state"),
      "XDG_RUNTIME_DIR=" + tree_.At("run")};
  for (const auto& [name, value] : setting.environment) {
    environment.push_back(name + "=" + value);
  }
  Running running(std::move(argv), std::move(environment),
                  setting.directory.empty() ? Workspace() : setting.directory,
                  setting.out_pipe_bytes);
  WarderRun run;
  running.Exchange(setting, &run);
  running.Wait(&run);
  return run;
}

}  // namespace warder::testing
