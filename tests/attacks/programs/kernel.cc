// Attacks on the kernel's own surface.
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
#include <fstream>
#include <string>

#include "tests/attacks/programs/probe.h"

namespace attack {
namespace {

// Any native call by number. Pointers of 1 and descriptors of -1 have no effect where the call is
// let through, and an errno that only the kernel's own code gives.
std::string Syscall(const Arguments& arguments) {
  return Result(syscall(arguments.Number(0), arguments.Number(1), arguments.Number(2),
                        arguments.Number(3), arguments.Number(4), arguments.Number(5),
                        arguments.Number(6)));
}

long Int80(long number, long first, long second, long third) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(first), "c"(second), "d"(third)
               : "memory", "r8", "r9", "r10", "r11");
  const int narrow = static_cast<int>(result);
  if (narrow >= 0 || narrow < -4095) return narrow;
  errno = -narrow;
  return -1;
}

// The same by the 32-bit entry.
std::string ForeignSyscall(const Arguments& arguments) {
  return Result(
      Int80(arguments.Number(0), arguments.Number(1), arguments.Number(2), arguments.Number(3)));
}

std::string Clone(const Arguments& arguments) {
  const long pid =
      syscall(SYS_clone, arguments.Number(0) | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  const std::string result = Result(pid);
  if (pid > 0) waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return result;
}

// A socket that only somebody with rights over a network namespace may have.
std::string NestedSocket(const Arguments& arguments) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return Result(-1);
  return Result(socket(static_cast<int>(arguments.Number(0)), static_cast<int>(arguments.Number(1)),
                       static_cast<int>(arguments.Number(2))));
}

// "FAMILY:TYPE" of every socket that can be made, protocol 0.
std::string Families(const Arguments&) {
  std::string made;
  for (int family = 0; family <= 46; ++family) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
      const int fd = socket(family, type, 0);
      if (fd < 0) continue;
      close(fd);
      made += (made.empty() ? "" : ",") + std::to_string(family) + ":" + std::to_string(type);
    }
  }
  return made;
}

void* ForeignCall(void*) {
  syscall(0x40000000 + SYS_getpid);  // of the x32 ABI
  return nullptr;
}

// Does a thread that is killed leave its process alive?
std::string ForeignCallInThread(const Arguments&) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, ForeignCall, nullptr) != 0) return "no thread";
  pthread_join(thread, nullptr);
  return "done";
}

const char kText[] = "read-only";

// Writes to read-only memory through /proc: "done" says that the kernel lets a process change its
// own copy of its program.
std::string PatchOwnText(const Arguments&) {
  const int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (fd < 0) return Result(-1);
  return Result(pwrite(fd, "R", 1, reinterpret_cast<off_t>(&kText[0])));
}

std::string NoNewPrivs(const Arguments&) {
  return std::to_string(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

// "addresses" when a symbol of the kernel has one.
std::string KernelSymbols(const Arguments&) {
  std::ifstream file("/proc/kallsyms");
  std::string address, rest;
  while (file >> address && std::getline(file, rest)) {
    if (address.find_first_not_of('0') != std::string::npos) return "addresses";
  }
  return "none";
}

// Lines of a file that hold a word: "present" or "absent".
std::string Word(const Arguments& arguments) {
  std::ifstream file(arguments.Text(0));
  std::string line;
  while (std::getline(file, line)) {
    if (line.find(arguments.Text(1)) != std::string::npos) return "present";
  }
  return "absent";
}

constexpr Probe kProbes[] = {
    {"syscall", Syscall},
    {"int80", ForeignSyscall},
    {"clone", Clone},
    {"nested-socket", NestedSocket},
    {"families", Families},
    {"foreign-call-in-thread", ForeignCallInThread},
    {"patch-own-text", PatchOwnText},
    {"no-new-privs", NoNewPrivs},
    {"kernel-symbols", KernelSymbols},
    {"word", Word},
};

}  // namespace

std::span<const Probe> KernelProbes() { return kProbes; }

}  // namespace attack
