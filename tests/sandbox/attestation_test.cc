#include "sandbox/attestation.h"

#include <gtest/gtest.h>

namespace warder::sandbox {
namespace {

Attestation With(bool required, LayerState state) {
  Attestation attestation;
  attestation.layers.push_back({"first", true, LayerState::kEnforced, ""});
  attestation.layers.push_back({"second", required, state, ""});
  return attestation;
}

TEST(Attestation, Law3RequiredLayerThatIsAbsentIsFound) {
  const Attestation attestation = With(true, LayerState::kAbsent);
  ASSERT_NE(FirstUnprovenLayer(attestation), nullptr);
  EXPECT_EQ(FirstUnprovenLayer(attestation)->name, "second");
}

TEST(Attestation, EnforcedDegradedAndUnrequiredLayersPass) {
  EXPECT_EQ(FirstUnprovenLayer(With(true, LayerState::kEnforced)), nullptr);
  EXPECT_EQ(FirstUnprovenLayer(With(true, LayerState::kDegraded)), nullptr);
  EXPECT_EQ(FirstUnprovenLayer(With(false, LayerState::kNotRequired)), nullptr);
}

TEST(Attestation, StatesHaveStableNames) {
  EXPECT_STREQ(LayerStateName(LayerState::kEnforced), "enforced");
  EXPECT_STREQ(LayerStateName(LayerState::kDegraded), "degraded");
  EXPECT_STREQ(LayerStateName(LayerState::kAbsent), "absent");
  EXPECT_STREQ(LayerStateName(LayerState::kNotRequired), "not required");
}

}  // namespace
}  // namespace warder::sandbox
