// Attacks on other processes.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/attacks/programs/probe.h"

namespace attack {
namespace {

pid_t Pid(const Arguments& arguments) { return static_cast<pid_t>(arguments.Number(0)); }

std::string QueueSignal(const Arguments& arguments) {
  return Result(sigqueue(Pid(arguments), 0, {}));
}

std::string SignalByPidfd(const Arguments& arguments) {
  const long fd = syscall(SYS_pidfd_open, Pid(arguments), 0);
  if (fd < 0) return Result(fd);
  return Result(syscall(SYS_pidfd_send_signal, fd, 0, nullptr, 0));
}

// Every process that can be signalled, but this one: numbers below 40000.
std::string SweepSignals(const Arguments&) {
  std::string found;
  for (pid_t pid = 1; pid < 40000; ++pid) {
    if (pid == getpid() || kill(pid, 0) != 0) continue;
    found += (found.empty() ? "" : ",") + std::to_string(pid);
  }
  return found;
}

// Every process that /proc lists, but this one.
std::string ListProcesses(const Arguments&) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name != std::to_string(getpid())) found += (found.empty() ? "" : ",") + name;
  }
  return found;
}

std::string SetAffinity(const Arguments& arguments) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  return Result(sched_setaffinity(Pid(arguments), sizeof all, &all));
}

// The kernel signals a descriptor's owner on whoever's behalf sets it.
std::string OwnDescriptor(const Arguments& arguments) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return Result(-1);
  return Result(fcntl(ends[0], F_SETOWN, Pid(arguments)));
}

// Forks until it fails, at most COUNT times; the children wait and are gone afterwards.
std::string Forks(const Arguments& arguments) {
  std::vector<pid_t> children;
  std::string result = "done";
  for (long i = 0; i < arguments.Number(0); ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      pause();
      _exit(0);
    }
    if (pid < 0) {
      result = Result(-1);
      break;
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) kill(pid, SIGKILL);
  for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  return result;
}

// COUNT children whose parents are gone, one after the other. Without anyone to reap them they soon
// are as many processes as a user may have.
std::string Orphans(const Arguments& arguments) {
  for (long i = 0; i < arguments.Number(0); ++i) {
    const pid_t pid = fork();
    if (pid < 0) return Result(-1);
    if (pid == 0) _exit(fork() < 0);
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) return "no second fork";
  }
  return "done";
}

// Guard of what must never be done outside a cell.
bool InsideACell(const Arguments& arguments) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return !error && !arguments.Text(0).empty() && here != arguments.Text(0);
}

// kill(-1), when the pid namespace is not the one that the argument names.
std::string KillEveryProcess(const Arguments& arguments) {
  return InsideACell(arguments) ? Result(kill(-1, SIGKILL)) : "not tried";
}

// Every signal that ends a process, to init; then one to a child of its own.
std::string SignalInit(const Arguments& arguments) {
  if (!InsideACell(arguments)) return "not tried";
  for (const int number : {SIGTERM, SIGSTOP, SIGSEGV, SIGKILL}) kill(1, number);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "alive" : "the child did not die";
}

std::string SignalSelf(const Arguments& arguments) {
  return Result(kill(getpid(), static_cast<int>(arguments.Number(0))));
}

std::string SignalGroup(const Arguments& arguments) {
  return Result(kill(0, static_cast<int>(arguments.Number(0))));
}

// A parent that cannot run until its child ends, and the child does not.
std::string WaitInVfork(const Arguments&) {
  const pid_t pid = vfork();
  if (pid == 0) {
    for (;;) syscall(SYS_pause);
  }
  return Result(pid);
}

// Ignores what can be ignored, leaves the session, becomes an orphan, and appends to FILE for as
// long as it lives.
void BecomeDaemon(const std::string& file) {
  for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
  setsid();
  prctl(PR_SET_PDEATHSIG, 0);
  if (fork() != 0) _exit(0);
  syscall(SYS_close_range, 0, ~0U, 0);
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  for (int i = 0; i < 600 && write(fd, ".", 1) == 1; ++i) usleep(50000);
  _exit(0);
}

// Starts the daemon; then waits for ever with "stay", else ends.
std::string Daemon(const Arguments& arguments) {
  const pid_t pid = fork();
  if (pid == 0) BecomeDaemon(arguments.Text(0));
  waitpid(pid, nullptr, 0);
  while (access(arguments.Text(0).c_str(), F_OK) != 0) usleep(1000);
  while (arguments.Text(1) == "stay") pause();
  return "left";
}

std::string SubreaperWithDaemon(const Arguments& arguments) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return Result(-1);
  return Daemon(arguments);
}

void* ExecFalse(void*) {
  char name[] = "/bin/sh", option[] = "-c", script[] = "exit 9";
  char* argv[] = {name, option, script, nullptr};
  execv(name, argv);
  return nullptr;
}

std::string ExecFromThread(const Arguments&) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, ExecFalse, nullptr) != 0) return "no thread";
  for (;;) pause();
}

// A name that a careless reader of /proc/PID/stat takes for a state and a parent.
std::string Rename(const Arguments&) {
  prctl(PR_SET_NAME, "x) Z 1 1 (\n");
  return "renamed";
}

// Processes whose environment holds a word: "found" or "none".
std::string FindEnvironment(const Arguments& arguments) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    std::ostringstream text;  // of a process that ends meanwhile it may be nothing
    text << file.rdbuf();
    if (text.str().find(arguments.Text(0)) != std::string::npos) return "found";
  }
  return "none";
}

constexpr Probe kProbes[] = {
    {"queue-signal", QueueSignal},
    {"signal-by-pidfd", SignalByPidfd},
    {"sweep-signals", SweepSignals},
    {"list-processes", ListProcesses},
    {"set-affinity", SetAffinity},
    {"own-descriptor", OwnDescriptor},
    {"forks", Forks},
    {"orphans", Orphans},
    {"kill-every-process", KillEveryProcess},
    {"signal-init", SignalInit},
    {"signal-self", SignalSelf},
    {"signal-group", SignalGroup},
    {"wait-in-vfork", WaitInVfork},
    {"daemon", Daemon},
    {"subreaper-with-daemon", SubreaperWithDaemon},
    {"exec-from-thread", ExecFromThread},
    {"rename-process", Rename},
    {"find-environment", FindEnvironment},
};

}  // namespace

std::span<const Probe> ProcessProbes() { return kProbes; }

}  // namespace attack
