#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/policy_file.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Binding To(const std::string& policy) {
  Binding binding;
  binding.policy = policy;
  binding.reason = "r";
  return binding;
}

BindingQuery Query() { return {"fetch", "/home/u/w", "cli", SideEffect::kExternal}; }

std::string Chosen(const std::vector<Binding>& bindings, const BindingQuery& query = Query()) {
  const auto binding = SelectBinding(bindings, query);
  EXPECT_TRUE(binding.ok()) << binding.status();
  return binding.ok() ? binding->policy : "";
}

TEST(Bindings, BindingWithMoreFieldsWins) {
  Binding effect = To("effect");
  effect.side_effect = SideEffect::kExternal;
  Binding effect_and_caller = To("effect and caller");
  effect_and_caller.side_effect = SideEffect::kExternal;
  effect_and_caller.caller = "cli";
  Binding tool = To("tool");
  tool.tool = "fetch";
  EXPECT_EQ(Chosen({To("any"), effect}), "effect");
  EXPECT_EQ(Chosen({effect_and_caller, tool, effect}), "effect and caller");
}

TEST(Bindings, ToolThenWorkspaceThenCallerThenSideEffectBreaksATie) {
  Binding tool = To("tool");
  tool.tool = "fetch";
  Binding workspace = To("workspace");
  workspace.workspace = "/home/u/w";
  Binding caller = To("caller");
  caller.caller = "cli";
  Binding effect = To("effect");
  effect.side_effect = SideEffect::kExternal;
  EXPECT_EQ(Chosen({effect, caller, workspace, tool}), "tool");
  EXPECT_EQ(Chosen({effect, caller, workspace}), "workspace");
  EXPECT_EQ(Chosen({effect, caller}), "caller");
}

TEST(Bindings, LongerWorkspaceWins) {
  Binding home = To("home");
  home.workspace = "/home/**";
  Binding user = To("user");
  user.workspace = "/home/u/**";
  EXPECT_EQ(Chosen({user, home}), "user");
  EXPECT_EQ(Chosen({home, user}), "user");
}

TEST(Bindings, PatternCoversWhatLiesBelowAndNothingElse) {
  Binding below = To("below");
  below.workspace = "/home/u/**";
  BindingQuery query = Query();
  for (const char* covered : {"/home/u/w", "/home/u/w/deep"}) {
    query.workspace = covered;
    EXPECT_EQ(Chosen({below}, query), "below");
  }
  for (const char* other : {"/home/u", "/home/u2/w", "/home", "/"}) {
    query.workspace = other;
    EXPECT_EQ(SelectBinding({below}, query).status().code(), absl::StatusCode::kNotFound) << other;
  }
}

TEST(Bindings, NoMatchIsAnErrorThatNamesTheCall) {
  Binding other = To("p");
  other.side_effect = SideEffect::kProcess;
  const auto binding = SelectBinding({other}, Query());
  EXPECT_EQ(binding.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(binding.status().message()),
              AllOf(HasSubstr("`fetch`"), HasSubstr("/home/u/w"), HasSubstr("external")));
}

TEST(Bindings, EquallySpecificOnesMustAgree) {
  Binding a = To("a");
  a.tool = "fetch";
  Binding b = To("b");
  b.tool = "fetch";
  const auto binding = SelectBinding({a, b}, Query());
  EXPECT_EQ(binding.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(binding.status().message()),
              HasSubstr("policies `a` and `b` match equally well"));
  EXPECT_EQ(Chosen({a, a}), "a");
  Binding both = b;
  both.caller = "cli";
  EXPECT_EQ(Chosen({a, b, both}), "b") << "a more specific one settles it";
}

class BindingsFile : public ::testing::Test {
 protected:
  BindingsFile() {
    config_.config_dir = tree_.Directory("etc");
    config_.share_dir = tree_.Directory("share");
  }
  std::string FaultOf(const std::string& binding) {
    tree_.Write("etc/bindings.json", R"({"schema": 1, "bindings": [)" + binding + "]}");
    const auto bindings = LoadBindings(config_);
    EXPECT_EQ(bindings.status().code(), absl::StatusCode::kInvalidArgument) << binding;
    return std::string(bindings.status().message());
  }

  testing::TempTree tree_;
  Config config_;
};

TEST_F(BindingsFile, OperatorsFileReplacesTheShippedOne) {
  EXPECT_EQ(LoadBindings(config_).status().code(), absl::StatusCode::kNotFound);
  tree_.Write("share/policies/bindings.json",
              R"({"schema": 1, "bindings": [{"policy": "a", "reason": "r"}]})");
  ASSERT_EQ(LoadBindings(config_)->size(), 1u);
  tree_.Write("etc/bindings.json", R"({"schema": 1, "bindings": []})");
  EXPECT_TRUE(LoadBindings(config_)->empty());
}

TEST_F(BindingsFile, AllFieldsAreRead) {
  tree_.Write("etc/bindings.json",
              R"({"schema": 1, "bindings": [{"tool": "t", "workspace": "/w/**", "caller": "c",
      "side_effect": "external", "policy": "p", "reason": "r"}]})");
  const auto bindings = LoadBindings(config_);
  ASSERT_TRUE(bindings.ok()) << bindings.status();
  const Binding& binding = bindings->front();
  EXPECT_EQ(binding.tool, "t");
  EXPECT_EQ(binding.workspace, "/w/**");
  EXPECT_EQ(binding.caller, "c");
  EXPECT_EQ(binding.side_effect, SideEffect::kExternal);
  EXPECT_EQ(binding.policy, "p");
  EXPECT_EQ(binding.reason, "r");
}

TEST_F(BindingsFile, FaultsAreToldWithTheirPlace) {
  EXPECT_THAT(FaultOf(R"({"policy": "p"})"),
              HasSubstr("bindings.json:1:28: bindings[0].reason: is missing"));
  EXPECT_THAT(FaultOf(R"({"reason": "r"})"), HasSubstr("policy: is missing"));
  EXPECT_THAT(FaultOf(R"({"policy": "p", "reason": "r", "user": "x"})"),
              HasSubstr("unknown key `user`"));
  EXPECT_THAT(FaultOf(R"({"policy": "p", "reason": "r", "side_effect": "none"})"),
              HasSubstr("side_effect"));
  for (const char* workspace : {"", "w", "/w/", "/w/../x", "w/**"}) {
    EXPECT_THAT(FaultOf(std::string(R"({"policy": "p", "reason": "r", "workspace": ")") +
                        workspace + "\"}"),
                HasSubstr("workspace: must be an absolute path"))
        << workspace;
  }
}

}  // namespace
}  // namespace warder::manifest
