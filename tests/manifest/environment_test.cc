#include "manifest/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/call_fixture.h"

namespace warder::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using warder::testing::SystemPolicy;

std::string Text(const absl::StatusOr<std::vector<Variable>>& variables) {
  if (!variables.ok()) return std::string(variables.status().message());
  std::string text;
  for (const Variable& variable : *variables) {
    text += variable.name + "=" + variable.value + " " + VariableOriginName(variable.origin) +
            (variable.changes_loading ? " loading" : "") + "\n";
  }
  return text;
}

TEST(Environment, BaselinePassesAndSecretsDoNot) {
  const VariableMap inherited = ReadInherited({"PATH=/bin", "HOME=/root", "LC_ALL=C", "LANG=C",
                                               "AWS_SECRET_ACCESS_KEY=x", "SSH_AUTH_SOCK=/run/x"});
  EXPECT_EQ(Text(LayerEnvironment(SystemPolicy(), inherited, {}, {{"A", "1"}})),
            "A=1 manifest\nHOME=/root inherited\nLC_ALL=C inherited\nPATH=/bin inherited\n");
}

TEST(Environment, TrustedPolicyLetsEverythingThroughAndMarksWhatChangesLoading) {
  NamedPolicy policy = SystemPolicy();
  policy.environment.inherit_all = true;
  EXPECT_EQ(Text(LayerEnvironment(policy, ReadInherited({"SECRET=x", "LD_PRELOAD=/x.so"}), {}, {})),
            "LD_PRELOAD=/x.so inherited loading\nSECRET=x inherited\n");
}

TEST(Environment, LaterLayersWinByName) {
  NamedPolicy policy = SystemPolicy();
  policy.environment.baseline = {"*"};
  const VariableMap inherited =
      ReadInherited({"A=inherited", "B=inherited", "C=inherited", "D=inherited"});
  const NamedValues cell = {{"B", "cell"}, {"C", "cell"}, {"D", "cell"}};
  policy.environment.fixed = {{"C", "operator"}, {"D", "operator"}};
  EXPECT_EQ(Text(LayerEnvironment(policy, inherited, cell, {{"D", "manifest"}})),
            "A=inherited inherited\nB=cell cell\nC=operator operator\nD=manifest manifest\n");
}

