#include "sandbox/proof.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

// The proof of a process that is not confined at all: this one.
Attestation ProveOurselves(const Policy& policy) {
  static Host host;
  host.landlock_abi = 0;
  CellRequest request;
  request.policy = &policy;
  request.host = &host;
  request.uid = 4242;
  return ProveTool(getpid(), request, nullptr);
}

TEST(Proof, Law3NothingIsCalledEnforcedThatTheKernelDoesNotShow) {
  const Policy policy = ::warder::testing::SmallPolicy();
  for (const Layer& layer : ProveOurselves(policy).layers) {
    EXPECT_NE(layer.state, LayerState::kEnforced) << layer.name << ": " << layer.proof;
  }
}

TEST(Proof, MissingControlGroupsAreDegradedOnlyWithThePolicysLeave) {
  Policy policy = ::warder::testing::SmallPolicy();
  const auto state = [&] {
    for (const Layer& layer : ProveOurselves(policy).layers) {
      if (layer.name == "control group") return layer.state;
    }
    return LayerState::kEnforced;
  };
  EXPECT_EQ(state(), LayerState::kDegraded);
  policy.without_cgroup = OnMissing::kRefuse;
  EXPECT_EQ(state(), LayerState::kAbsent);
  policy.limits.processes.reset();
  EXPECT_EQ(state(), LayerState::kNotRequired);
}

TEST(Proof, ACellOutsideTheGroupThatItShouldHaveIsNotEnforced) {
  const Policy policy = ::warder::testing::SmallPolicy();
  static Host host;
  CgroupHost cgroups;
  cgroups.version = CgroupVersion::kV2;
  CellRequest request;
  request.policy = &policy;
  request.host = &host;
  request.cgroups = &cgroups;
  for (const Layer& layer : ProveTool(getpid(), request, nullptr).layers) {
    // Even where the policy accepts hosts without groups: here there is one.
    if (layer.name != "control group") continue;
    EXPECT_EQ(layer.state, LayerState::kAbsent);
  }
}

TEST(Proof, SharedNetworkIsSaidNotHidden) {
  Policy policy = ::warder::testing::SmallPolicy();
  policy.network = NetworkMode::kHost;
  for (const Layer& layer : ProveOurselves(policy).layers) {
    if (layer.name != "network namespace") continue;
    EXPECT_EQ(layer.state, LayerState::kNotRequired);
    EXPECT_EQ(layer.proof, "policy shares the host's network");
    return;
  }
  FAIL() << "no network layer";
}

}  // namespace
}  // namespace warder::sandbox
