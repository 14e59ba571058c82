#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "manifest/policy_fragment.h"

namespace warder::manifest {
namespace {

using sandbox::PathAccess;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<PolicyFragment> Parse(const std::string& members) {
  return ParsePolicy(
      R"({"schema": 1, "description": "d")" + (members.empty() ? "" : ", " + members) + "}",
      "p.json", {});
}

PolicyFragment Parsed(const std::string& members) {
  auto policy = Parse(members);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : PolicyFragment();
}

std::string FaultOf(const std::string& members) {
  const auto policy = Parse(members);
  EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument) << members;
  EXPECT_THAT(std::string(policy.status().message()), StartsWith("p.json:"));
  return std::string(policy.status().message());
}

TEST(PolicyParser, AbsentSectionsSayNothing) {
  const PolicyFragment policy = Parsed("");
  EXPECT_FALSE(policy.abstract);
  EXPECT_FALSE(policy.extends.has_value());
  EXPECT_TRUE(policy.grants.empty());
  EXPECT_FALSE(policy.workspace.has_value());
  EXPECT_FALSE(policy.network.has_value());
  EXPECT_FALSE(policy.limits.wall_ms.has_value());
  EXPECT_FALSE(policy.approver.has_value());
}

TEST(PolicyParser, FilesystemSectionBecomesGrantsMasksAndProtectedPaths) {
  const PolicyFragment policy = Parsed(R"("filesystem": {
    "system": [{"paths": ["/usr"], "reason": "s"}],
    "read": [{"paths": ["/opt/a", "/opt/b"], "optional": true, "reason": "r"}],
    "write": [{"paths": ["/srv/cache"], "reason": "w"}],
    "hide": [{"paths": ["/usr/secret"], "reason": "h"}],
    "workspace": {"mode": "overlay", "reason": "o"},
    "protect": [{"paths": [".git/hooks", "..data"], "reason": "p"}]})");
  ASSERT_EQ(policy.grants.size(), 4u);
  EXPECT_EQ(policy.grants[0].path, "/usr");
  EXPECT_FALSE(policy.grants[0].optional);
  EXPECT_EQ(policy.grants[2].path, "/opt/b");
  EXPECT_TRUE(policy.grants[2].optional);
  EXPECT_EQ(policy.grants[3].access, PathAccess::kReadWrite);
  EXPECT_EQ(policy.grants[3].reason, "w");
  ASSERT_EQ(policy.hide.size(), 1u);
  EXPECT_EQ(policy.hide[0].path, "/usr/secret");
  EXPECT_EQ(policy.workspace, sandbox::WorkspaceMode::kOverlay);
  ASSERT_EQ(policy.protect.size(), 2u);
  EXPECT_EQ(policy.protect[1].path, "..data");
}

TEST(PolicyParser, PathsMustBeNormalisedAndOfTheRightKind) {
  for (const char* path : {"", "usr", "/", "/usr/", "//usr", "/usr//lib", "/usr/../etc", "/./usr",
                           "/a\\u0007b", "/proc", "/proc/sys", "/dev/kvm"}) {
    EXPECT_THAT(FaultOf(std::string(R"("filesystem": {"read": [{"paths": [")") + path +
                        R"("], "reason": "r"}]})"),
                HasSubstr("filesystem.read[0].paths: `"))
        << path;
  }
  for (const char* path : {"", "/etc", "..", "../x", "a/../b", "a/", "."}) {
    EXPECT_THAT(FaultOf(std::string(R"("filesystem": {"protect": [{"paths": [")") + path +
                        R"("], "reason": "r"}]})"),
                HasSubstr("filesystem.protect[0].paths: `"))
        << path;
  }
  EXPECT_THAT(FaultOf(R"("filesystem": {"read": [{"paths": [], "reason": "r"}]})"),
              HasSubstr("is empty"));
  EXPECT_THAT(FaultOf(R"("filesystem": {"read": [{"paths": ["/a"], "reason": "r"}],
                                        "write": [{"paths": ["/a"], "reason": "r"}]})"),
              HasSubstr("`/a` is granted twice"));
}

