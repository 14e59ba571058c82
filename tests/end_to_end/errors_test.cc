// Bad input of every kind: one clear message with file, place and remedy, the documented exit code,
// and nothing runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/run_warder.h"

namespace warder::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ErrorsTest : public ::testing::Test {
 protected:
  ErrorsTest() { host_.Declare(WarderHost::Tool("t", R"(["/usr/bin/touch", "ran"])")); }

  // A call that would leave a file behind, allowed.
  WarderRun Call(std::vector<std::string> more = {}, const WarderSetting& setting = {}) {
    std::vector<std::string> arguments{"call", "t", "--approve", "allow-all"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return host_.Run(std::move(arguments), setting);
  }

  void ExpectRefusal(const WarderRun& run, int exit_code, std::vector<std::string> words) {
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_THAT(run.out, IsEmpty());
    EXPECT_THAT(run.err, StartsWith("warder: "));
    for (const std::string& word : words) EXPECT_THAT(run.err, HasSubstr(word));
    EXPECT_FALSE(std::filesystem::exists(host_.Workspace() + "/ran"));
  }

  void Manifest(std::string_view bytes) {
    host_.tree().Write("workspace/.basis/tools.json", bytes);
  }

  WarderHost host_;
};

TEST_F(ErrorsTest, TheCallThatTheseTestsBreakDoesRun) {
  const WarderRun run = Call();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(std::filesystem::exists(host_.Workspace() + "/ran"));
}

TEST_F(ErrorsTest, AWorkspaceThatIsNotThere) {
  ExpectRefusal(Call({"-w", "/no/such/place"}), 125, {"/no/such/place"});
}

TEST_F(ErrorsTest, TheRootDirectoryAsWorkspace) { ExpectRefusal(Call({"-w", "/"}), 125, {"/"}); }

TEST_F(ErrorsTest, AManifestWithAComment) {
  Manifest("{\n  // note\n  \"schema\": 1}");
  ExpectRefusal(Call(), 125, {".basis/tools.json:2:3"});
}

TEST_F(ErrorsTest, AManifestWithAnUnknownKey) {
  Manifest(R"({"schema": 1, "tools": {"t": {"description": "d", "input_schema": {"type": "object"},
      "command": ["/bin/true"], "always_allow": true}}})");
  ExpectRefusal(Call(), 125, {"tools.json:2:", "`t`", "always_allow"});
}

TEST_F(ErrorsTest, AManifestWithOneToolTwice) {
  Manifest(R"({"schema": 1, "tools": {"t": {}, "t": {}}})");
  ExpectRefusal(Call(), 125, {"tools.json:1:", "t"});
}

TEST_F(ErrorsTest, AManifestThatIsTooLarge) {
  std::filesystem::resize_file(host_.Workspace() + "/.basis/tools.json", 64u << 20);
  ExpectRefusal(Call(), 125, {"tools.json"});
}

TEST_F(ErrorsTest, AManifestThatIsAPipe) {
  std::filesystem::remove(host_.Workspace() + "/.basis/tools.json");
  ASSERT_EQ(::mkfifo((host_.Workspace() + "/.basis/tools.json").c_str(), 0644), 0);
  ExpectRefusal(Call(), 125, {"tools.json"});
}

TEST_F(ErrorsTest, AManifestThatIsNested) {
  Manifest(std::string(100'000, '['));
  ExpectRefusal(Call(), 125, {"tools.json:1:"});
}

TEST_F(ErrorsTest, AManifestWhoseTextWouldMoveTheCursor) {
  Manifest("{\"schema\": 1, \"tools\": {\"t\\u001b[2J\\nwarder: fine\": {}}}");
  const WarderRun run = Call();
  ExpectRefusal(run, 125, {"tools.json:1:"});
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

TEST_F(ErrorsTest, ASchemaThatCannotBeEnforced) {
  Manifest(R"({"schema": 1, "tools": {"t": {"description": "d", "command": ["/bin/true"],
      "input_schema": {"type": "object", "unevaluatedProperties": false}}}})");
  ExpectRefusal(Call(), 125, {"tools.json", "`t`", "unevaluatedProperties"});
}

TEST_F(ErrorsTest, ASchemaOfAnotherType) {
  Manifest(R"({"schema": 1, "tools": {"t": {"description": "d", "command": ["/bin/true"],
      "input_schema": {"type": "string"}}}})");
  ExpectRefusal(Call(), 125, {"tools.json", "`t`", "input_schema"});
}

TEST_F(ErrorsTest, AToolThatIsNotDeclared) {
  const WarderRun run = host_.Run({"call", "u", "--approve", "allow-all"});
  ExpectRefusal(run, 126, {"`u`", "no such tool", "t"});
}

TEST_F(ErrorsTest, InputThatIsNotJson) {
  ExpectRefusal(Call({"--input", "{\"a\": 1,}"}), 126, {"invalid_input", "1:"});
  ExpectRefusal(Call({"--input", "input.json"}), 126, {"@FILE"});
}

TEST_F(ErrorsTest, InputThatIsTooLarge) {
  const std::string file = host_.tree().Write("input.json", "{}");
  std::filesystem::resize_file(file, 17u << 20);
  ExpectRefusal(Call({"--input", "@" + file}), 126, {"invalid_input", "16777216"});
}

