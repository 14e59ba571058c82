#include "manifest/policy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGroups = R"({"schema": 1, "groups": [
  {"name": "files", "reason": "to read", "calls": ["read", "close"]}]})";

class PolicyFile : public ::testing::Test {
 protected:
  PolicyFile() {
    config_.config_dir = tree_.Directory("etc");
    config_.share_dir = tree_.Directory("share");
    Shipped("syscall_groups", kGroups);
    Shipped("base", Text(R"("abstract": true, "syscalls": {"groups": [
        {"effect": "allow", "groups": ["files"], "reason": "r"}]})"));
    Shipped("default", Text(R"("extends": "base", "network": {"mode": "none", "reason": "r"})"));
  }

  static std::string Text(const std::string& members) {
    return R"({"schema": 1, "description": "d", )" + members + "}";
  }
  std::string Shipped(const std::string& name, const std::string& text) {
    return tree_.Write("share/policies/" + name + ".json", text);
  }
  std::string Operator(const std::string& name, const std::string& text) {
    return tree_.Write("etc/policies/" + name + ".json", text);
  }
  std::string FaultOf(const std::string& name, absl::StatusCode code) {
    const auto policy = LoadPolicy(config_, name);
    EXPECT_EQ(policy.status().code(), code) << policy.status();
    return std::string(policy.status().message());
  }

  testing::TempTree tree_;
  Config config_;
};

TEST_F(PolicyFile, ExtendsIsFollowedAndTheResultNamesItsFile) {
  const auto policy = LoadPolicy(config_, "default");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->name, "default");
  EXPECT_EQ(policy->confinement.name, "default");
  EXPECT_EQ(policy->source, tree_.At("share/policies/default.json"));
  EXPECT_FALSE(policy->abstract);
  EXPECT_EQ(policy->confinement.syscalls.allow.size(), 2u);
}

TEST_F(PolicyFile, OperatorsFileComesBeforeTheShippedOne) {
  Operator("default", Text(R"("network": {"mode": "host", "reason": "r"})"));
  const auto policy = LoadPolicy(config_, "default");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->source, tree_.At("etc/policies/default.json"));
  EXPECT_EQ(policy->confinement.network, sandbox::NetworkMode::kHost);
}

TEST_F(PolicyFile, OperatorsFileMayExtendTheShippedOneOfItsOwnName) {
  Operator("default", Text(R"("extends": "default", "network": {"mode": "host", "reason": "r"})"));
  const auto policy = LoadPolicy(config_, "default");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->confinement.network, sandbox::NetworkMode::kHost);
  EXPECT_EQ(policy->confinement.syscalls.allow.size(), 2u) << "of the shipped one";
}

TEST_F(PolicyFile, MissingPolicyIsToldWithTheOnesThereAre) {
  EXPECT_THAT(FaultOf("defualt", absl::StatusCode::kNotFound),
              AllOf(HasSubstr("policy `defualt`: not in"), HasSubstr("did you mean `default`?"),
                    HasSubstr("there are: base, default")));
}

TEST_F(PolicyFile, NameThatIsAPathIsNoPolicy) {
  tree_.Write("share/secret.json", Text(R"("abstract": false)"));
  for (const char* name :
       {"../secret", "/etc/passwd", "", ".", "a.b", "syscall_groups", "bindings"}) {
    EXPECT_THAT(FaultOf(name, absl::StatusCode::kNotFound),
                HasSubstr("no policy can have this name"));
  }
  EXPECT_THAT(FaultOf(std::string(65, 'a'), absl::StatusCode::kNotFound),
              HasSubstr("no policy can"));
}

TEST_F(PolicyFile, ExtendingAMissingPolicyNamesTheOneThatAsks) {
  Shipped("top", Text(R"("extends": "gone")"));
  EXPECT_THAT(FaultOf("top", absl::StatusCode::kNotFound),
              AllOf(HasSubstr("policy top, extends"), HasSubstr("policy `gone`")));
}

TEST_F(PolicyFile, CircleOfExtendsIsRefused) {
  Shipped("a", Text(R"("extends": "b")"));
  Shipped("b", Text(R"("extends": "a")"));
  EXPECT_THAT(FaultOf("a", absl::StatusCode::kInvalidArgument),
              HasSubstr("extends itself through others"));
  Shipped("self", Text(R"("extends": "self")"));
  EXPECT_THAT(FaultOf("self", absl::StatusCode::kInvalidArgument), HasSubstr("extends itself"));
}

TEST_F(PolicyFile, LineOfExtendsIsBounded) {
  Shipped("p9", Text(R"("abstract": true)"));
  for (int i = 8; i >= 1; --i) {
    Shipped("p" + std::to_string(i), Text(R"("extends": "p)" + std::to_string(i + 1) + "\""));
  }
  EXPECT_TRUE(LoadPolicy(config_, "p2").ok());
  EXPECT_THAT(FaultOf("p1", absl::StatusCode::kInvalidArgument), HasSubstr("more than 8 policies"));
}

TEST_F(PolicyFile, FaultyFileIsToldWithFileLineAndColumn) {
  const std::string path =
      Operator("bad", "{\"schema\": 1,\n \"description\": \"d\", \"netwrok\": {}}");
  EXPECT_THAT(FaultOf("bad", absl::StatusCode::kInvalidArgument),
              HasSubstr(path + ":2:22: unknown key `netwrok`"));
}

TEST_F(PolicyFile, FileThatOthersMayWriteIsRefusedAndTheShippedOneDoesNotStepIn) {
  const std::string path = Operator("default", Text(R"("extends": "base")"));
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_THAT(FaultOf("default", absl::StatusCode::kPermissionDenied), HasSubstr("chmod go-w"));
}

TEST_F(PolicyFile, BrokenOperatorsFileDoesNotFallBackToTheShippedOne) {
  Operator("default", "");
  FaultOf("default", absl::StatusCode::kInvalidArgument);
}

TEST_F(PolicyFile, PolicyInsideAWorkspaceIsRefused) {
  Operator("default", Text(R"("extends": "base")"));
  config_.workspaces.push_back(tree_.At("etc"));
  EXPECT_THAT(FaultOf("default", absl::StatusCode::kPermissionDenied),
              HasSubstr("inside the workspace"));
}

TEST_F(PolicyFile, DigestChangesWithEveryFileThatThePolicyIsMadeOf) {
  const Sha256 first = LoadPolicy(config_, "default")->digest;
  EXPECT_EQ(LoadPolicy(config_, "default")->digest, first);
  Shipped("base", Text(R"("abstract": true)"));
  const Sha256 second = LoadPolicy(config_, "default")->digest;
  EXPECT_NE(second, first);
  Shipped("syscall_groups", R"({"schema": 1, "groups": []})");
  EXPECT_NE(LoadPolicy(config_, "default")->digest, second);
}

TEST_F(PolicyFile, ListHoldsBothPlacesWithoutAbstractOnesAndOtherFiles) {
  Operator("mine", Text(R"("extends": "base")"));
  Operator("default", Text(R"("extends": "base")"));
  Shipped("bindings", "{}");
  tree_.Write("share/policies/policy.schema.json", "{}");
  tree_.Write("share/policies/default.cases", "");
  const auto names = ListPolicies(config_);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("default", "mine"));
}

TEST_F(PolicyFile, ListWithABrokenPolicyFailsWithItsName) {
  const std::string path = Operator("bad", "{");
  const auto names = ListPolicies(config_);
  EXPECT_EQ(names.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(names.status().message()), HasSubstr(path));
}

}  // namespace
}  // namespace warder::manifest
