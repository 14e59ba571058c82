#include "approval/confinement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warder::approval {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DescribeConfinement, NoNetworkSaysSo) {
  const manifest::NamedPolicy policy;
  EXPECT_THAT(DescribeConfinement(policy, "/ws"),
              Contains("Network: no network: only the cell's own loopback."));
}

TEST(DescribeConfinement, HostNetworkSaysThatItIsSharedAndUnfiltered) {
  manifest::NamedPolicy policy;
  policy.confinement.network = sandbox::NetworkMode::kHost;
  EXPECT_THAT(
      DescribeConfinement(policy, "/ws"),
      Contains("Network: shares the host's network, without any filter of addresses or ports."));
}

TEST(DescribeConfinement, ReadAndWriteGrantsAreNamedApart) {
  manifest::NamedPolicy policy;
  policy.confinement.filesystem.grants = {
      {"/usr", sandbox::PathAccess::kRead, false, ""},
      {"/opt/x\n", sandbox::PathAccess::kRead, true, ""},
      {"/var/cache/x", sandbox::PathAccess::kReadWrite, false, ""}};
  const std::vector<std::string> sentences = DescribeConfinement(policy, "/ws");
  EXPECT_THAT(sentences, Contains("Can be read: \"/usr\", \"/opt/x\\n\" (where it exists)."));
  EXPECT_THAT(sentences, Contains("Can be read and written: \"/var/cache/x\"."));
}

TEST(DescribeConfinement, AnEmptyPolicyGrantsNothing) {
  const std::vector<std::string> sentences = DescribeConfinement({}, "/ws");
  EXPECT_THAT(sentences, Contains("Can be read: nothing."));
  EXPECT_THAT(sentences, Contains("Can be read and written: nothing."));
  EXPECT_THAT(sentences, Contains("The workspace \"/ws\" can be read and not written."));
}

TEST(DescribeConfinement, WorkspaceModesAreToldWithWhatStaysProtected) {
  manifest::NamedPolicy policy;
  policy.confinement.filesystem.workspace = sandbox::WorkspaceMode::kReadWrite;
  EXPECT_THAT(DescribeConfinement(policy, "/ws"),
              Contains("The workspace \"/ws\" can be read and written."));
  policy.confinement.filesystem.protect = {{".git/hooks", ""}, {".basis", ""}};
  EXPECT_THAT(DescribeConfinement(policy, "/ws"),
              Contains("The workspace \"/ws\" can be read and written, except for \".git/hooks\", "
                       "\".basis\"; what the tool makes under one of these names that is absent is "
                       "moved to quarantine after the call."));
  policy.confinement.filesystem.workspace = sandbox::WorkspaceMode::kOverlay;
  EXPECT_THAT(DescribeConfinement(policy, "/ws"),
              Contains(HasSubstr("a layer of this call's own")));
}

TEST(DescribeConfinement, LimitsThatAreAbsentAreCalledWithoutLimit) {
  manifest::NamedPolicy policy;
  policy.confinement.limits.memory_bytes = 1024;
  policy.confinement.without_cgroup = sandbox::OnMissing::kDegrade;
  const std::string limits = DescribeConfinement(policy, "/ws").back();
  EXPECT_THAT(limits, HasSubstr("memory 1024 bytes"));
  EXPECT_THAT(limits, HasSubstr("processes without limit"));
  EXPECT_THAT(limits, HasSubstr("the outcome says so"));
}

TEST(DescribeConfinement, AcceptedAbsenceOfLandlockIsTold) {
  manifest::NamedPolicy policy;
  EXPECT_THAT(DescribeConfinement(policy, "/ws"), Not(Contains(HasSubstr("Landlock"))));
  policy.confinement.without_landlock = sandbox::OnMissing::kDegrade;
  EXPECT_THAT(DescribeConfinement(policy, "/ws"), Contains(HasSubstr("has no Landlock")));
}

TEST(DescribeConfinement, HiddenPathsAndCapabilitiesAreToldWhenThereAreAny) {
  manifest::NamedPolicy policy;
  EXPECT_THAT(DescribeConfinement(policy, "/ws"), Not(Contains(HasSubstr("capabilities"))));
  policy.confinement.filesystem.hide = {{"/usr/share/secret", ""}};
  policy.confinement.capabilities = {"CAP_NET_RAW"};
  const std::vector<std::string> sentences = DescribeConfinement(policy, "/ws");
  EXPECT_THAT(sentences, Contains("Hidden: \"/usr/share/secret\"."));
  EXPECT_THAT(sentences, Contains(HasSubstr("CAP_NET_RAW")));
}

TEST(DescribeConfinement, EachTierIsToldDifferently) {
  std::vector<std::string> first;
  for (const auto tier : {sandbox::Tier::kLandlock, sandbox::Tier::kUserns, sandbox::Tier::kRoot}) {
    manifest::NamedPolicy policy;
    policy.confinement.minimum_tier = tier;
    first.push_back(DescribeConfinement(policy, "/ws").front());
    EXPECT_THAT(first.back(), HasSubstr(sandbox::TierName(tier)));
  }
  EXPECT_NE(first[0], first[1]);
}

}  // namespace
}  // namespace warder::approval
