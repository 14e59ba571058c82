#include "supervisor/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using approval::RefusalCode;
using ::testing::HasSubstr;
using Prepared = std::variant<manifest::PreparedCall, Rejection>;

std::string Manifest(const std::string& tools) {
  return "{\"schema\": 1, \"tools\": {" + tools + "}}";
}

std::string Tool(const std::string& name, const std::string& more) {
  return "\"" + name +
         "\": {\"description\": \"A tool.\", \"input_schema\": {\"type\": \"object\"}, " + more +
         "}";
}

class ResolveTest : public ::testing::Test {
 protected:
  ResolveTest() {
    config_.config_dir = tree_.Directory("config");
    config_.share_dir = WARDER_SHARE_DIR;
    auto workspace = manifest::OpenWorkspace(tree_.Directory("workspace"));
    EXPECT_TRUE(workspace.ok()) << workspace.status();
    workspace_ = *std::move(workspace);
    config_.workspaces = {workspace_.path};
    parts_.config = &config_;
    parts_.workspace = &workspace_;
    parts_.environment = {"PATH=/usr/bin:/bin", "TOKEN=s3cr3t"};
    request_.tool = "t";
    request_.requester.via = "cli call";
  }

  void Declare(const std::string& more) {
    tree_.Write("workspace/.basis/tools.json", Manifest(Tool("t", more)));
  }

  Rejection Rejected() {
    auto prepared = PrepareRequest(parts_, request_);
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    if (!prepared.ok()) return {};
    auto* rejection = std::get_if<Rejection>(&*prepared);
    EXPECT_NE(rejection, nullptr);
    return rejection == nullptr ? Rejection{} : *rejection;
  }

  warder::testing::TempTree tree_;
  manifest::Config config_;
  manifest::Workspace workspace_;
  SupervisorParts parts_;
  CallRequest request_;
};

TEST_F(ResolveTest, TheGlobalManifestAddsToolsAndTheWorkspaceComesFirst) {
  tree_.Write("config/tools.json", Manifest(Tool("t", R"("command": ["/bin/false"])") + "," +
                                            Tool("u", R"("command": ["/bin/true"])")));
  Declare(R"("command": ["/bin/true"])");
  const auto catalog = LoadTools(config_, workspace_);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ASSERT_NE(catalog->Find("u"), nullptr);
  EXPECT_EQ(catalog->Find("t")->command.front(), "/bin/true");
}

TEST_F(ResolveTest, AGlobalManifestThatOthersMayWriteIsRefusedByName) {
  const std::string path =
      tree_.Write("config/tools.json", Manifest(Tool("u", R"("command": ["/bin/true"])")), 0666);
  const auto catalog = LoadTools(config_, workspace_);
  EXPECT_TRUE(absl::IsPermissionDenied(catalog.status())) << catalog.status();
  EXPECT_THAT(std::string(catalog.status().message()), HasSubstr(path));
}

TEST_F(ResolveTest, AnAbstractPolicyIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ChoosePolicy(config_, "base", {}).status()));
}

TEST_F(ResolveTest, ABrokenPolicyIsAFaultAndNotARefusal) {
  Declare(R"("command": ["/bin/true"])");
  tree_.Write("config/policies/mine.json", "{\"schema\": 1,,}");
  request_.policy = "mine";
  const auto prepared = PrepareRequest(parts_, request_);
  EXPECT_TRUE(absl::IsInvalidArgument(prepared.status())) << prepared.status();
}

TEST_F(ResolveTest, NoBindingMeansNoRun) {
  Declare(R"("command": ["/bin/true"])");
  tree_.Write(
      "config/bindings.json",
      R"({"schema": 1, "bindings": [{"tool": "other", "policy": "default", "reason": "r"}]})");
  EXPECT_EQ(Rejected().refusal.code, RefusalCode::kNoPolicy);
}

TEST_F(ResolveTest, AVariableThatIsNotSetIsRefusedAndNotCalledAMissingProgram) {
  Declare(R"("command": ["/bin/echo", "${NOT_SET_ANYWHERE}"])");
  request_.policy = "trusted";
  const Rejection rejection = Rejected();
  EXPECT_EQ(rejection.refusal.code, RefusalCode::kNotRunnable);
  EXPECT_TRUE(std::holds_alternative<Refused>(rejection.ending));
  EXPECT_THAT(rejection.refusal.reason, HasSubstr("NOT_SET_ANYWHERE"));
}

TEST_F(ResolveTest, NoValueOfAVariableIsInARefusal) {
  Declare(R"("command": ["/no/such/${TOKEN}"])");
  request_.policy = "trusted";
  EXPECT_EQ(Rejected().refusal.reason.find("s3cr3t"), std::string::npos);
}

TEST_F(ResolveTest, AWindowsProgramPathCouldNotStartAndIsShownAsItIs) {
  Declare(R"("command": ["C:\\Program Files\\nodejs\\node.exe", "-v"])");
  const Rejection rejection = Rejected();
  EXPECT_TRUE(std::holds_alternative<CouldNotStart>(rejection.ending));
  EXPECT_THAT(rejection.refusal.reason, HasSubstr("PATH"));
}

TEST_F(ResolveTest, AManifestsOwnPwdIsKept) {
  Declare(R"("command": ["/bin/true"], "env": {"PWD": "/mine"})");
  auto prepared = PrepareRequest(parts_, request_);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const auto& call = std::get<manifest::PreparedCall>(*prepared);
  int seen = 0;
  for (const manifest::Variable& variable : call.environment) {
    if (variable.name != "PWD") continue;
    ++seen;
    EXPECT_EQ(variable.value, "/mine");
  }
  EXPECT_EQ(seen, 1);
}

TEST_F(ResolveTest, ACommandLineRunsInTheDirectoryThatItNames) {
  request_.command = {"/bin/true"};
  request_.requester.via = "cli exec";
  request_.cwd = tree_.Directory("workspace/sub");
  auto prepared = PrepareRequest(parts_, request_);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const auto& call = std::get<manifest::PreparedCall>(*prepared);
  EXPECT_EQ(call.cwd_path, request_.cwd);
  EXPECT_EQ(call.tool.name, "exec");
}

}  // namespace
}  // namespace warder::supervisor
