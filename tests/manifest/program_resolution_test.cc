#include "manifest/program_resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "manifest/digest.h"
#include "tests/support/call_fixture.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using warder::testing::ContentOf;
using warder::testing::SystemPolicy;
using warder::testing::TempTree;
using warder::testing::WorkspaceAt;

const std::string& RealSh() {
  static const std::string path = std::filesystem::canonical("/bin/sh");
  return path;
}

class ProgramResolution : public ::testing::Test {
 protected:
  absl::StatusOr<ResolvedProgram> Resolve(std::vector<std::string> argv,
                                          std::string search_path = "/usr/bin:/bin") {
    ProgramRequest request;
    request.shown = argv.front();
    request.argv = std::move(argv);
    request.field = "command[0]";
    request.base_fd = workspace_.fd.get();
    request.base_path = workspace_.path;
    request.search_path = std::move(search_path);
    return ResolveProgram(request, CellView(workspace_, policy_));
  }
  std::string Refusal(std::vector<std::string> argv, absl::StatusCode code,
                      std::string search_path = "/usr/bin:/bin") {
    const absl::Status status = Resolve(std::move(argv), std::move(search_path)).status();
    EXPECT_EQ(status.code(), code) << status;
    return std::string(status.message());
  }
  void Grant(const std::string& path) {
    policy_.confinement.filesystem.grants.push_back(
        {path, sandbox::PathAccess::kRead, false, "test"});
  }

  TempTree tree_;
  TempTree outside_;
  Workspace workspace_ = WorkspaceAt(tree_.path());
  NamedPolicy policy_ = SystemPolicy();
};

TEST_F(ProgramResolution, AbsolutePathIsShownByItsRealPathAndKeepsItsWord) {
  const absl::StatusOr<ResolvedProgram> program = Resolve({"/bin/sh", "-c", "true"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->argv, ElementsAre("/bin/sh", "-c", "true"));
  ASSERT_EQ(program->files.size(), 1u);
  EXPECT_EQ(program->files[0].path, RealSh());
  EXPECT_EQ(program->files[0].written, "/bin/sh");
  EXPECT_EQ(program->files[0].role, FileRole::kProgram);
}

TEST_F(ProgramResolution, RelativePathStartsFromTheBase) {
  tree_.Link("bin/t", "/bin/sh");
  const absl::StatusOr<ResolvedProgram> program = Resolve({"./bin/t", "x"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->argv, ElementsAre("./bin/t", "x"));
  EXPECT_EQ(program->files[0].path, RealSh());
}

TEST_F(ProgramResolution, BareNameIsLookedUpInPath) {
  const absl::StatusOr<ResolvedProgram> program = Resolve({"sh"}, "/nowhere:.::relative:/usr/bin");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->argv, ElementsAre("sh"));
  EXPECT_EQ(program->files[0].path, RealSh());
}

TEST_F(ProgramResolution, MissingBareNameNamesTheDirectoriesSearched) {
  const std::string message =
      Refusal({"mytool"}, absl::StatusCode::kNotFound, "/usr/bin:/s3cr3t-in-a-path:bin:/bin");
  EXPECT_THAT(message, HasSubstr("command[0]: `mytool`: this name has no '/'"));
  EXPECT_THAT(message, HasSubstr("`/usr/bin`"));
  EXPECT_THAT(message, HasSubstr("1 that are no directories"));
  EXPECT_THAT(message, HasSubstr("1 relative ones skipped"));
  EXPECT_THAT(message, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(Refusal({"sh"}, absl::StatusCode::kNotFound, ""),
              HasSubstr("no directory to search"));
}

TEST_F(ProgramResolution, WindowsPathIsABareNameAndNothingIsConverted) {
  tree_.Script("C:/Program Files/nodejs/node.exe", "#!/bin/sh\n");
  const std::string message =
      Refusal({"C:\\Program Files\\nodejs\\node.exe", "-v"}, absl::StatusCode::kNotFound);
  EXPECT_THAT(message, HasSubstr("`C:\\Program Files\\nodejs\\node.exe`: this name has no '/'"));
}

TEST_F(ProgramResolution, DirectoryOnThePathOfTheToolMakesItWork) {
  tree_.Script(".nvm/bin/mytool", "#!/bin/sh\n");
  EXPECT_TRUE(absl::IsNotFound(Resolve({"mytool"}).status()));
  EXPECT_TRUE(Resolve({"mytool"}, tree_.At(".nvm/bin") + ":/usr/bin").ok());
}

TEST_F(ProgramResolution, FileThatCannotBeStartedDoesNotEndTheSearch) {
  tree_.Write("a/sh", "not executable", 0644);
  tree_.Directory("b/sh");
  const absl::StatusOr<ResolvedProgram> program =
      Resolve({"sh"}, tree_.At("a") + ":" + tree_.At("b") + ":/bin");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->files[0].path, RealSh());
  EXPECT_THAT(Refusal({"sh"}, absl::StatusCode::kPermissionDenied, tree_.At("a")),
              HasSubstr("not executable"));
}

TEST_F(ProgramResolution, DirectoryThatOthersMayChangeIsSkippedUnderATrustedPath) {
  tree_.Script("planted/sh", "#!/bin/echo planted\n");
  tree_.Directory("planted", 0777);
  const std::string path = tree_.At("planted") + ":/usr/bin";
  EXPECT_EQ(Resolve({"sh"}, path)->files.size(), 2u);
  policy_.environment.trusted_path_only = true;
  const absl::StatusOr<ResolvedProgram> program = Resolve({"sh"}, path);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->files[0].path, RealSh());
  EXPECT_THAT(
      Refusal({"no-such-program"}, absl::StatusCode::kNotFound, path),
      HasSubstr("trusts only directories that root alone can change: `" + tree_.At("planted")));
}

