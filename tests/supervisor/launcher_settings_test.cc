#include "supervisor/launcher_settings.h"

#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using ::warder::testing::TempTree;

absl::StatusOr<LauncherSettings> Read(const std::string& text) {
  const TempTree tree;
  manifest::Config config;
  config.config_dir = tree.Directory("config", 0755);
  if (!text.empty()) tree.Write("config/config.json", text);
  return ReadLauncherSettings(config);
}

TEST(LauncherSettings, MissingFileMeansTheDefaults) {
  EXPECT_EQ(Read("").value().uids.first, sandbox::UidRange().first);
}

TEST(LauncherSettings, RangeIsTheOperators) {
  const auto settings = Read(R"({"schema": 1, "uid_range": {"first": 700000, "count": 10}})");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->uids.first, 700000u);
  EXPECT_EQ(settings->uids.count, 10u);
}

TEST(LauncherSettings, RangeOfPeopleAndSystemUsersIsRefused) {
  for (const char* range :
       {R"({"first": 0, "count": 10})", R"({"first": 1000, "count": 10})",
        R"({"first": 70000, "count": 0})", R"({"first": 4294800000, "count": 1000000})"}) {
    const auto settings = Read(std::string(R"({"schema": 1, "uid_range": )") + range + "}");
    EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument) << range;
    EXPECT_NE(std::string(settings.status().message()).find("config.json:1:"), std::string::npos);
  }
}

TEST(LauncherSettings, ParentOfControlGroupsIsAnAbsolutePath) {
  const auto settings = Read(R"({"schema": 1, "cgroup_parent": "/sys/fs/cgroup/warder.slice"})");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->cgroup_parent, "/sys/fs/cgroup/warder.slice");
  EXPECT_EQ(Read("").value().cgroup_parent, std::nullopt);
  for (const char* path : {"warder.slice", "/sys/../etc", ""}) {
    EXPECT_NE(std::string(Read(R"({"schema": 1, "cgroup_parent": ")" + std::string(path) + "\"}")
                              .status()
                              .message())
                  .find("cgroup_parent"),
              std::string::npos)
        << path;
  }
}

TEST(LauncherSettings, UnknownKeysAreErrors) {
  EXPECT_EQ(Read(R"({"schema": 1, "uids": {}})").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace warder::supervisor
