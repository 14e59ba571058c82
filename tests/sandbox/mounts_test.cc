#include "sandbox/mounts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::SmallPolicy;

TEST(Mounts, RootIsEnteredOnceAndSealedLast) {
  EXPECT_EQ(InLauncher([](const Host&) -> std::string {
              const Policy policy = SmallPolicy();
              MountRequest request;
              request.policy = &policy;
              StepList steps;
              const std::size_t start = steps.steps().size();
              std::vector<PathRule> rules;
              std::vector<std::string> absent;
              const absl::Status status = AddMountSteps(request, steps, rules, absent);
              if (!status.ok()) return std::string(status.message());
              const auto& all = steps.steps();
              const auto pivots = std::count_if(all.begin(), all.end(), [](const Step& step) {
                return step.kind == StepKind::kPivotRoot;
              });
              return std::to_string(pivots) + " " + StepName(all[start].kind) + " " +
                     StepName(all.back().kind);
            }),
            "1 make-mounts-private mount-attributes");
}

TEST(Mounts, EveryStepBeforeTheRootIsEnteredNamesAPathInsideIt) {
  EXPECT_EQ(InLauncher([](const Host&) -> std::string {
              const Policy policy = SmallPolicy();
              MountRequest request;
              request.policy = &policy;
              StepList steps;
              std::vector<PathRule> rules;
              std::vector<std::string> absent;
              if (!AddMountSteps(request, steps, rules, absent).ok()) return "FAILED";
              std::string absolute;
              bool inside = false;
              for (const Step& step : steps.steps()) {
                if (step.kind == StepKind::kPivotRoot) break;
                if (inside && step.path != nullptr && step.path[0] == '/')
                  absolute += std::string(step.path) + " ";
                if (step.kind == StepKind::kChangeDirectory) inside = true;
              }
              return absolute;
            }),
            "");
}

TEST(Mounts, LandlockGetsARuleForEveryWritablePlace) {
  EXPECT_EQ(InLauncher([](const Host&) -> std::string {
              const Policy policy = SmallPolicy();
              MountRequest request;
              request.policy = &policy;
              StepList steps;
              std::vector<PathRule> rules;
              std::vector<std::string> absent;
              if (!AddMountSteps(request, steps, rules, absent).ok()) return "FAILED";
              std::string writable;
              for (const PathRule& rule : rules) {
                if (rule.access == LandlockAccess::kReadWrite) writable += rule.path + " ";
              }
              return writable;
            }),
            "/dev/mqueue /dev/shm /home/tool /tmp ");
}

}  // namespace
}  // namespace warder::sandbox