TEST_F(ProgramResolution, ProgramOutsideTheViewIsRefusedByItsRealPath) {
  const std::string path = outside_.Script("t", "#!/bin/sh\n");
  EXPECT_THAT(Refusal({path}, absl::StatusCode::kPermissionDenied),
              HasSubstr("policy `test` does not let a cell see `" + path + "`"));
  tree_.Link("bin/t", path);
  EXPECT_THAT(Refusal({"bin/t"}, absl::StatusCode::kPermissionDenied),
              HasSubstr("see `" + path + "`"));
  const std::string up = "../" + std::filesystem::path(outside_.path()).filename().native() + "/t";
  EXPECT_THAT(Refusal({up}, absl::StatusCode::kPermissionDenied), HasSubstr("see `" + path + "`"));
  EXPECT_THAT(Refusal({"t"}, absl::StatusCode::kPermissionDenied, outside_.path()),
              HasSubstr("see `" + path + "`"));
  Grant(outside_.path());
  EXPECT_TRUE(Resolve({path}).ok());
  EXPECT_TRUE(Resolve({"bin/t"}).ok());
}

TEST_F(ProgramResolution, LinkOutsideTheViewIsRefusedThoughItsTargetIsSeen) {
  const std::string link = outside_.Link(".venv/bin/python3", "/bin/sh");
  EXPECT_THAT(Refusal({link, "srv.py"}, absl::StatusCode::kPermissionDenied),
              HasSubstr("see `" + link + "`"));
  Grant(outside_.path());
  const absl::StatusOr<ResolvedProgram> program = Resolve({link, "srv.py"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->files[0].path, RealSh());
  EXPECT_THAT(program->argv, ElementsAre(link, "srv.py"));
}

TEST_F(ProgramResolution, EachLinkOfAChainMustBeSeen) {
  const std::string middle = outside_.Link("middle", "/bin/sh");
  tree_.Link("first", middle);
  EXPECT_THAT(Refusal({"./first"}, absl::StatusCode::kPermissionDenied),
              HasSubstr("see `" + middle + "`"));
}

TEST_F(ProgramResolution, PathsOfProcAreRefused) {
  for (const char* path : {"/proc/self/exe", "/proc/self/root/bin/sh", "/dev/fd/3"}) {
    EXPECT_THAT(Refusal({path}, absl::StatusCode::kInvalidArgument), HasSubstr("/proc"));
  }
  tree_.Link("t", "/proc/self/exe");
  Refusal({"./t"}, absl::StatusCode::kInvalidArgument);
}

TEST_F(ProgramResolution, MissingRelativeProgramNamesTheDirectoryItStartedFrom) {
  const std::string message = Refusal({"./nope"}, absl::StatusCode::kNotFound);
  EXPECT_THAT(message,
              HasSubstr("command[0]: `./nope` (from `" + tree_.path() + "`): does not exist"));
}

TEST_F(ProgramResolution, ScriptRunsByItsInterpreterAsTheKernelWouldBuildIt) {
  const std::string script = tree_.Script("bin/real.sh", "#!/bin/sh -eu\necho \"$1\"\n");
  tree_.Link("bin/t", "real.sh");
  const absl::StatusOr<ResolvedProgram> program = Resolve({"bin/t", "a;b", "$(id)"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->argv, ElementsAre("/bin/sh", "-eu", script, "a;b", "$(id)"));
  ASSERT_EQ(program->files.size(), 2u);
  EXPECT_EQ(program->files[0].role, FileRole::kInterpreter);
  EXPECT_EQ(program->files[0].path, RealSh());
  EXPECT_EQ(program->files[0].written, "/bin/sh");
  EXPECT_EQ(program->files[1].role, FileRole::kProgram);
  EXPECT_EQ(program->files[1].path, script);
  EXPECT_EQ(program->files[1].written, "bin/t");
  EXPECT_TRUE(program->files[1].copied);
}

TEST_F(ProgramResolution, InterpreterThatIsAScriptIsFollowedToo) {
  const std::string one = tree_.Script("one", "#!/bin/sh -e\n");
  const std::string two = tree_.Script("two", "#!" + one + " a b\n");
  const std::string three = tree_.Script("three", "#! " + two + "\n");
  const absl::StatusOr<ResolvedProgram> program = Resolve({"./three", "x"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->argv, ElementsAre("/bin/sh", "-e", one, "a b", two, three, "x"));
  ASSERT_EQ(program->files.size(), 4u);
  EXPECT_EQ(program->files[1].path, one);
  EXPECT_EQ(program->files[1].role, FileRole::kInterpreter);
  EXPECT_EQ(program->files[3].path, three);
}

TEST_F(ProgramResolution, AsManyScriptsInARowAsTheKernelTakes) {
  std::string interpreter = "/bin/echo";
  for (std::size_t i = 1; i <= kMaxScripts; ++i) {
    interpreter = tree_.Script(absl::StrFormat("s%d", i), absl::StrFormat("#!%s\n", interpreter));
  }
  EXPECT_TRUE(Resolve({interpreter}).ok());
  const std::string last = tree_.Script("last", "#!" + interpreter + "\n");
  EXPECT_THAT(Refusal({last}, absl::StatusCode::kInvalidArgument),
              HasSubstr("more than 5 scripts"));
  const std::string own = tree_.At("own");
  tree_.Script("own", "#!" + own + "\n");
  EXPECT_THAT(Refusal({own}, absl::StatusCode::kInvalidArgument), HasSubstr("more than 5 scripts"));
}

TEST_F(ProgramResolution, CarriageReturnInTheInterpreterIsExplained) {
  const std::string script = tree_.Script("t", "#!/bin/sh\r\necho\r\n");
  EXPECT_THAT(
      Refusal({"./t"}, absl::StatusCode::kNotFound),
      HasSubstr(
          "`" + script +
          "`: the interpreter `/bin/sh\\r` that its first line names does not exist and ends in a "
          "carriage return"));
}

TEST_F(ProgramResolution, CarriageReturnInTheArgumentIsForTheInterpreterToMind) {
  const std::string script = tree_.Script("t", "#!/usr/bin/env python3\r\n");
  const absl::StatusOr<ResolvedProgram> program = Resolve({"./t"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->argv, ElementsAre("/usr/bin/env", "python3\r", script));
}

TEST_F(ProgramResolution, MissingOrRelativeOrUnseenInterpreterIsNamed) {
  tree_.Script("missing", "#!/no/such/python\n");
  EXPECT_THAT(
      Refusal({"./missing"}, absl::StatusCode::kNotFound),
      HasSubstr("the interpreter `/no/such/python` that its first line names: does not exist"));
  tree_.Script("relative", "#!bin/sh\n");
  EXPECT_THAT(Refusal({"./relative"}, absl::StatusCode::kInvalidArgument),
              HasSubstr("is a relative path"));
  const std::string unseen = outside_.Link("sh", "/bin/sh");
  tree_.Script("unseen", "#!" + unseen + "\n");
  EXPECT_THAT(Refusal({"./unseen"}, absl::StatusCode::kPermissionDenied),
              HasSubstr("see `" + unseen + "`"));
}

TEST_F(ProgramResolution, TextFileIsNotHandedToAShell) {
  tree_.Script("t", "echo hello\n");
  tree_.Script("empty", "");
  EXPECT_THAT(Refusal({"./t"}, absl::StatusCode::kInvalidArgument),
              HasSubstr("not a program that the kernel can start"));
  EXPECT_THAT(Refusal({"./empty"}, absl::StatusCode::kInvalidArgument),
              HasSubstr("not a program that the kernel can start"));
}

TEST_F(ProgramResolution, RetargetedLinkDoesNotReachWhatWasResolved) {
  const std::string good = tree_.Script("good", "#!/bin/sh\necho good\n");
  tree_.Script("evil", "#!/bin/sh\necho evil\n");
  tree_.Link("t", "good");
  const absl::StatusOr<ResolvedProgram> program = Resolve({"./t"});
  ASSERT_TRUE(program.ok()) << program.status();
  tree_.Link("t", "evil");
  EXPECT_THAT(program->argv, ElementsAre("/bin/sh", good));
  EXPECT_EQ(ContentOf(program->files[1].fd.get()), "#!/bin/sh\necho good\n");
}

}  // namespace
}  // namespace warder::manifest
