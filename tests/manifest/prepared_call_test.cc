#include "manifest/prepared_call.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "manifest/digest.h"
#include "manifest/environment.h"
#include "tests/support/call_fixture.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using warder::testing::ContentOf;
using warder::testing::SystemPolicy;
using warder::testing::TempTree;
using warder::testing::ToolWith;
using warder::testing::WorkspaceAt;

class Preparing : public ::testing::Test {
 protected:
  absl::StatusOr<PreparedCall> Prepare(const ToolSpec& tool, std::string input = "{}") {
    return PrepareCall(tool, Context(), std::move(input));
  }
  absl::StatusOr<PreparedCall> Command(const std::vector<std::string>& argv,
                                       const std::string& cwd = "") {
    return PrepareCommand(argv, cwd, Context());
  }
  CallContext Context() const { return {&workspace_, &policy_, inherited_, cell_variables_}; }
  std::string Refusal(const ToolSpec& tool, absl::StatusCode code, std::string input = "{}") {
    const absl::Status status = Prepare(tool, std::move(input)).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("tool `t`: "));
    return std::string(status.message());
  }

  TempTree tree_;
  TempTree outside_;
  Workspace workspace_ = WorkspaceAt(tree_.path());
  NamedPolicy policy_ = SystemPolicy();
  std::vector<std::string> inherited_ = {"PATH=/usr/bin:/bin", "HOME=/home/dev", "TOK=s3cr3t"};
  NamedValues cell_variables_ = {{"HOME", "/home/cell"}, {"TMPDIR", "/tmp"}};
};

const Variable* Find(const PreparedCall& call, const std::string& name) {
  for (const Variable& variable : call.environment) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

TEST_F(Preparing, InputIsUsedByteForByte) {
  const std::string input = " {\"b\":1.0,  \"a\":[ ]}\n";
  const absl::StatusOr<PreparedCall> call = Prepare(ToolWith({"/bin/cat"}), input);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->input, input);
  EXPECT_EQ(call->input_digest, Digest(input));
}

TEST_F(Preparing, NoInputIsAnEmptyObject) {
  const absl::StatusOr<PreparedCall> call = Prepare(ToolWith({"/bin/cat"}), "");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->input, "{}");
  EXPECT_EQ(call->input_digest, Digest("{}"));
}

TEST_F(Preparing, InputThatIsNoObjectIsRefused) {
  for (const char* input :
       {"[]", "\"{}\"", "1", "null", " ", "{\"a\":1,\"a\":2}", "{} {}", "{'a':1}"}) {
    Refusal(ToolWith({"/bin/cat"}), absl::StatusCode::kInvalidArgument, input);
  }
  EXPECT_THAT(Refusal(ToolWith({"/bin/cat"}), absl::StatusCode::kInvalidArgument, "\"{}\""),
              HasSubstr("input: must be a JSON object, not string"));
}

TEST_F(Preparing, InputIsCheckedAgainstTheSchema) {
  EXPECT_THAT(Refusal(ToolWith({"/bin/cat"}), absl::StatusCode::kInvalidArgument,
                      R"({"refused":"s3cr3t"})"),
              HasSubstr("input: `/refused`"));
}

TEST_F(Preparing, ToolWithoutACompiledSchemaIsNeverRun) {
  ToolSpec tool = ToolWith({"/bin/cat"});
  tool.input_schema = nullptr;
  Refusal(tool, absl::StatusCode::kInternal);
}

TEST_F(Preparing, RelativeProgramIsTheWorkspaceRootsAlsoWithACwd) {
  const std::string root = tree_.Script("bin/t", "#!/bin/sh\necho root\n");
  tree_.Script("sub/bin/t", "#!/bin/sh\necho sub\n");
  ToolSpec tool = ToolWith({"./bin/t"});
  tool.cwd = "sub";
  ASSERT_EQ(chdir("/"), 0);
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->files.back().path, root);
  EXPECT_EQ(call->cwd_path, tree_.At("sub"));
  EXPECT_THAT(call->argv, ElementsAre("/bin/sh", root));
  EXPECT_THAT(call->shown_argv, ElementsAre("./bin/t"));
}

