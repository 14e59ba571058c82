#include "manifest/tool_spec.h"

#include <gtest/gtest.h>

namespace warder::manifest {
namespace {

TEST(SideEffect, NamesAreThoseOfTheManifest) {
  EXPECT_STREQ(SideEffectName(SideEffect::kProcess), "process");
  EXPECT_STREQ(SideEffectName(SideEffect::kExternal), "external");
}

TEST(ToolSpec, DefaultsAreThoseOfTheManifest) {
  const ToolSpec tool;
  EXPECT_EQ(tool.timeout_ms, 120'000);
  EXPECT_EQ(tool.side_effect, SideEffect::kProcess);
}

}  // namespace
}  // namespace warder::manifest
