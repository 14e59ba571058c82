// What a manifest may count on, through the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_warder.h"

namespace warder::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

class ManifestTest : public ::testing::Test {
 protected:
  WarderRun Call(const std::string& tool, const WarderSetting& setting = {}) {
    return host_.Run({"call", tool, "--approve", "allow-all"}, setting);
  }
  // Declares tool t, `command` a JSON array, and calls it.
  WarderRun CallOf(const std::string& command, const std::string& more = "",
                   const WarderSetting& setting = {}) {
    host_.Declare(WarderHost::Tool("t", command, more));
    return Call("t", setting);
  }
  Json PreviewOf(const std::string& command, const std::string& more = "",
                 const WarderSetting& setting = {}) {
    host_.Declare(WarderHost::Tool("t", command, more));
    const WarderRun run = host_.Run({"preview", "t", "--json"}, setting);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return Json::parse(run.out, nullptr, false);
  }

  WarderHost host_;
};

TEST_F(ManifestTest, CommentOrTrailingCommaMeansAnErrorWithItsPlaceAndNoList) {
  for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
           {"{\"schema\": 1,\n // hunter2\n \"tools\": {}}", "tools.json:2:2: comment"},
           {"{\"schema\": 1,\n \"tools\": {},\n}", "tools.json:2:13: trailing comma"}}) {
    host_.tree().Write("workspace/.basis/tools.json", text);
    const WarderRun run = host_.Run({"list"});
    EXPECT_EQ(run.exit_code, 125);
    EXPECT_THAT(run.out, IsEmpty());
    EXPECT_THAT(run.err, AllOf(HasSubstr(fault), Not(HasSubstr("hunter2"))));
  }
}

TEST_F(ManifestTest, ToolOfAnotherWorkspaceIsNotOffered) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/true"])"));
  const std::string other = host_.tree().Directory("other");
  EXPECT_THAT(host_.Run({"list", "-w", other}).out, IsEmpty());
  const WarderRun run = host_.Run({"call", "t", "-w", other, "--approve", "allow-all"});
  EXPECT_EQ(run.exit_code, 126);
  EXPECT_THAT(run.err, HasSubstr("no such tool"));
}

TEST_F(ManifestTest, VariablesOfTheSupervisorArriveExpanded) {
  const WarderRun run = CallOf(R"(["/bin/sh", "-c", "echo \"$A $B $1\"", "sh", "$HOME"])",
                               R"(, "env": {"A": "${API_TOKEN}", "B": "${BLANK:-x}"})",
                               {.environment = {{"API_TOKEN", "abc"}, {"BLANK", ""}}});
  EXPECT_EQ(run.out, "abc x $HOME\n") << run.err;
}

TEST_F(ManifestTest, PreviewListsTheVariablesThatTheManifestReadsAndNoValue) {
  const Json preview =
      PreviewOf(R"(["/bin/echo", "${TOKEN}", "${UNSET:-x}"])", R"(, "env": {"K": "${KEY}"})",
                {.environment = {{"TOKEN", "s3cr3t"}, {"KEY", "s3cr3t"}}});
  EXPECT_THAT(preview["variables_read"], ElementsAre("TOKEN", "UNSET", "KEY"));
  EXPECT_THAT(preview["command"], ElementsAre("/bin/echo", "${TOKEN}", "${UNSET:-x}"));
  EXPECT_THAT(preview.dump(), Not(HasSubstr("s3cr3t")));
}

TEST_F(ManifestTest, ToolSeesTheBaselineThatPolicyShowPrintsAndItsOwnVariables) {
  const WarderRun run = CallOf(R"(["/usr/bin/env"])", R"(, "env": {"A": "1"})",
                               {.environment = {{"LANG", "C.UTF-8"},
                                                {"TERM", "dumb"},
                                                {"AWS_SECRET_ACCESS_KEY", "x"},
                                                {"SSH_AUTH_SOCK", "/run/x"}}});
  EXPECT_EQ(run.out,
            "A=1\nHOME=/home/tool\nLANG=C.UTF-8\nLOGNAME=tool\nPATH=/usr/local/bin:/usr/bin:/bin\n"
            "PWD=" +
                host_.Workspace() + "\nSHELL=/bin/sh\nTERM=dumb\nTMPDIR=/tmp\nUSER=tool\n")
      << run.err;
  const Json shown = Json::parse(host_.Run({"policy", "show", "default", "--json"}).out);
  EXPECT_THAT(shown["environment"]["baseline"].get<std::vector<std::string>>(),
              ::testing::IsSupersetOf({"PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR"}));
  EXPECT_EQ(shown["environment"]["inherit_all"], false);
}