TEST_F(Preparing, WordsOfOtherTemplatesArriveUnchanged) {
  const std::vector<std::string> command = {"/bin/echo", "{{ .name }}", "UTCP_ARG_name_UTCP_END",
                                            "$(id)",     "a;b",         "$HOME"};
  const absl::StatusOr<PreparedCall> call = Prepare(ToolWith(command), R"({"name":"x"})");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->argv, command);
  EXPECT_FALSE(call->argv_holds_variables);
  EXPECT_THAT(call->variables_read, IsEmpty());
}

TEST_F(Preparing, CwdIsTheWorkspaceRootUnlessTheToolSaysOtherwise) {
  tree_.Directory("sub");
  tree_.Link("link", "sub");
  ToolSpec tool = ToolWith({"/bin/cat"});
  struct stat root = {};
  ASSERT_EQ(stat(tree_.path().c_str(), &root), 0);
  absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->cwd_path, tree_.path());
  EXPECT_EQ(call->cwd_inode, root.st_ino);
  tool.cwd = "link/.";
  call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->cwd_path, tree_.At("sub"));
  EXPECT_NE(call->cwd_inode, root.st_ino);
}

TEST_F(Preparing, CwdIsJudgedByWhatItLeadsTo) {
  tree_.Write("file", "x");
  tree_.Link("escape", outside_.path());
  ToolSpec tool = ToolWith({"/bin/cat"});
  tool.cwd = "sub\\dir";
  EXPECT_THAT(Refusal(tool, absl::StatusCode::kNotFound),
              HasSubstr("cwd: `sub\\dir`: does not exist"));
  tool.cwd = "file";
  EXPECT_THAT(Refusal(tool, absl::StatusCode::kInvalidArgument), HasSubstr("is not a directory"));
  for (const std::string& cwd : {std::string("escape"), outside_.path(), std::string("..")}) {
    tool.cwd = cwd;
    EXPECT_THAT(Refusal(tool, absl::StatusCode::kPermissionDenied),
                HasSubstr("policy `test` does not let a cell see"));
  }
  policy_.confinement.filesystem.grants.push_back(
      {outside_.path(), sandbox::PathAccess::kRead, false, "test"});
  tool.cwd = "escape";
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->cwd_path, outside_.path());
}

TEST_F(Preparing, VariablesExpandOnceIntoTheRecord) {
  inherited_.push_back("NESTED=${TOK}");
  tree_.Directory("v");
  inherited_.push_back("DIR=v");
  ToolSpec tool = ToolWith({"/bin/echo", "--token", "${TOK}", "${NESTED}"});
  tool.cwd = "${DIR}";
  tool.env = {{"K", "${TOK}-${UNSET:-none}"}};
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_THAT(call->argv, ElementsAre("/bin/echo", "--token", "s3cr3t", "${TOK}"));
  EXPECT_THAT(call->command_with_variables,
              ElementsAre("/bin/echo", "--token", "${TOK}", "${NESTED}"));
  EXPECT_THAT(call->variables_read, ElementsAre("TOK", "NESTED", "DIR", "UNSET"));
  EXPECT_TRUE(call->argv_holds_variables);
  EXPECT_EQ(call->cwd_path, tree_.At("v"));
  ASSERT_NE(Find(*call, "K"), nullptr);
  EXPECT_EQ(Find(*call, "K")->value, "s3cr3t-none");
  EXPECT_EQ(Find(*call, "TOK"), nullptr);
}

TEST_F(Preparing, VariableOnlyInEnvLeavesArgvFreeOfSecrets) {
  ToolSpec tool = ToolWith({"/bin/cat"});
  tool.env = {{"K", "${TOK}"}};
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_FALSE(call->argv_holds_variables);
  EXPECT_THAT(call->variables_read, ElementsAre("TOK"));
}

