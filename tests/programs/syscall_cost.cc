// Prints what one getppid(2) costs, in nanoseconds: the median of many short runs, so that a moment
// that belongs to somebody else does not count. getppid does next to nothing, so that what a filter
// adds shows.
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace {

constexpr int kRuns = 4001;
constexpr int kCallsPerRun = 100;  // so short that most runs are not interrupted

double NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double Run() {
  const double start = NowNs();
  for (int i = 0; i < kCallsPerRun; ++i) syscall(SYS_getppid);
  return (NowNs() - start) / kCallsPerRun;
}

}  // namespace

int main() {
  std::vector<double> runs(kRuns);
  for (double& run : runs) run = Run();
  std::nth_element(runs.begin(), runs.begin() + kRuns / 2, runs.end());
  printf("%.3f\n", runs[kRuns / 2]);
}
