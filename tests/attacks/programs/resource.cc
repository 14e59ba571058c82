// Attacks on what the host has to share. Each is bounded by the probe itself.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/attacks/programs/probe.h"

namespace attack {
namespace {

std::size_t Size(const Arguments& arguments) {
  return static_cast<std::size_t>(arguments.Number(0));
}

std::string Lock(const Arguments& arguments) {
  void* memory = mmap(nullptr, Size(arguments), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return Result(-1);
  return Result(mlock(memory, Size(arguments)));
}

std::string Unlimit(const Arguments& arguments) {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  return Result(setrlimit(static_cast<__rlimit_resource_t>(arguments.Number(0)), &all));
}

std::string Descriptors(const Arguments& arguments) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (long i = 0; i < arguments.Number(0); ++i) {
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return Result(-1);
  }
  return "done";
}

// One byte at OFFSET of a file; with "caught", the signal of the limit is ignored.
std::string WriteAt(const Arguments& arguments) {
  if (arguments.Text(2) == "caught") signal(SIGXFSZ, SIG_IGN);
  const int fd = open(arguments.Text(0).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Result(fd);
  const ssize_t count = pwrite(fd, "x", 1, arguments.Number(1));
  const std::string result = Result(count);
  unlink(arguments.Text(0).c_str());
  return result;
}

std::string Truncate(const Arguments& arguments) {
  signal(SIGXFSZ, SIG_IGN);
  const std::string name = arguments.Text(0);
  const int fd = name == "memfd" ? memfd_create("big", MFD_CLOEXEC)
                                 : open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Result(fd);
  const std::string result = Result(ftruncate(fd, arguments.Number(1)));
  if (name != "memfd") unlink(name.c_str());
  return result;
}

// At most COUNT empty files below DIRECTORY; they are gone afterwards.
std::string Files(const Arguments& arguments) {
  const std::string directory = arguments.Text(0) + "/files-" + std::to_string(getpid());
  if (mkdir(directory.c_str(), 0700) != 0) return Result(-1);
  std::string result = "done";
  for (long i = 0; i < arguments.Number(1) && result == "done"; ++i) {
    result = Result(mknod((directory + "/" + std::to_string(i)).c_str(), S_IFREG | 0600, 0));
  }
  std::filesystem::remove_all(directory);
  return result;
}

// Takes MEBIBYTES of a file system, in files of 64 MiB that are gone afterwards.
std::string Fill(const Arguments& arguments) {
  const std::string name = arguments.Text(0) + "/fill-" + std::to_string(getpid());
  for (long taken = 0; taken < arguments.Number(1); taken += 64) {
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return Result(fd);
    unlink(name.c_str());
    if (fallocate(fd, 0, 0, off_t{64} << 20) != 0) return Result(-1);
  }
  return "done";
}

void* Wait(void*) {
  pause();
  return nullptr;
}

// At most COUNT threads; they end with the probe.
std::string Threads(const Arguments& arguments) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (long i = 0; i < arguments.Number(0); ++i) {
    pthread_t thread;
    errno = pthread_create(&thread, &attributes, Wait, nullptr);
    if (errno != 0) return Result(-1);
  }
  return "done";
}

// COUNT pipes with room for a mebibyte, filled.
std::string Pipes(const Arguments& arguments) {
  static char mebibyte[1 << 20];
  for (long i = 0; i < arguments.Number(0); ++i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return Result(-1);
    if (fcntl(ends[1], F_SETPIPE_SZ, sizeof mebibyte) < 0) return Result(-1);
    if (write(ends[1], mebibyte, sizeof mebibyte) < 0) return Result(-1);
  }
  return "done";
}

// COUNT signals to itself that nothing takes.
std::string Signals(const Arguments& arguments) {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigaddset(&waiting, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &waiting, nullptr);
  for (long i = 0; i < arguments.Number(0); ++i) {
    if (sigqueue(getpid(), SIGRTMIN, {}) != 0) return Result(-1);
  }
  return "done";
}

std::string Timers(const Arguments& arguments) {
  for (long i = 0; i < arguments.Number(0); ++i) {
    timer_t timer = nullptr;
    if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) != 0) return Result(-1);
  }
  return "done";
}

void Spin() {
  for (int i = 0; i < 100'000; ++i) getppid();
}

void SyncedWrite() {
  const std::string name = "storm-" + std::to_string(getpid());
  static const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_DSYNC | O_CLOEXEC, 0600);
  static char page[4096];
  if (pwrite(fd, page, sizeof page, 0) != sizeof page) _exit(1);
}

void ShortProcess() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(pid, nullptr, 0);
}

// Four processes do KIND of work, once each turn, until there is a file GO or 20 s are over. Prints
// "busy" when they have begun, and after SECONDS, when given, "still busy".
std::string Busy(const Arguments& arguments) {
  const std::string kind = arguments.Text(0), go = arguments.Text(1);
  void (*const work)() = kind == "spin" ? Spin : kind == "sync" ? SyncedWrite : ShortProcess;
  const time_t start = time(nullptr);
  for (int i = 0; i < 4; ++i) {
    if (fork() != 0) continue;
    while (access(go.c_str(), F_OK) != 0 && time(nullptr) < start + 20) work();
    _exit(0);
  }
  printf("busy\n");
  fflush(stdout);
  if (arguments.Number(2) > 0) {
    sleep(static_cast<unsigned>(arguments.Number(2)));
    printf("still busy\n");
    fflush(stdout);
  }
  while (wait(nullptr) > 0) continue;
  return access(go.c_str(), F_OK) == 0 ? "told to stop" : "time over";
}

// Takes inotify instances until there are no more, says so, and keeps them until there is a file GO
// or 20 s are over.
std::string Watchers(const Arguments& arguments) {
  std::string result = "done";
  while (result == "done") result = Result(inotify_init1(IN_CLOEXEC));
  printf("full\n");
  fflush(stdout);
  const time_t start = time(nullptr);
  while (access(arguments.Text(0).c_str(), F_OK) != 0 && time(nullptr) < start + 20) usleep(1000);
  return result;
}

// One byte on stdout each 100 ms, for a minute.
std::string Drip(const Arguments&) {
  for (int i = 0; i < 600; ++i) {
    if (write(STDOUT_FILENO, ".", 1) != 1) return Result(-1);
    usleep(100000);
  }
  return "done";
}

constexpr Probe kProbes[] = {
    {"lock", Lock},        {"unlimit", Unlimit},   {"descriptors", Descriptors},
    {"write-at", WriteAt}, {"truncate", Truncate}, {"files", Files},
    {"fill", Fill},        {"threads", Threads},   {"drip", Drip},
    {"pipes", Pipes},      {"signals", Signals},   {"timers", Timers},
    {"busy", Busy},        {"watchers", Watchers},
};

}  // namespace

std::span<const Probe> ResourceProbes() { return kProbes; }

}  // namespace attack
