#include "sandbox/remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "sandbox/child_main.h"
#include "sandbox/proof.h"
#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::testing::HasSubstr;

TEST(Remedy, EveryLayerOfAnAttestationHasItsOwn) {
  const Policy policy = ::warder::testing::SmallPolicy();
  const Host host;
  CellRequest request;
  request.policy = &policy;
  request.host = &host;
  const std::string other = LayerRemedy("no such layer");
  std::set<std::string> remedies;
  for (const Layer& layer : ProveTool(getpid(), request, nullptr).layers) {
    if (layer.name == "mount namespace") continue;  // comes with every kernel
    EXPECT_NE(LayerRemedy(layer.name), other) << layer.name;
    EXPECT_TRUE(remedies.insert(LayerRemedy(layer.name)).second) << layer.name;
  }
}

TEST(Remedy, RefusedStepNamesItsLayerAndTheRemedy) {
  EXPECT_THAT(StepRemedy(StepName(StepKind::kLandlockCreate), ENOSYS),
              ::testing::AllOf(HasSubstr("layer `landlock`"), HasSubstr("lsm=")));
  EXPECT_THAT(StepRemedy(StepName(StepKind::kPivotRoot), EPERM), HasSubstr("pivot_root(2)"));
}

TEST(Remedy, StepThatIsShortOfSomethingOrServesNoLayerHasNone) {
  EXPECT_EQ(StepRemedy("landlock", ENOMEM), "");
  EXPECT_EQ(StepRemedy("report", EPERM), "");
  EXPECT_EQ(StepRemedy("exec", ENOSYS), "");
}

TEST(Remedy, SaysWhatMendsThisVeryStepWhereThatIsKnown) {
  Step step;
  step.kind = StepKind::kPivotRoot;
  EXPECT_NE(StepRemedy(step, EINVAL).find("switch_root"), std::string::npos);
  EXPECT_EQ(StepRemedy(step, EPERM), StepRemedy("pivot-root", EPERM));
  const MountArguments overlay = {"overlay", ""};
  step.kind = StepKind::kMount;
  step.data = &overlay;
  EXPECT_NE(StepRemedy(step, ENODEV).find("modprobe overlay"), std::string::npos);
  EXPECT_NE(StepRemedy(step, EPERM).find("/proc"), std::string::npos);
  step.kind = StepKind::kLandlockCreate;
  EXPECT_NE(StepRemedy(step, ENOSYS).find("lsm="), std::string::npos);
  step.kind = StepKind::kSetLimit;
  EXPECT_EQ(StepRemedy(step, EIO), "");
  EXPECT_NE(StepRemedy(step, ESTALE).find("not what was shown"), std::string::npos);
}

}  // namespace
}  // namespace warder::sandbox
