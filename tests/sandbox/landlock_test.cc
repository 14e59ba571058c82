#include "sandbox/landlock.h"

#include <gtest/gtest.h>

namespace warder::sandbox {
namespace {

TEST(Landlock, EachAbiHandlesWhatItBrought) {
  EXPECT_EQ(CellRuleset(0).handled_access_fs, 0u);
  EXPECT_EQ(CellRuleset(1).handled_access_fs, (1u << 13) - 1);
  EXPECT_EQ(CellRuleset(2).handled_access_fs, (1u << 14) - 1);
  EXPECT_EQ(CellRuleset(3).handled_access_fs, (1u << 15) - 1);
  EXPECT_EQ(CellRuleset(5).handled_access_fs, (1u << 16) - 1);
  EXPECT_EQ(CellRuleset(5).scoped, 0u);
  EXPECT_EQ(CellRuleset(6).scoped, 3u);
}

TEST(Landlock, RulesetSizeIsWhatTheAbiTakes) {
  EXPECT_EQ(RulesetSize(1), 8u);
  EXPECT_EQ(RulesetSize(4), 16u);
  EXPECT_EQ(RulesetSize(6), 24u);
}

TEST(Landlock, NoAccessEverGrantsDeviceNodes) {
  constexpr std::uint64_t kMakeChar = 1u << 6;
  constexpr std::uint64_t kMakeBlock = 1u << 11;
  for (const LandlockAccess access : {LandlockAccess::kList, LandlockAccess::kRead,
                                      LandlockAccess::kReadWrite, LandlockAccess::kDevices}) {
    EXPECT_EQ(LandlockRights(access, 7, true) & (kMakeChar | kMakeBlock), 0u);
  }
}

TEST(Landlock, RightsOfAFileLeaveOutThoseOfDirectories) {
  constexpr std::uint64_t kReadDir = 1u << 3;
  EXPECT_NE(LandlockRights(LandlockAccess::kRead, 7, true) & kReadDir, 0u);
  EXPECT_EQ(LandlockRights(LandlockAccess::kRead, 7, false) & kReadDir, 0u);
}

TEST(Landlock, ReadAccessGrantsNoWrite) {
  constexpr std::uint64_t kWrite = 1u << 1;
  EXPECT_EQ(LandlockRights(LandlockAccess::kRead, 7, true) & kWrite, 0u);
  EXPECT_NE(LandlockRights(LandlockAccess::kReadWrite, 7, true) & kWrite, 0u);
}

TEST(Landlock, DescriptionNamesTheAbi) {
  EXPECT_EQ(DescribeLandlock(0), "there is no Landlock: not in this kernel, or not for us");
  EXPECT_EQ(DescribeLandlock(2), "ABI 2: files, refer");
}

}  // namespace
}  // namespace warder::sandbox
