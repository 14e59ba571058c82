// What the shipped policies let through to a tool, and what they let a manifest do with variables.
#include "manifest/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/policy_file.h"

namespace warder::manifest {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::vector<NamedPolicy> ShippedPolicies() {
  Config config;
  config.config_dir = "/nonexistent/warder";
  config.share_dir = WARDER_SHARE_DIR;
  std::vector<NamedPolicy> policies;
  const auto names = ListPolicies(config);
  EXPECT_TRUE(names.ok()) << names.status();
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    auto policy = LoadPolicy(config, name);
    EXPECT_TRUE(policy.ok()) << policy.status();
    if (policy.ok()) policies.push_back(*std::move(policy));
  }
  EXPECT_EQ(policies.size(), 7u);
  return policies;
}

// These policies are for what strangers wrote.
bool IsHardened(const NamedPolicy& policy) {
  return policy.name == "agent-host" || policy.name == "ci-runner" ||
         policy.name == "untrusted-review";
}

// What a tool gets of a supervisor's environment that holds plain variables and secrets.
std::vector<std::string> Inherited(const NamedPolicy& policy) {
  const VariableMap inherited =
      ReadInherited({"PATH=/bin", "HOME=/root", "LANG=C", "TERM=xterm", "SSH_AUTH_SOCK=/run/x",
                     "AWS_SECRET_ACCESS_KEY=s3cr3t", "LD_PRELOAD=/x.so"});
  const auto variables = LayerEnvironment(policy, inherited, {}, {});
  EXPECT_TRUE(variables.ok()) << variables.status();
  std::vector<std::string> names;
  for (const Variable& variable : *variables) names.push_back(variable.name);
  return names;
}

TEST(ShippedEnvironment, TrustedLetsAllOfItThroughAndTheOthersABaseline) {
  for (const NamedPolicy& policy : ShippedPolicies()) {
    const std::vector<std::string> plain = {"HOME", "LANG", "PATH", "TERM"};
    if (policy.name == "trusted") {
      EXPECT_THAT(Inherited(policy), IsSupersetOf(plain));
      EXPECT_THAT(Inherited(policy), Contains("AWS_SECRET_ACCESS_KEY"));
    } else {
      EXPECT_EQ(Inherited(policy), plain) << policy.name;
    }
  }
}

TEST(ShippedEnvironment, HardenedPoliciesLookBareNamesUpInDirectoriesOfRootOnly) {
  for (const NamedPolicy& policy : ShippedPolicies()) {
    EXPECT_EQ(policy.environment.trusted_path_only, IsHardened(policy)) << policy.name;
  }
}

TEST(ShippedEnvironment, HardenedPoliciesLetAManifestReadNoSecret) {
  const VariableMap inherited = ReadInherited({"TOKEN=s3cr3t", "HOME=/root"});
  for (const NamedPolicy& policy : ShippedPolicies()) {
    VariableReader reader(inherited, policy);
    EXPECT_TRUE(reader.Expand("${HOME}", "cwd").ok()) << policy.name;
    EXPECT_EQ(reader.Expand("${TOKEN}", "cwd").ok(), !IsHardened(policy)) << policy.name;
  }
}

TEST(ShippedEnvironment, NoPolicyLetsAManifestChangeWhichCodeIsLoaded) {
  for (const NamedPolicy& policy : ShippedPolicies()) {
    EXPECT_THAT(policy.environment.loader_names, IsEmpty()) << policy.name;
    for (const char* name :
         {"LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "PYTHONSTARTUP", "GIT_SSH_COMMAND"}) {
      EXPECT_TRUE(
          absl::IsPermissionDenied(LayerEnvironment(policy, {}, {}, {{name, "./x"}}).status()))
          << policy.name << " " << name;
    }
  }
}

}  // namespace
}  // namespace warder::manifest
