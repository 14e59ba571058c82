#include "approval/decision.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <string>

namespace warder::approval {
namespace {

constexpr std::array kVerdicts = {Verdict::kDeny, Verdict::kAllow, Verdict::kDenyForSession,
                                  Verdict::kAllowForSession};

TEST(Verdict, EachHasItsName) {
  EXPECT_STREQ(VerdictName(Verdict::kDeny), "deny");
  EXPECT_STREQ(VerdictName(Verdict::kAllow), "allow");
  EXPECT_STREQ(VerdictName(Verdict::kDenyForSession), "deny-for-session");
  EXPECT_STREQ(VerdictName(Verdict::kAllowForSession), "allow-for-session");
}

TEST(Verdict, AnyTwoDifferInAtLeastFifteenBits) {
  for (const Verdict a : kVerdicts) {
    for (const Verdict b : kVerdicts) {
      if (a == b) continue;
      const auto difference = static_cast<std::uint32_t>(a) ^ static_cast<std::uint32_t>(b);
      EXPECT_GE(std::popcount(difference), 15) << VerdictName(a) << " and " << VerdictName(b);
    }
  }
}

TEST(Verdict, AFlippedBitIsNoVerdict) {
  for (const Verdict verdict : kVerdicts) {
    for (int bit = 0; bit < 32; ++bit) {
      const auto flipped = static_cast<Verdict>(static_cast<std::uint32_t>(verdict) ^ (1u << bit));
      EXPECT_STREQ(VerdictName(flipped), "invalid");
    }
  }
}

TEST(RefusalCode, NamesAreLowerSnakeCaseAndDistinct) {
  std::set<std::string> names;
  for (const auto code :
       {RefusalCode::kDenied, RefusalCode::kDeniedForSession, RefusalCode::kNoApprover,
        RefusalCode::kAskTimeout, RefusalCode::kApproverError, RefusalCode::kExpired,
        RefusalCode::kAlreadyUsed, RefusalCode::kChanged, RefusalCode::kAuditUnavailable,
        RefusalCode::kInvalidInput, RefusalCode::kNotRunnable, RefusalCode::kNoPolicy,
        RefusalCode::kSandboxUnavailable, RefusalCode::kWithdrawn}) {
    const std::string name = RefusalCodeName(code);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_FALSE(names.contains("invalid"));
  EXPECT_STREQ(RefusalCodeName(static_cast<RefusalCode>(0)), "invalid");
}

TEST(Decision, DefaultDenies) {
  EXPECT_EQ(Decision{}.verdict, Verdict::kDeny);
  EXPECT_EQ(Refusal{}.code, RefusalCode::kDenied);
}

TEST(Decision, AFailedOneDeniesAndSaysWhy) {
  const Decision decision = FailedDecision(RefusalCode::kAskTimeout, "terminal", "too late");
  EXPECT_TRUE(decision.failed);
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_EQ(decision.failure, RefusalCode::kAskTimeout);
  EXPECT_EQ(decision.approver, "terminal");
  EXPECT_EQ(decision.reason, "too late");
}

}  // namespace
}  // namespace warder::approval
