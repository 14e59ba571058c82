#include "sandbox/policy.h"

#include <gtest/gtest.h>

namespace warder::sandbox {
namespace {

TEST(Policy, DefaultsGrantNothing) {
  const Policy policy;
  EXPECT_TRUE(policy.filesystem.grants.empty());
  EXPECT_EQ(policy.filesystem.workspace, WorkspaceMode::kReadOnly);
  EXPECT_EQ(policy.network, NetworkMode::kNone);
  EXPECT_TRUE(policy.syscalls.allow.empty());
  EXPECT_TRUE(policy.capabilities.empty());
  EXPECT_EQ(policy.without_cgroup, OnMissing::kRefuse);
  EXPECT_EQ(policy.without_landlock, OnMissing::kRefuse);
}

TEST(Policy, TiersAreOrderedByStrength) {
  EXPECT_LT(Tier::kLandlock, Tier::kUserns);
  EXPECT_LT(Tier::kUserns, Tier::kRoot);
}

TEST(Policy, NamesAreTheWordsOfPolicyFiles) {
  EXPECT_STREQ(TierName(Tier::kLandlock), "landlock");
  EXPECT_STREQ(TierName(Tier::kUserns), "userns");
  EXPECT_STREQ(TierName(Tier::kRoot), "root");
  EXPECT_STREQ(WorkspaceModeName(WorkspaceMode::kReadOnly), "read-only");
  EXPECT_STREQ(WorkspaceModeName(WorkspaceMode::kReadWrite), "read-write");
  EXPECT_STREQ(WorkspaceModeName(WorkspaceMode::kOverlay), "overlay");
  EXPECT_STREQ(NetworkModeName(NetworkMode::kNone), "none");
  EXPECT_STREQ(NetworkModeName(NetworkMode::kHost), "host");
}

}  // namespace
}  // namespace warder::sandbox