TEST(Environment, LoaderNameFromAManifestNeedsLeave) {
  NamedPolicy policy = SystemPolicy();
  for (const char* name : {"LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "PYTHONSTARTUP",
                           "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "npm_config_script_shell",
                           "NPM_CONFIG_SCRIPT_SHELL", "_JAVA_OPTIONS"}) {
    const absl::Status status = LayerEnvironment(policy, {}, {}, {{name, "s3cr3t"}}).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << name << " " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    EXPECT_THAT(std::string(status.message()), HasSubstr("policy `test`"));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("environment.loader_names of `/etc/warder/policies/test.json`"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cr3t")));
  }
  policy.environment.loader_names = {"NODE_OPTIONS", "GIT_*"};
  EXPECT_EQ(Text(LayerEnvironment(policy, {}, {}, {{"NODE_OPTIONS", "-x"}, {"GIT_SSH", "ssh"}})),
            "GIT_SSH=ssh manifest loading\nNODE_OPTIONS=-x manifest loading\n");
  EXPECT_TRUE(
      absl::IsPermissionDenied(LayerEnvironment(policy, {}, {}, {{"LD_PRELOAD", "x"}}).status()));
}

TEST(Environment, LoaderNamesOfTheOperatorNeedNoLeave) {
  NamedPolicy policy = SystemPolicy();
  policy.environment.fixed = {{"PAGER", "cat"}};
  EXPECT_EQ(Text(LayerEnvironment(policy, {}, {}, {})), "PAGER=cat operator loading\n");
}

TEST(Environment, OrdinaryNamesDoNotChangeLoading) {
  for (const char* name : {"", "A", "PATH", "HOME", "LANG", "LD", "PYTHONUNBUFFERED", "NODE_ENV",
                           "GIT_DIR", "ENVIRONMENT", "TOKEN"}) {
    EXPECT_FALSE(ChangesLoading(name)) << name;
  }
  for (const char* name : {"LD_", "LD_LIBRARY_PATH", "ENV", "GLIBC_TUNABLES", "BASH_FUNC_ls%%"}) {
    EXPECT_TRUE(ChangesLoading(name)) << name;
  }
}

TEST(Environment, LoaderNamesHoldNoNameTwiceAndNoStarInTheMiddle) {
  std::string all = " ";
  for (const std::string_view name : LoaderNames()) {
    EXPECT_THAT(all, Not(HasSubstr(" " + std::string(name) + " ")));
    EXPECT_TRUE(name.find('*') == std::string_view::npos || name.find('*') == name.size() - 1)
        << name;
    all += std::string(name) + " ";
  }
}

TEST(Environment, ImpossibleNamesAndValuesAreRefused) {
  const NamedPolicy policy = SystemPolicy();
  for (const NamedValues& values :
       {NamedValues{{"", "v"}}, NamedValues{{"A=B", "v"}},
        NamedValues{{std::string("A\0B", 3), "v"}}, NamedValues{{"A", std::string("v\0w", 3)}},
        NamedValues{{"A", "1"}, {"A", "2"}}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(LayerEnvironment(policy, {}, {}, values).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(LayerEnvironment(policy, {}, values, {}).status()));
  }
}

TEST(Environment, InheritedEntriesAreReadAsGetenvReadsThem) {
  const VariableMap inherited = ReadInherited({"A=1", "A=2", "nothing", "=x", "B=", "C=a=b"});
  EXPECT_EQ(inherited, (VariableMap{{"A", "1"}, {"B", ""}, {"C", "a=b"}}));
}

TEST(Environment, NamePatternsMatchPrefixes) {
  EXPECT_TRUE(NameMatches("LC_*", "LC_ALL"));
  EXPECT_TRUE(NameMatches("*", "X"));
  EXPECT_FALSE(NameMatches("LC_*", "LC"));
  EXPECT_FALSE(NameMatches("PATH", "PATHX"));
  EXPECT_FALSE(NameMatches("path", "PATH"));
}

TEST(VariableReader, ReadsAnyVariableUnlessThePolicyRestrictsIt) {
  const NamedPolicy policy = SystemPolicy();
  const VariableMap inherited = ReadInherited({"TOK=v", "B=w"});
  VariableReader reader(inherited, policy);
  EXPECT_EQ(*reader.Expand("${B}-${TOK}-${B}", "command[1]"), "w-v-w");
  EXPECT_EQ(*reader.Expand("${NONE:-d}${TOK}", "command[2]"), "dv");
  EXPECT_THAT(reader.names(), ElementsAre("B", "TOK", "NONE"));
}

TEST(VariableReader, UnreadableVariableIsRefusedEvenWithADefault) {
  NamedPolicy policy = SystemPolicy();
  policy.environment.readable = {"HOME", "CI_*"};
  const VariableMap inherited = ReadInherited({"TOK=s3cr3t", "HOME=/h", "CI_JOB=7"});
  VariableReader reader(inherited, policy);
  EXPECT_EQ(*reader.Expand("${HOME}/${CI_JOB}", "cwd"), "/h/7");
  for (const char* text : {"${TOK}", "${TOK:-d}", "${UNSET_TOO:-d}"}) {
    const absl::Status status = reader.Expand(text, "env: `K`").status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << text << " " << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("env: `K`: policy `test` does not let a manifest read variable"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("environment.readable"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cr3t")));
  }
}

TEST(VariableReader, UnsetVariableIsNamedWithItsField) {
  const NamedPolicy policy = SystemPolicy();
  const VariableMap inherited;
  VariableReader reader(inherited, policy);
  const absl::Status status = reader.Expand("x${NOPE}y", "command[3]").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("command[3]: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("NOPE"));
  EXPECT_THAT(reader.names(), IsEmpty());
}

}  // namespace
}  // namespace warder::manifest