TEST_F(Preparing, ManifestReadsTheSupervisorsHomeAndTheToolGetsTheCells) {
  ToolSpec tool = ToolWith({"/bin/echo", "${HOME}"});
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->argv[1], "/home/dev");
  EXPECT_EQ(Find(*call, "HOME")->value, "/home/cell");
  EXPECT_EQ(Find(*call, "HOME")->origin, VariableOrigin::kCell);
}

TEST_F(Preparing, PathFromTheManifestIsTheOneThatIsSearched) {
  tree_.Script("node/bin/mytool", "#!/bin/sh\n");
  ToolSpec tool = ToolWith({"mytool"});
  EXPECT_THAT(Refusal(tool, absl::StatusCode::kNotFound),
              HasSubstr("looked up in PATH (`/usr/bin`"));
  tool.env = {{"PATH", tree_.At("node/bin") + ":${PATH}"}};
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->files.back().path, tree_.At("node/bin/mytool"));
}

TEST_F(Preparing, NoRefusalHoldsAVariablesValue) {
  policy_.environment.readable = std::nullopt;
  std::vector<ToolSpec> tools;
  for (const char* word : {"${TOK}", "/${TOK}/x", "./${TOK}", "${TOK}\r", "/proc/self/${TOK}"}) {
    tools.push_back(ToolWith({word}));
  }
  tools.push_back(ToolWith({"/bin/cat"}));
  tools.back().cwd = "${TOK}";
  tools.push_back(ToolWith({"nope"}));
  tools.back().env = {{"PATH", "/${TOK}:${TOK}:/usr/bin/${TOK}"}};
  tools.push_back(ToolWith({"/bin/cat"}));
  tools.back().env = {{"LD_PRELOAD", "${TOK}"}};
  tools.push_back(ToolWith({"/bin/cat", "${TOK}", "${UNSET}"}));
  for (const ToolSpec& tool : tools) {
    const absl::Status status = Prepare(tool).status();
    EXPECT_FALSE(status.ok()) << tool.command[0];
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cr3t")));
  }
}

TEST_F(Preparing, RestrictedVariableIsRefusedByNameInAnyField) {
  policy_.environment.readable = {"HOME"};
  ToolSpec tool = ToolWith({"/bin/cat"});
  tool.env = {{"K", "${TOK:-x}"}};
  EXPECT_THAT(Refusal(tool, absl::StatusCode::kPermissionDenied),
              HasSubstr("env: `K`: policy `test` does not let a manifest read variable `TOK`"));
}

TEST_F(Preparing, LoaderVariableWithoutLeaveIsRefusedBeforeAnyoneIsAsked) {
  ToolSpec tool = ToolWith({"/usr/bin/env"});
  tool.env = {{"LD_PRELOAD", "./y.so"}};
  EXPECT_THAT(Refusal(tool, absl::StatusCode::kPermissionDenied),
              HasSubstr("env: `LD_PRELOAD` changes what programs load"));
  policy_.environment.loader_names = {"LD_PRELOAD"};
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_TRUE(Find(*call, "LD_PRELOAD")->changes_loading);
}

TEST_F(Preparing, EmptyProgramIsRefused) {
  EXPECT_THAT(Refusal(ToolWith({"${UNSET:-}", "x"}), absl::StatusCode::kInvalidArgument),
              HasSubstr("command[0]"));
  Refusal(ToolWith({}), absl::StatusCode::kInvalidArgument);
}

TEST_F(Preparing, ScriptOverwrittenOrReplacedAfterwardsIsNotWhatIsHeld) {
  const std::string old = "#!/bin/sh\necho old\n";
  const std::string path = tree_.Script("t", old);
  const absl::StatusOr<PreparedCall> call = Prepare(ToolWith({"./t"}));
  ASSERT_TRUE(call.ok()) << call.status();
  tree_.Script("t", "#!/bin/sh\necho evil\n");
  std::filesystem::rename(tree_.Script("evil", "#!/bin/sh\necho worse\n"), path);
  EXPECT_TRUE(call->files.back().copied);
  EXPECT_EQ(ContentOf(call->files.back().fd.get()), old);
  EXPECT_EQ(call->files.back().digest, Digest(old));
}

