// RunSteps: runs a StepList in a child and returns the report that it sent.
#ifndef WARDER_TESTS_SUPPORT_RUN_STEPS_H_
#define WARDER_TESTS_SUPPORT_RUN_STEPS_H_

#include <string>

#include "sandbox/spawn.h"
#include "sandbox/step_list.h"

namespace warder::testing {

struct StepsResult {
  bool reported = false;
  sandbox::ChildReport report;
  sandbox::ProcessExit exit;
};

// Clones with `flags`. The child's report descriptor is kReportFd, as in a launcher. Ends by itself
// or is killed when this returns.
StepsResult RunSteps(const sandbox::StepList& steps, std::uint64_t flags = 0);

// "ready", or "STEP: ERRNO-NAME" of the step that failed, or "exit N" / "signal N" without a
// report.
std::string Describe(const sandbox::StepList& steps, const StepsResult& result);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_RUN_STEPS_H_
