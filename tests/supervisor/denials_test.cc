#include "supervisor/denials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace warder::supervisor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

sandbox::DenialReport OneMount() {
  sandbox::Denial denial;
  denial.layer = "seccomp";
  denial.operation = "mount";
  denial.object = "target=/mnt";
  denial.error = EPERM;
  denial.place = "/p/base.json:83";
  denial.group = "mount";
  denial.reason = "Takes the view apart.";
  denial.first_ms = 12;
  sandbox::DenialReport report;
  report.watched = true;
  AddDenial(denial, report);
  return report;
}

TEST(DenialText, IsEmptyWithoutDenials) { EXPECT_EQ(DenialText({}), ""); }

TEST(DenialText, SaysOperationObjectErrnoLayerAndRule) {
  sandbox::DenialReport report = OneMount();
  EXPECT_EQ(DenialText(report),
            "The cell denied:\n  mount target=/mnt: EPERM from seccomp [/p/base.json:83, group "
            "`mount`: Takes the view apart.]");
  report.denials[0].count = 3;
  report.unlisted = 4;
  report.stopped = true;
  EXPECT_THAT(DenialText(report), HasSubstr("from seccomp, 3 times ["));
  EXPECT_THAT(DenialText(report), HasSubstr("and 4 operations of kinds beyond the first 64"));
  EXPECT_THAT(DenialText(report), HasSubstr("not counted after"));
}

TEST(DenialText, WhatTheToolChoseCannotForgeALineOrMoveTheCursor) {
  sandbox::DenialReport report = OneMount();
  report.denials[0].object = "target=/x\n  mount /y: EPERM\x1b[2K\xff";
  EXPECT_THAT(DenialText(report), Not(HasSubstr("\n  mount /y")));
  EXPECT_THAT(DenialText(report), Not(HasSubstr("\x1b")));
  report.denials[0].object.assign(5000, 'x');
  EXPECT_LT(DenialText(report).size(), 600u);
}

TEST(DenialText, LongListIsCutAndSaysSo) {
  sandbox::DenialReport report = OneMount();
  for (int i = 0; i < 20; ++i) {
    sandbox::Denial denial = report.denials[0];
    denial.object = std::to_string(i);
    AddDenial(denial, report);
  }
  EXPECT_THAT(DenialText(report), HasSubstr("\n  and 11 other kinds of operation"));
}

TEST(RedactObjects, ValuesOfTheEnvironmentAreReplacedTheLongestFirst) {
  sandbox::DenialReport report = OneMount();
  report.denials[0].object = "target=/a/hunter22/hunter2/x, source=C";
  manifest::Variable one, two, three;
  one.name = "ONE";
  one.value = "hunter2";
  two.name = "TWO";
  two.value = "hunter22";
  three.name = "LANG";
  three.value = "C";
  RedactObjects({one, two, three}, report);
  EXPECT_EQ(report.denials[0].object, "target=/a/[value of TWO]/[value of ONE]/x, source=C");
}

TEST(DenialJson, HasEveryMember) {
  EXPECT_EQ(
      manifest::WriteJson(DenialJson(OneMount().denials[0], "default")),
      R"({"layer":"seccomp","operation":"mount","object":"target=/mnt","errno":{"number":1,)"
      R"("name":"EPERM"},"killed":false,"rule":{"policy":"default","place":"/p/base.json:83",)"
      R"("group":"mount","reason":"Takes the view apart."},"first_ms":12,"count":1})");
}

TEST(DenialJson, KilledHasNoErrno) {
  sandbox::Denial denial;
  denial.layer = "seccomp";
  const manifest::Json json = DenialJson(denial, "p");
  EXPECT_TRUE(json["killed"].get<bool>());
  EXPECT_TRUE(json["errno"].is_null());
  EXPECT_TRUE(json["operation"].is_null());
}

}  // namespace
}  // namespace warder::supervisor
