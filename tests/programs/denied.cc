// Performs each operation of one list once, every one of which a cell denies, and prints its name
// and the errno that it got: "mount EPERM". With a count as argument it repeats one denied call
// that often first, and prints how often it got EPERM.
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

template <typename... Arguments>
long Call(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}

// What the tests expect of each is in tests/end_to_end/denials_test.cc.
void Say(const char* name, long result) {
  printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

void DenyFiles() {
  Say("mount", Call(SYS_mount, "source", "/mnt/target", "tmpfs", 0, nullptr));
  Say("umount2", Call(SYS_umount2, "/proc", 0));
  Say("pivot_root", Call(SYS_pivot_root, "new", "/old"));
  Say("chroot", Call(SYS_chroot, "/tmp"));
  Say("move_mount", Call(SYS_move_mount, AT_FDCWD, "here", AT_FDCWD, "/there", 0));
  Say("fsopen", Call(SYS_fsopen, "tmpfs", 0));
  Say("chmod", Call(SYS_chmod, "/tmp/file", 04755));
  Say("mknodat", Call(SYS_mknodat, AT_FDCWD, "/tmp/device", S_IFCHR | 0600, 0x103));
  Say("openat", Call(SYS_openat, AT_FDCWD, "/tmp/made", O_CREAT | O_WRONLY, 04700));
  Say("open_by_handle_at", Call(SYS_open_by_handle_at, AT_FDCWD, nullptr, 0));
  Say("swapon", Call(SYS_swapon, "/tmp/swap", 0));
}

void DenyProcesses() {
  Say("unshare", Call(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS));
  Say("setns", Call(SYS_setns, 0, CLONE_NEWNET));
  Say("clone", Call(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  Say("ptrace", Call(SYS_ptrace, 16, 1, 0, 0));
  Say("process_vm_readv", Call(SYS_process_vm_readv, 1, nullptr, 0, nullptr, 0, 0));
  Say("prlimit64", Call(SYS_prlimit64, 1, 7, nullptr, nullptr));
  Say("sched_setscheduler", Call(SYS_sched_setscheduler, 0, 1, nullptr));
  Say("prctl", Call(SYS_prctl, PR_SET_SECUREBITS, 0, 0, 0, 0));
  Say("personality", Call(SYS_personality, 0x8));
}

void DenyKernel() {
  Say("socket", Call(SYS_socket, AF_PACKET, SOCK_RAW, 0));
  Say("socketpair", Call(SYS_socketpair, AF_INET, SOCK_STREAM, 0, nullptr));
  Say("ioctl", Call(SYS_ioctl, 0, TIOCSTI, "x"));
  Say("keyctl", Call(SYS_keyctl, 0, -3, 1, 0, 0));
  Say("add_key", Call(SYS_add_key, "user", "name", "x", 1, -3));
  Say("bpf", Call(SYS_bpf, 0, nullptr, 0));
  Say("perf_event_open", Call(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
  Say("userfaultfd", Call(SYS_userfaultfd, 1));
  Say("init_module", Call(SYS_init_module, nullptr, 0, ""));
  Say("clock_settime", Call(SYS_clock_settime, 0, nullptr));
  Say("sethostname", Call(SYS_sethostname, "x", 1));
}

void Flood(long count) {
  long denied = 0;
  for (long i = 0; i < count; ++i) {
    if (Call(SYS_setns, -1, 0) < 0 && errno == EPERM) ++denied;
  }
  printf("flood %ld\n", denied);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) Flood(strtol(argv[1], nullptr, 10));
  DenyFiles();
  DenyProcesses();
  DenyKernel();
  return 0;
}