TEST_F(ErrorsTest, AnInputFileThatIsNotThere) {
  ExpectRefusal(Call({"--input", "@/no/such/file"}), 2, {"--input", "/no/such/file"});
  ExpectRefusal(Call({"--input", "@" + host_.Workspace()}), 2, {"--input", host_.Workspace()});
}

TEST_F(ErrorsTest, APolicyThatDoesNotExist) {
  ExpectRefusal(Call({"--policy", "strict"}), 126, {"no_policy", "strict", "default"});
}

TEST_F(ErrorsTest, APolicyThatIsOnlyThereToBeExtended) {
  ExpectRefusal(Call({"--policy", "base"}), 126, {"no_policy", "base"});
}

TEST_F(ErrorsTest, APolicyFileThatCannotBeParsed) {
  host_.tree().Write("config/policies/mine.json", "{\"schema\": 1,\n \"netwrk\": {}}");
  ExpectRefusal(Call({"--policy", "mine"}), 125, {"policies/mine.json:2:", "netwrk"});
}

TEST_F(ErrorsTest, APolicyFileThatOthersMayWrite) {
  host_.tree().Write("config/policies/mine.json", "{\"schema\": 1, \"extends\": \"default\"}",
                     0666);
  ExpectRefusal(Call({"--policy", "mine"}), 125, {"policies/mine.json", "chmod"});
}

TEST_F(ErrorsTest, AConfigurationInsideTheWorkspace) {
  host_.tree().Write("workspace/cfg/policies/mine.json",
                     "{\"schema\": 1, \"extends\": \"default\"}");
  ExpectRefusal(Call({"--policy", "mine", "--config-dir", host_.Workspace() + "/cfg"}), 125,
                {"mine.json", "workspace"});
}

TEST_F(ErrorsTest, AConfigurationDirectoryThatIsNotThere) {
  ExpectRefusal(host_.Run({"call", "t", "--config-dir", "/no/such/place"}), 125,
                {"/no/such/place"});
}

TEST_F(ErrorsTest, BindingsThatMatchNothing) {
  host_.tree().Write("config/bindings.json", R"({"schema": 1, "bindings": []})");
  const WarderRun run = Call();
  EXPECT_TRUE(run.exit_code == 126 || run.exit_code == 125) << run.exit_code;
  ExpectRefusal(run, run.exit_code, {"binding"});
}

TEST_F(ErrorsTest, ARulesFileThatIsBad) {
  host_.tree().Write("config/rules/r.json", "{\"schema\": 1,\n\"rules\": [{\"name\": 1}]}");
  ExpectRefusal(Call(), 125, {"rules/r.json:2:"});
}

TEST_F(ErrorsTest, AnApproverThatIsNone) {
  ExpectRefusal(host_.Run({"call", "t", "--approve", "everyone"}), 2, {"--approve", "allow-all"});
}

TEST_F(ErrorsTest, AnApproverProgramThatAnswersGarbage) {
  const std::string program = host_.tree().Script("config/decide", "#!/bin/sh\necho yes\n");
  ExpectRefusal(host_.Run({"call", "t", "--approve", "program:" + program}), 126,
                {"approver_error"});
}

TEST_F(ErrorsTest, AStateDirectoryThatIsAFile) {
  const std::string file = host_.tree().Write("file", "");
  ExpectRefusal(Call({"--state-dir", file}), 126, {"audit_unavailable", file});
}

TEST_F(ErrorsTest, AnAuditLogWithoutRoom) {
  // No file may grow beyond 4 KiB, which the log has reached.
  const std::string log = host_.tree().At("state/audit.jsonl");
  for (int calls = 0; calls < 5 && (calls == 0 || std::filesystem::file_size(log) < 4096);
       ++calls) {
    Call();
  }
  std::filesystem::remove(host_.Workspace() + "/ran");
  const WarderRun run = Call({}, {.prefix = {"/bin/sh", "-c", "ulimit -f 8; exec \"$@\"", "sh"}});
  ExpectRefusal(run, 126, {"audit_unavailable", "audit.jsonl"});
}

TEST_F(ErrorsTest, AnAuditLogThatWasDamaged) {
  Call();
  std::filesystem::remove(host_.Workspace() + "/ran");
  host_.tree().Write("state/audit.jsonl", "not a record\n", 0600);
  ExpectRefusal(Call(), 126, {"audit_unavailable", "audit.jsonl"});
}

TEST_F(ErrorsTest, AProgramThatIsNotThere) {
  host_.Declare(WarderHost::Tool("t", R"(["./no-such-program"])"));
  ExpectRefusal(Call(), 127, {"no-such-program"});
}

TEST_F(ErrorsTest, AProgramThatCannotBeExecuted) {
  host_.tree().Write("workspace/plain", "text");
  host_.Declare(WarderHost::Tool("t", R"(["./plain"])"));
  ExpectRefusal(Call(), 126, {"plain"});
}

TEST_F(ErrorsTest, AVariableThatIsNotSet) {
  host_.Declare(WarderHost::Tool("t", R"(["/usr/bin/touch", "${NOT_SET_ANYWHERE}"])"));
  ExpectRefusal(Call({"--policy", "trusted"}), 126, {"NOT_SET_ANYWHERE"});
}

}  // namespace
}  // namespace warder::testing
