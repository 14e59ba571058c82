#include "tests/support/run_steps.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace warder::testing {

StepsResult RunSteps(const sandbox::StepList& steps, std::uint64_t flags) {
  StepsResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  if (dup3(ends[1], sandbox::kReportFd, O_CLOEXEC) < 0) return result;
  close(ends[1]);
  auto child = sandbox::CloneChild(steps, flags);
  close(sandbox::kReportFd);
  if (child.ok()) {
    result.reported = read(ends[0], &result.report, sizeof result.report) == sizeof result.report;
    if (result.reported && result.report.error <= 0) child->Kill();
    auto exit = child->Wait();
    if (exit.ok()) result.exit = *exit;
  }
  close(ends[0]);
  return result;
}

std::string Describe(const sandbox::StepList& steps, const StepsResult& result) {
  if (!result.reported)
    return (result.exit.signaled ? "signal " : "exit ") + std::to_string(result.exit.status);
  if (result.report.error == sandbox::kReportReady) return "ready";
  return std::string(sandbox::StepName(steps.steps()[result.report.step].kind)) + ": " +
         strerrorname_np(result.report.error);
}

}  // namespace warder::testing
