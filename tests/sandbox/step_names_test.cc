#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sandbox/child_main.h"

namespace warder::sandbox {
namespace {

TEST(StepNames, EveryStepHasItsOwnName) {
  std::set<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(StepKind::kExec); ++kind) {
    const std::string name = StepName(static_cast<StepKind>(kind));
    EXPECT_NE(name, "invalid") << kind;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(StepNames, ValueOutsideTheListIsInvalid) {
  EXPECT_STREQ(StepName(static_cast<StepKind>(9999)), "invalid");
}

}  // namespace
}  // namespace warder::sandbox
