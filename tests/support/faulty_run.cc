#include "tests/support/faulty_run.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "sandbox/unique_fd.h"
#include "tests/support/call_fixture.h"

namespace warder::testing {
namespace {

using sandbox::UniqueFd;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDeadline{40};  // twice what the launcher waits for a child
constexpr std::chrono::seconds kLeftover{5};   // for the kernel to end a cell
constexpr int kToolRole = 1000;                // the tool's program runs: it is left alone

// Calls that end or read what is there are not on the list: refusing close, wait or kill is no
// fault that a kernel has.
constexpr int kWatched[] = {
    // processes and namespaces
    SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_execve, SYS_execveat, SYS_unshare, SYS_setns,
    SYS_pidfd_open, SYS_pidfd_getfd, SYS_setsid, SYS_prctl, SYS_seccomp, SYS_capget, SYS_capset,
    SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_prlimit64, SYS_sethostname,
    SYS_sched_setscheduler, SYS_ioprio_set, SYS_landlock_create_ruleset, SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
    // mounts
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_open_tree, SYS_move_mount, SYS_mount_setattr,
    // files and descriptors
    SYS_open, SYS_openat, SYS_openat2, SYS_mkdir, SYS_mkdirat, SYS_symlinkat, SYS_readlink,
    SYS_readlinkat, SYS_chdir, SYS_fchdir, SYS_fchmod, SYS_fchown, SYS_ftruncate, SYS_fcntl,
    SYS_flock, SYS_fstatfs, SYS_newfstatat, SYS_statx, SYS_dup, SYS_dup2, SYS_dup3, SYS_close_range,
    SYS_pipe2, SYS_memfd_create, SYS_eventfd2, SYS_epoll_create1, SYS_epoll_ctl, SYS_timerfd_create,
    SYS_sendfile, SYS_read, SYS_write, SYS_pread64, SYS_pwrite64, SYS_fsync, SYS_fdatasync,
    SYS_getdents64,
    // sockets
    SYS_socket, SYS_socketpair, SYS_sendmsg, SYS_recvmsg, SYS_ioctl,
    // signals
    SYS_rt_sigaction, SYS_rt_sigprocmask};

// libc's own calls about signals cannot fail; those of a child are steps.
bool IsWatched(int role, int number) {
  if (number == SYS_rt_sigaction || number == SYS_rt_sigprocmask) return role >= kFirstCellRole;
  return std::find(std::begin(kWatched), std::end(kWatched), number) != std::end(kWatched);
}

// The loader's last call before main: not counted either.
constexpr int kLoaded = SYS_prlimit64;

// `only`: the one number that matters, -1 for all. Each stop costs two switches of process.
void InstallTraceFilter(int only) {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int number : kWatched) {
    if (only >= 0 && number != only && number != kLoaded) continue;
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  // Root needs no such bit, and warder must set it itself.
  if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(126);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) _exit(126);
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.data()));
  pointers.push_back(nullptr);
  return pointers;
}