TEST(PolicyParser, EveryRuleNeedsAReason) {
  const std::vector<std::string> rules = {
      R"("filesystem": {"read": [{"paths": ["/a"]}]})",
      R"("filesystem": {"hide": [{"paths": ["/a"]}]})",
      R"("filesystem": {"protect": [{"paths": ["a"]}]})",
      R"("filesystem": {"workspace": {"mode": "overlay"}})",
      R"("network": {"mode": "none"})",
      R"("syscalls": {"allow": [{"calls": ["read"]}]})",
      R"("syscalls": {"deny": [{"calls": ["read"]}]})",
      R"("capabilities": [{"capability": "CAP_CHOWN"}])",
      R"("limits": {"wall_ms": {"max": 5}})",
      R"("environment": {"inherit": {"mode": "all"}})",
      R"("environment": {"baseline": [{"names": ["A"]}]})",
      R"("environment": {"fixed": [{"name": "A", "value": "b"}]})",
      R"("environment": {"readable": {"names": ["A"]}})",
      R"("environment": {"trusted_path_only": {"value": true}})",
      R"("minimum_tier": {"tier": "root"})",
      R"("on_missing_cgroup": {"action": "refuse"})",
      R"("on_missing_landlock": {"action": "refuse"})",
      R"("approval": {"approver": "ask"})",
  };
  for (const std::string& rule : rules) {
    EXPECT_THAT(FaultOf(rule), HasSubstr("reason: is missing")) << rule;
  }
  EXPECT_THAT(FaultOf(R"("network": {"mode": "none", "reason": " \t"})"),
              HasSubstr("must say why"));
}

TEST(PolicyParser, UnknownKeysAreRefusedEverywhere) {
  EXPECT_THAT(FaultOf(R"("netwrok": {})"), HasSubstr("did you mean `network`?"));
  EXPECT_THAT(FaultOf(R"("network": {"mode": "none", "reason": "r", "ports": []})"),
              HasSubstr("unknown key `ports`"));
  EXPECT_THAT(FaultOf(R"("limits": {"wall": {"max": 5, "reason": "r"}})"),
              HasSubstr("unknown key `wall`"));
  EXPECT_THAT(FaultOf(R"("schema": 1)"), HasSubstr("schema"));
}

TEST(PolicyParser, LimitsAreBoundedAndEachHasItsField) {
  std::string all;
  for (const LimitField& field : LimitFields()) {
    const std::string key = std::string("\"") + field.key + "\": {\"reason\": \"r\", \"max\": ";
    EXPECT_THAT(FaultOf("\"limits\": {" + key + std::to_string(field.least - 1) + "}}"),
                HasSubstr(std::string(field.key) + ".max: must be a whole number from"));
    EXPECT_THAT(FaultOf("\"limits\": {" + key + std::to_string(field.most + 1) + "}}"),
                HasSubstr("must be a whole number from"));
    all += (all.empty() ? "" : ", ") + key + std::to_string(field.most) + "}";
  }
  const PolicyFragment policy = Parsed("\"limits\": {" + all + "}");
  for (const LimitField& field : LimitFields()) {
    EXPECT_EQ(policy.limits.*field.member, static_cast<std::uint64_t>(field.most)) << field.key;
  }
}

TEST(PolicyParser, EnvironmentSectionIsReadWhole) {
  const PolicyFragment policy = Parsed(R"("environment": {
    "inherit": {"mode": "all", "reason": "r"},
    "baseline": [{"names": ["PATH", "LC_*"], "reason": "r"}, {"names": ["TZ"], "reason": "r"}],
    "fixed": [{"name": "A", "value": "b", "reason": "r"}],
    "readable": {"names": [], "reason": "r"},
    "loader_names": [{"names": ["NODE_OPTIONS"], "reason": "r"}],
    "trusted_path_only": {"value": true, "reason": "r"}})");
  EXPECT_EQ(policy.inherit_all, true);
  EXPECT_THAT(policy.baseline, ElementsAre("PATH", "LC_*", "TZ"));
  EXPECT_THAT(policy.fixed, ElementsAre(std::pair<std::string, std::string>("A", "b")));
  ASSERT_TRUE(policy.readable.has_value());
  EXPECT_TRUE(policy.readable->empty());
  EXPECT_THAT(policy.loader_names, ElementsAre("NODE_OPTIONS"));
  EXPECT_EQ(policy.trusted_path_only, true);
}

