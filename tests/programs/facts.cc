// Leaves the file "ran" in the directory that it starts in and prints what holds for it, one fact a
// line: two cells that are made alike print the same.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

namespace {

// Each line of `path` that begins with one of `keys` (nullptr: each line), without its first `skip`
// words.
void PrintFile(const char* path, const char* const* keys, int skip) {
  FILE* const file = fopen(path, "re");
  if (file == nullptr) {
    printf("%s: %s\n", path, strerror(errno));
    return;
  }
  char line[4096];
  while (fgets(line, sizeof line, file) != nullptr) {
    bool wanted = keys == nullptr;
    for (int i = 0; !wanted && keys[i] != nullptr; ++i) {
      wanted = strncmp(line, keys[i], strlen(keys[i])) == 0;
    }
    const char* rest = line;
    for (int i = 0; i < skip && rest != nullptr; ++i) {
      rest = strchr(rest, ' ');
      if (rest != nullptr) ++rest;
    }
    if (wanted && rest != nullptr) fputs(rest, stdout);
  }
  fclose(file);
}

void PrintNamespaces() {
  for (const char* name : {"user", "pid", "mnt", "ipc", "uts", "cgroup", "net"}) {
    char path[64], target[128] = {};
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    if (readlink(path, target, sizeof target - 1) < 0) strcpy(target, "none");
    printf("namespace %s\n", target);
  }
}

void PrintDescriptors() {
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  int count = -1;  // this one
  while (const dirent* const entry = readdir(directory)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(directory);
  printf("descriptors %d\n", count);
}

void PrintLoopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request = {};
  strcpy(request.ifr_name, "lo");
  const int result = ioctl(fd, SIOCGIFFLAGS, &request);
  printf("loopback %d %x\n", result, static_cast<unsigned>(request.ifr_flags));
  close(fd);
}

}  // namespace

int main() {
  const int marker = open("ran", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (marker >= 0) close(marker);
  static const char* const kStatus[] = {"Uid:",    "Gid:",    "Groups:", "NoNewPrivs:", "Seccomp",
                                        "CapInh:", "CapPrm:", "CapEff:", "CapBnd:",     "CapAmb:",
                                        "SigBlk:", "SigIgn:", "SigCgt:", nullptr};
  PrintFile("/proc/self/status", kStatus, 0);
  PrintFile("/proc/self/limits", nullptr, 0);
  PrintFile("/proc/self/mountinfo", nullptr, 3);
  PrintFile("/proc/self/cgroup", nullptr, 0);
  PrintFile("/proc/self/uid_map", nullptr, 0);
  PrintNamespaces();
  PrintDescriptors();
  PrintLoopback();
  char host[64] = {}, directory[4096] = {};
  gethostname(host, sizeof host - 1);
  if (getcwd(directory, sizeof directory) == nullptr) strcpy(directory, "?");
  printf("host %s, directory %s, umask %o\n", host, directory, umask(0));
  printf("parent %d, leader %d, nice %d, scheduler %d\n", getppid(), getsid(0) == getpid(),
         getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
  return 0;
}
