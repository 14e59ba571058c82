#include "supervisor/operator_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace warder::supervisor {
namespace {

// Fixed, so that nothing of whoever started Warder steers the program.
constexpr char kPath[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
// posix_spawn cannot set a parent-death signal; this program sets it and executes what follows.
constexpr char kSetpriv[] = "/usr/bin/setpriv";
constexpr int kFirstClosed = 3;

absl::Status ErrnoStatus(const std::string& what, int error) {
  return absl::ErrnoToStatus(error, absl::StrFormat("operator program: %s", what));
}

class OperatorProgram : public RunningTool {
 public:
  OperatorProgram(const asio::any_io_executor& executor, pid_t pid, sandbox::UniqueFd pidfd)
      : pid_(pid), pidfd_(executor, pidfd.Release()) {}
  ~OperatorProgram() override {
    KillGroup();
    siginfo_t info{};
    while (::waitid(P_PIDFD, Pidfd(), &info, WEXITED) < 0 && errno == EINTR) {
    }
  }
  OperatorProgram(const OperatorProgram&) = delete;
  OperatorProgram& operator=(const OperatorProgram&) = delete;

  const sandbox::Attestation& attestation() const override { return attestation_; }
  const CallEnd& end() const override { return end_; }

  asio::awaitable<absl::StatusOr<ToolExit>> Exited() override {
    std::error_code error;
    co_await pidfd_.async_wait(asio::posix::stream_descriptor::wait_read,
                               asio::redirect_error(asio::use_awaitable, error));
    if (error) {
      co_return absl::InternalError("operator program: waiting for its end: " + error.message());
    }
    co_return ReadExit();
  }

  asio::awaitable<absl::Status> KillAll() override {
    KillGroup();
    const absl::StatusOr<ToolExit> exit = co_await Exited();
    co_return exit.status();
  }

 private:
  id_t Pidfd() { return static_cast<id_t>(pidfd_.native_handle()); }

  // The leader is reaped only when this object goes, so until then the number can name no other
  // group.
  void KillGroup() const { ::kill(-pid_, SIGKILL); }

  // WNOWAIT leaves the zombie, see KillGroup. The raw call, because waitid(3) has no rusage.
  absl::StatusOr<ToolExit> ReadExit() {
    siginfo_t info{};
    struct rusage usage{};
    if (::syscall(SYS_waitid, P_PIDFD, Pidfd(), &info, WEXITED | WNOWAIT, &usage) < 0) {
      return ErrnoStatus("reading its exit status", errno);
    }
    const auto micros = [](const timeval& time) {
      return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
    };
    return ToolExit{info.si_code != CLD_EXITED, info.si_status,
                    Usage{micros(usage.ru_utime), micros(usage.ru_stime), usage.ru_maxrss}};
  }

  pid_t pid_;
  asio::posix::stream_descriptor pidfd_;
  sandbox::Attestation attestation_;
  CallEnd end_;  // none: it runs outside any cell
};

// Attributes and file actions of posix_spawn, freed on every path.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // Returns 0 or an errno.
  int Fill(const ChildStdio& stdio) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    const int results[] = {
        posix_spawnattr_setsigmask(&attributes_, &none),
        posix_spawnattr_setsigdefault(&attributes_, &all),
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
        posix_spawn_file_actions_adddup2(&actions_, stdio.in.get(), STDIN_FILENO),
        posix_spawn_file_actions_adddup2(&actions_, stdio.out.get(), STDOUT_FILENO),
        posix_spawn_file_actions_adddup2(&actions_, stdio.err.get(), STDERR_FILENO),
        posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstClosed),
        posix_spawn_file_actions_addchdir_np(&actions_, "/"),
    };
    for (const int result : results) {
      if (result != 0) return result;
    }
    return 0;
  }
  int Spawn(pid_t* pid, char* const argv[], char* const environment[]) const {
    return posix_spawn(pid, argv[0], &actions_, &attributes_, argv, environment);
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RunningTool>> StartOperatorProgram(
    const asio::any_io_executor& executor, const std::vector<std::string>& argv, ChildStdio stdio) {
  if (argv.empty() || argv.front().empty() || argv.front().front() != '/') {
    return absl::InvalidArgumentError(
        "operator program: the command must start with an absolute path");
  }
  if (::access(argv.front().c_str(), X_OK) != 0) return ErrnoStatus(argv.front(), errno);

  std::vector<std::string> words = {kSetpriv, "--pdeathsig", "KILL", "--"};
  words.insert(words.end(), argv.begin(), argv.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::string path = kPath;
  char* const environment[] = {path.data(), nullptr};

  SpawnPlan plan;
  pid_t pid = -1;
  int error = plan.Fill(stdio);
  if (error == 0) error = plan.Spawn(&pid, pointers.data(), environment);
  if (error != 0) {
    return ErrnoStatus(absl::StrFormat("starting %s with %s", argv.front(), kSetpriv), error);
  }

  sandbox::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.ok()) {
    error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return ErrnoStatus("pidfd_open", error);
  }
  return std::make_unique<OperatorProgram>(executor, pid, std::move(pidfd));
}

}  // namespace warder::supervisor