TEST_F(Preparing, WorkspaceIsHeldByItsOwnDescriptor) {
  const absl::StatusOr<PreparedCall> call = Prepare(ToolWith({"/bin/cat"}));
  ASSERT_TRUE(call.ok()) << call.status();
  struct stat held = {};
  ASSERT_EQ(fstat(call->workspace_fd.get(), &held), 0);
  EXPECT_NE(call->workspace_fd.get(), workspace_.fd.get());
  EXPECT_EQ(held.st_ino, workspace_.inode);
  EXPECT_EQ(call->workspace_path, tree_.path());
}

TEST_F(Preparing, TimeoutIsCutByThePolicy) {
  ToolSpec tool = ToolWith({"/bin/cat"});
  tool.timeout_ms = 5000;
  EXPECT_EQ(Prepare(tool)->timeout_ms, 5000);
  policy_.confinement.limits.wall_ms = 1000;
  EXPECT_EQ(Prepare(tool)->timeout_ms, 1000);
  tool.timeout_ms = 500;
  EXPECT_EQ(Prepare(tool)->timeout_ms, 500);
}

TEST_F(Preparing, WordsTooLongForTheKernelAreRefused) {
  Refusal(ToolWith({"/bin/echo", std::string(131072, 'a')}), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Prepare(ToolWith({"/bin/echo", std::string(131071, 'a')})).ok());
  std::vector<std::string> many(21, std::string(110'000, 'a'));
  many.front() = "/bin/echo";
  Refusal(ToolWith(many), absl::StatusCode::kResourceExhausted);
}

TEST_F(Preparing, EnvironmentIsSortedAndEachNameIsThereOnce) {
  inherited_.push_back("LC_ALL=C");
  ToolSpec tool = ToolWith({"/bin/cat"});
  tool.env = {{"Z", "1"}, {"A", "2"}};
  const absl::StatusOr<PreparedCall> call = Prepare(tool);
  ASSERT_TRUE(call.ok()) << call.status();
  std::vector<std::string> names;
  for (const Variable& variable : call->environment) names.push_back(variable.name);
  EXPECT_THAT(names, ElementsAre("A", "HOME", "LC_ALL", "PATH", "TMPDIR", "Z"));
}

TEST_F(Preparing, OperatorsCommandIsTakenAsItIs) {
  inherited_.push_back("UNSET_IS_FINE=x");
  const absl::StatusOr<PreparedCall> call = Command({"echo", "${TOK}", "$HOME"});
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_THAT(call->argv, ElementsAre("echo", "${TOK}", "$HOME"));
  EXPECT_EQ(call->tool.name, "exec");
  EXPECT_EQ(call->tool.side_effect, SideEffect::kProcess);
  EXPECT_EQ(call->input, "");
  EXPECT_EQ(call->input_digest, Digest(""));
  EXPECT_EQ(call->cwd_path, tree_.path());
  EXPECT_FALSE(call->argv_holds_variables);
}

TEST_F(Preparing, RelativeProgramOfACommandIsTheCwds) {
  tree_.Script("bin/t", "#!/bin/sh\necho root\n");
  const std::string sub = tree_.Script("sub/bin/t", "#!/bin/sh\necho sub\n");
  const absl::StatusOr<PreparedCall> call = Command({"./bin/t"}, tree_.At("sub"));
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->files.back().path, sub);
  EXPECT_EQ(call->cwd_path, tree_.At("sub"));
}

TEST_F(Preparing, CommandLinesDifferByTheirDigest) {
  const absl::StatusOr<PreparedCall> one = Command({"echo", "a b"});
  const absl::StatusOr<PreparedCall> two = Command({"echo", "a", "b"});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->tool.entry_digest, two->tool.entry_digest);
}

TEST_F(Preparing, CommandLineWithoutAProgramIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Command({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Command({""}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Command({std::string("a\0b", 3)}).status()));
  const absl::Status missing = Command({"no-such-program"}).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()),
              HasSubstr("command line: program: `no-such-program`"));
}

}  // namespace
}  // namespace warder::manifest