class Tracer {
 public:
  Tracer(const FaultyCommand& command, const Fault& fault) : fault_(fault) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, &before_);
    out_.Reset(memfd_create("out", MFD_CLOEXEC));
    err_.Reset(memfd_create("err", MFD_CLOEXEC));
    Start(command);
  }
  ~Tracer() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  FaultyRun Run() {
    auto deadline = Clock::now() + kDeadline;
    bool ended = false;
    while (Next()) {
      if (!ended && !roles_.contains(supervisor_)) {
        ended = true;
        deadline = Clock::now() + kLeftover;
      }
      if (Clock::now() < deadline) continue;
      if (ended) run_.left = static_cast<int>(roles_.size());
      run_.hung = !ended;
      for (const auto& [pid, role] : roles_) kill(pid, SIGKILL);
      deadline = Clock::now() + kLeftover;
      ended = true;
    }
    run_.out = ContentOf(out_.get());
    run_.err = ContentOf(err_.get());
    return std::move(run_);
  }

 private:
  void Start(const FaultyCommand& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    const UniqueFd wait(ends[0]);
    UniqueFd go(ends[1]);
    const std::vector<char*> argv = Pointers(command.argv);
    const std::vector<char*> environment = Pointers(command.environment);
    supervisor_ = fork();
    if (supervisor_ == 0) {
      char byte = 0;
      const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
      setsid();
      if (read(wait.get(), &byte, 1) != 1 || chdir(command.directory.c_str()) != 0) _exit(126);
      dup2(null.get(), 0);
      dup2(out_.get(), 1);
      dup2(err_.get(), 2);
      sigprocmask(SIG_SETMASK, &before_, nullptr);
      InstallTraceFilter(fault_.call.number);
      execve(argv[0], argv.data(), environment.data());
      _exit(126);
    }
    constexpr long kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC |
                              PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    if (supervisor_ < 0 || ptrace(PTRACE_SEIZE, supervisor_, nullptr, kOptions) != 0) abort();
    roles_[supervisor_] = kSupervisorRole;
    if (write(go.get(), "x", 1) != 1) abort();
  }

  // Handles what has happened, or waits a while for something to. False: every process is gone.
  bool Next() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
    if (pid < 0) return errno == EINTR;
    if (pid == 0) {
      constexpr timespec kLook = {0, 50'000'000};
      sigset_t children;
      sigemptyset(&children);
      sigaddset(&children, SIGCHLD);
      sigtimedwait(&children, nullptr, &kLook);
      return true;
    }
    if (!WIFSTOPPED(status)) {
      if (pid == supervisor_ && WIFEXITED(status)) run_.exit_code = WEXITSTATUS(status);
      if (pid == supervisor_ && WIFSIGNALED(status)) run_.signal = WTERMSIG(status);
      roles_.erase(pid);
      return true;
    }
    Stopped(pid, WSTOPSIG(status), status >> 16);
    return true;
  }

  void Stopped(pid_t pid, int signal, int event) {
    switch (event) {
      case 0:
        ptrace(PTRACE_CONT, pid, nullptr, signal);
        return;
      case PTRACE_EVENT_STOP:
        if (!roles_.contains(pid)) {
          early_.insert(pid);  // its parent's event tells who it is
          return;
        }
        ptrace(signal == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, pid, nullptr, 0);
        return;
      case PTRACE_EVENT_SECCOMP:
        Called(pid);
        break;
      case PTRACE_EVENT_EXEC:
        if (roles_[pid] >= kFirstCellRole) {
          roles_[pid] = kToolRole;
          started_ = true;
        }
        loading_.insert(pid);
        break;
      default: {
        unsigned long child = 0;
        ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &child);
        Born(static_cast<pid_t>(child), roles_[pid]);
      }
    }
    ptrace(PTRACE_CONT, pid, nullptr, 0);
  }

  void Born(pid_t child, int parent) {
    roles_[child] = parent == kToolRole ? kToolRole : next_role_++;
    if (roles_[child] == kLauncherRole) run_.launcher = child;
    if (early_.erase(child) != 0) ptrace(PTRACE_CONT, child, nullptr, 0);
  }

  void Called(pid_t pid) {
    user_regs_struct registers = {};
    if (ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0) return;
    const int role = roles_[pid];
    const int number = static_cast<int>(registers.orig_rax);
    if (loading_.contains(pid)) {
      if (number == kLoaded) loading_.erase(pid);
      return;
    }
    if (started_ || !IsWatched(role, number)) return;
    const SetupCall call = {role, number, counts_[{role, number}]++};
    if (fault_.call.number < 0) run_.calls.push_back(call);
    if (call != fault_.call) return;
    run_.refused = true;
    registers.orig_rax = ~0ULL;  // no call: the kernel returns what rax says
    registers.rax = static_cast<unsigned long long>(-static_cast<long long>(fault_.error));
    ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
  }

  Fault fault_;
  sigset_t before_;
  UniqueFd out_, err_;
  FaultyRun run_;
  pid_t supervisor_ = -1;
  int next_role_ = kLauncherRole;
  bool started_ = false;
  std::map<pid_t, int> roles_;
  std::map<std::pair<int, int>, int> counts_;
  std::set<pid_t> early_, loading_;
};

}  // namespace

FaultyRun RunWithFault(const FaultyCommand& command, const Fault& fault) {
  return Tracer(command, fault).Run();
}

}  // namespace warder::testing