TEST_F(ManifestTest, VariablesThatChangeLoadingNeedThePolicysLeaveAndAreMarked) {
  const std::string env =
      R"(, "env": {"BASH_ENV": "./z", "GIT_SSH_COMMAND": "./hunter2", "LD_PRELOAD": "./y.so",
         "NODE_OPTIONS": "--require ./w", "PLAIN": "hunter2"})";
  const WarderRun refused = CallOf(R"(["/usr/bin/git", "status"])", env);
  EXPECT_EQ(refused.exit_code, 126);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("BASH_ENV"), HasSubstr("environment.loader_names")));
  host_.tree().Write("config/policies/lenient.json",
                     R"({"schema": 1, "description": "d", "extends": "default",
      "environment": {"loader_names": [{"reason": "for this test",
                      "names": ["BASH_ENV", "GIT_*", "LD_*", "NODE_OPTIONS"]}]}})");
  const WarderRun preview = host_.Run({"preview", "t", "--policy", "lenient", "--json"});
  ASSERT_EQ(preview.exit_code, 0) << preview.err;
  std::vector<std::string> marked;
  const Json json = Json::parse(preview.out);
  for (const Json& variable : json["environment"]) {
    if (variable["changes_loading"] == true) marked.push_back(variable["name"]);
  }
  EXPECT_THAT(marked, ElementsAre("BASH_ENV", "GIT_SSH_COMMAND", "LD_PRELOAD", "NODE_OPTIONS"));
  EXPECT_THAT(preview.out, AllOf(HasSubstr("PLAIN"), Not(HasSubstr("hunter2"))));
}

TEST_F(ManifestTest, PreviewShowsWhereLinksAndParentDirectoriesLead) {
  host_.tree().Directory("workspace/sub");
  host_.tree().Link("workspace/link", "sub");
  host_.tree().Link("workspace/bin/t", "../echo");
  host_.tree().Link("workspace/echo", "/bin/echo");
  const Json linked = PreviewOf(R"(["./sub/../bin/t"])", R"(, "cwd": "sub/../link")");
  EXPECT_EQ(linked["command"][0], "./sub/../bin/t");
  EXPECT_EQ(linked["files"][0]["path"], std::filesystem::canonical("/bin/echo").string());
  EXPECT_EQ(linked["cwd"]["path"], host_.Workspace() + "/sub");
  host_.tree().Script("workspace/own", "#!/bin/sh\n");
  const Json own = PreviewOf(R"(["./own"])", R"(, "cwd": "sub")");
  EXPECT_EQ(own["files"][1]["path"], host_.Workspace() + "/own");
}

TEST_F(ManifestTest, WindowsPathsLoadAndNothingOfThemIsConverted) {
  host_.tree().Script("workspace/C:/Program Files/nodejs/node.exe", "#!/bin/sh\ntouch ran\n");
  host_.tree().Directory("workspace/sub/dir");
  host_.Declare(WarderHost::Tool("t", R"(["C:\\Program Files\\nodejs\\node.exe", "-v"])") + "," +
                WarderHost::Tool("u", R"(["/usr/bin/touch", "ran"])", R"(, "cwd": "sub\\dir")"));
  EXPECT_EQ(host_.Run({"list"}).exit_code, 0);
  const WarderRun program = Call("t");
  EXPECT_EQ(program.exit_code, 127);
  EXPECT_THAT(program.err, AllOf(HasSubstr(R"(`C:\Program Files\nodejs\node.exe`)"),
                                 HasSubstr("has no '/'"), HasSubstr("PATH")));
  const WarderRun directory = Call("u");
  EXPECT_EQ(directory.exit_code, 127);
  EXPECT_THAT(directory.err, HasSubstr(R"(cwd: `sub\dir`: does not exist)"));
  EXPECT_FALSE(std::filesystem::exists(host_.Workspace() + "/ran"));
}

