// mask CALL[,ARGUMENT,VALUE] ERRNO COMMAND...: runs COMMAND behind a filter that refuses one system
// call, by number, as a container's does. With ARGUMENT only where the low half of that argument (0
// to 5) is VALUE.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

int Fail(const char* what) {
  perror(what);
  return 2;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  int call = 0, argument = -1;
  unsigned value = 0;
  sscanf(words[1], "%d,%d,%u", &call, &argument, &value);
  const auto error = static_cast<unsigned>(atoi(words[2]));
  // Without an argument the number is looked at once more.
  const auto offset = static_cast<unsigned>(
      argument < 0 ? offsetof(seccomp_data, nr) : offsetof(seccomp_data, args) + 8 * argument);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument < 0 ? static_cast<unsigned>(call) : value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof program / sizeof *program, program};
  if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Fail("no_new_privs");
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) return Fail("seccomp");
  execv(words[3], words + 3);
  return Fail(words[3]);
}
