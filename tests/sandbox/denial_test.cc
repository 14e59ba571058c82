#include "sandbox/denial.h"

#include <gtest/gtest.h>

namespace warder::sandbox {
namespace {

Denial Of(std::string object) {
  Denial denial;
  denial.layer = "seccomp";
  denial.operation = "mount";
  denial.object = std::move(object);
  return denial;
}

TEST(AddDenial, SameKindIsCountedAndKeepsItsFirstTime) {
  DenialReport report;
  Denial first = Of("a");
  first.first_ms = 3;
  AddDenial(first, report);
  first.first_ms = 9;
  AddDenial(first, report);
  AddDenial(Of("b"), report);
  ASSERT_EQ(report.denials.size(), 2u);
  EXPECT_EQ(report.denials[0].count, 2u);
  EXPECT_EQ(report.denials[0].first_ms, 3);
  EXPECT_EQ(report.denials[1].count, 1u);
}

TEST(AddDenial, KindsAreBoundedAndTheRestIsCounted) {
  DenialReport report;
  for (std::size_t i = 0; i < kMaxDenials + 5; ++i) AddDenial(Of(std::to_string(i)), report);
  AddDenial(Of("0"), report);
  EXPECT_EQ(report.denials.size(), kMaxDenials);
  EXPECT_EQ(report.unlisted, 5u);
  EXPECT_EQ(report.denials[0].count, 2u);
}

}  // namespace
}  // namespace warder::sandbox
