#include "supervisor/policy_store.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using ::warder::testing::TempTree;

manifest::Config ConfigIn(const TempTree& tree) {
  manifest::Config config;
  config.config_dir = tree.Directory("config", 0755);
  config.share_dir = WARDER_SHARE_DIR;
  return config;
}

constexpr char kMine[] = R"({"schema": 1, "extends": "default", "description": "mine"})";

TEST(PolicyStore, CompilesAPolicyOnce) {
  const TempTree tree;
  PolicyStore store(ConfigIn(tree));
  const auto first = store.Get("default");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE((*first)->filter.allow.empty());
  EXPECT_EQ(store.Get("default").value(), *first);
}

TEST(PolicyStore, AbstractAndUnknownPoliciesAreRefused) {
  const TempTree tree;
  PolicyStore store(ConfigIn(tree));
  EXPECT_FALSE(store.Get("base").ok());
  EXPECT_EQ(store.Get("no-such").status().code(), absl::StatusCode::kNotFound);
}

TEST(PolicyStore, ReadsNoFileOnceAllAreLoaded) {
  const TempTree tree;
  PolicyStore store(ConfigIn(tree));
  ASSERT_TRUE(store.LoadAll().ok());
  tree.Write("config/policies/late.json", kMine);
  EXPECT_EQ(store.Get("late").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(store.Get("offline").ok());
  PolicyStore fresh(ConfigIn(tree));
  EXPECT_TRUE(fresh.Get("late").ok()) << fresh.Get("late").status();
}

TEST(PolicyStore, PolicyThatCannotBeReadIsAnErrorOfLoadingAll) {
  const TempTree tree;
  const manifest::Config config = ConfigIn(tree);
  tree.Write("config/policies/broken.json", "{");
  PolicyStore store(config);
  const absl::Status loaded = store.LoadAll();
  EXPECT_EQ(loaded.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(loaded.message()).find("broken.json"), std::string::npos);
}

}  // namespace
}  // namespace warder::supervisor