TEST_F(ManifestTest, PreviewQuotesABackslashSoThatItCanBeNothingElse) {
  const Json preview = PreviewOf(R"(["/bin/echo", "C:\\new", "\n"])");
  EXPECT_THAT(preview["command"], ElementsAre("/bin/echo", R"(C:\new)", "\n"));
  EXPECT_THAT(host_.Run({"preview", "t"}).out,
              AllOf(HasSubstr(R"([1] "C:\\new")"), HasSubstr(R"([2] "\n")")));
  EXPECT_EQ(Call("t").out, "C:\\new \n\n");
}

TEST_F(ManifestTest, CarriageReturnInTheFirstLineOfAScriptIsToldByWhomItStops) {
  host_.tree().Script("workspace/by_env", "#!/usr/bin/env python3\r\nprint()\r\n");
  const WarderRun by_env = CallOf(R"(["./by_env"])");
  EXPECT_EQ(by_env.exit_code, 127);
  EXPECT_THAT(by_env.err, AllOf(HasSubstr("`t` exited with code 127"), HasSubstr("env: "),
                                HasSubstr("No such file or directory")));
  host_.tree().Script("workspace/by_kernel", "#!/bin/sh\r\necho\r\n");
  const WarderRun by_kernel = CallOf(R"(["./by_kernel"])");
  EXPECT_EQ(by_kernel.exit_code, 127);
  EXPECT_THAT(by_kernel.err,
              AllOf(HasSubstr("`t` could not start"),
                    HasSubstr("that its first line names does not exist and ends in a carriage")));
}

TEST_F(ManifestTest, LinesOnStdoutAreTheResultAndLinesOnStderrStayApart) {
  const std::string command =
      R"(["/bin/sh", "-c", "echo '[db] connected'; echo warn >&2; echo '{\"ok\":true}'"])";
  const WarderRun run = CallOf(command);
  EXPECT_EQ(run.out, "[db] connected\n{\"ok\":true}\n");
  EXPECT_EQ(run.err, "warn\n");
  const Json json = Json::parse(host_.Run({"call", "t", "--approve", "allow-all", "--json"}).out);
  EXPECT_EQ(json["stdout"]["text"], run.out);
  EXPECT_EQ(json["stderr"]["text"], run.err);
}

TEST_F(ManifestTest, BlankAnswersComeBackByteForByte) {
  for (const std::string answer : {"", "\n", "  \n", "a\n\n", "a"}) {
    const WarderRun run = CallOf(Json::array({"/usr/bin/printf", "%s", answer}).dump());
    EXPECT_EQ(run.out, answer) << run.err;
    EXPECT_EQ(run.exit_code, 0);
    const Json json = Json::parse(host_.Run({"call", "t", "--approve", "allow-all", "--json"}).out);
    EXPECT_EQ(json["stdout"]["text"], answer);
    EXPECT_EQ(json["stdout"]["total_bytes"], answer.size());
    const bool says_so =
        json["text"].get<std::string>().find("printed nothing") != std::string::npos;
    EXPECT_EQ(says_so, answer.empty()) << json["text"];
  }
}

TEST_F(ManifestTest, DeadlineOfTheManifestEndsAProgramThatIgnoresSignals) {
  const WarderRun run =
      CallOf(R"(["/bin/sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"])",
             R"(, "timeout_ms": 500)");
  EXPECT_EQ(run.exit_code, 124);
  EXPECT_THAT(run.err, HasSubstr("stopped after 500 ms, its time limit"));
}

TEST_F(ManifestTest, CheckListsWordsOfASchemaThatAreNotEnforced) {
  host_.Declare(R"("t": {"description": "d", "command": ["/bin/true"], "input_schema":
      {"properties": {"p": {"type": "string", "nullable": true, "format": "int32"}}}})");
  const WarderRun run = host_.Run({"check"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("`/properties/p`: nullable is not enforced"),
                             HasSubstr("`/properties/p`: format: int32 is not enforced")));
  const WarderRun null =
      host_.Run({"call", "t", "--approve", "allow-all", "--input", "{\"p\":null}"});
  EXPECT_EQ(null.exit_code, 126);
  EXPECT_THAT(null.err, HasSubstr("`/p`"));
}

}  // namespace
}  // namespace warder::testing