TEST(PolicyParser, NamesOfVariablesAreChecked) {
  for (const char* name : {"", "*", "A=B", "A*B", "A**"}) {
    EXPECT_THAT(FaultOf(std::string(R"("environment": {"baseline": [{"names": [")") + name +
                        R"("], "reason": "r"}]})"),
                HasSubstr("neither a variable's name"))
        << name;
  }
  for (const char* name : {"", "A*", "A=B"}) {
    EXPECT_THAT(FaultOf(std::string(R"("environment": {"fixed": [{"name": ")") + name +
                        R"(", "value": "v", "reason": "r"}]})"),
                HasSubstr("is not a variable's name"))
        << name;
  }
}

TEST(PolicyParser, ChoicesAreClosed) {
  EXPECT_THAT(FaultOf(R"("network": {"mode": "all", "reason": "r"})"),
              HasSubstr(R"("none", "host")"));
  EXPECT_THAT(FaultOf(R"("minimum_tier": {"tier": "none", "reason": "r"})"),
              HasSubstr(R"("landlock", "userns")"));
  EXPECT_THAT(FaultOf(R"("on_missing_cgroup": {"reason": "r"})"), HasSubstr("action: is missing"));
  EXPECT_THAT(FaultOf(R"("approval": {"approver": "nobody", "reason": "r"})"),
              HasSubstr(R"("deny-all")"));
  EXPECT_EQ(Parsed(R"("minimum_tier": {"tier": "root", "reason": "r"})").minimum_tier,
            sandbox::Tier::kRoot);
  EXPECT_EQ(Parsed(R"("on_missing_cgroup": {"action": "degrade", "reason": "r"})").without_cgroup,
            sandbox::OnMissing::kDegrade);
  EXPECT_EQ(
      Parsed(R"("on_missing_landlock": {"action": "degrade", "reason": "r"})").without_landlock,
      sandbox::OnMissing::kDegrade);
  EXPECT_EQ(Parsed(R"("network": {"mode": "host", "reason": "r"})").network,
            sandbox::NetworkMode::kHost);
}

TEST(PolicyParser, ApproverProgramGoesWithItsChoiceOnly) {
  const PolicyFragment policy = Parsed(
      R"("approval": {"approver": "program", "program": ["/usr/bin/ask", "x"], "ask_timeout_ms": 1000, "reason": "r"})");
  EXPECT_EQ(policy.approver, "program");
  EXPECT_THAT(policy.approver_program, ElementsAre("/usr/bin/ask", "x"));
  EXPECT_EQ(policy.ask_timeout_ms, 1000u);
  EXPECT_THAT(FaultOf(R"("approval": {"approver": "program", "reason": "r"})"),
              HasSubstr("and only then"));
  EXPECT_THAT(FaultOf(R"("approval": {"approver": "ask", "program": ["/a"], "reason": "r"})"),
              HasSubstr("and only then"));
  EXPECT_THAT(FaultOf(R"("approval": {"approver": "program", "program": ["ask"], "reason": "r"})"),
              HasSubstr("absolute, normalised path"));
  EXPECT_THAT(FaultOf(R"("approval": {"approver": "ask", "ask_timeout_ms": 0, "reason": "r"})"),
              HasSubstr("from 1000 to 86400000"));
}

TEST(PolicyParser, CapabilitiesAreNamedAsInTheManual) {
  EXPECT_THAT(Parsed(R"("capabilities": [{"capability": "CAP_NET_BIND_SERVICE", "reason": "r"}])")
                  .capabilities,
              ElementsAre("CAP_NET_BIND_SERVICE"));
  for (const char* name : {"chown", "CAP_", "cap_chown", "CAP_chown"}) {
    EXPECT_THAT(FaultOf(std::string(R"("capabilities": [{"capability": ")") + name +
                        R"(", "reason": "r"}])"),
                HasSubstr("must be a name such as"))
        << name;
  }
}

}  // namespace
}  // namespace warder::manifest
