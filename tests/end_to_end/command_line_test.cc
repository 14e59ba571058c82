// The command line as its users see it: real binary, real cells, real streams.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/support/run_warder.h"

namespace warder::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

// The lines of `text`, without their ends.
std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

// Processes whose command line holds `mark`.
int ProcessesWith(const std::string& mark) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (line.find(mark) != std::string::npos) ++count;
  }
  return count;
}

class CommandLineTest : public ::testing::Test {
 protected:
  // Declares tool t and calls it, allowed.
  WarderRun CallShell(const std::string& script, std::vector<std::string> more = {},
                      const WarderSetting& setting = {}) {
    host_.Declare(WarderHost::Tool("t", Json::array({"/bin/sh", "-c", script}).dump()));
    std::vector<std::string> arguments{"call", "t", "--approve", "allow-all"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return host_.Run(std::move(arguments), setting);
  }

  WarderRun Exec(const std::string& script, const WarderSetting& setting = {}) {
    // ci-runner refuses hosts without control groups; what is tested here is the command line.
    return host_.Run(
        {"exec", "--policy", "default", "--approve", "allow-all", "--", "/bin/sh", "-c", script},
        setting);
  }

  WarderHost host_;
};

TEST_F(CommandLineTest, ListIsATableOfEightyColumnsThatNamesEveryTool) {
  host_.Declare(WarderHost::Tool("first", R"(["/bin/true"])") + "," +
                WarderHost::Tool("second", R"(["/bin/true"])", ", \"timeout_ms\": 1500"));
  const WarderRun run = host_.Run({"list"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(Lines(run.out).size(), 3u) << run.out;
  EXPECT_THAT(Lines(run.out)[1], HasSubstr("first"));
  EXPECT_THAT(Lines(run.out)[2], HasSubstr("1500 ms"));
  for (const std::string& line : Lines(run.out)) EXPECT_LE(line.size(), 80u);
}

TEST_F(CommandLineTest, ListShowsHostileTextVisiblyOnEverySurface) {
  host_.tree().Write(
      "workspace/.basis/tools.json",
      R"({"schema": 1, "tools": {"t": {"description": "a\u001b[2K\r\u001b[1Ab\u0007\u009b1m",
                         "input_schema": {"type": "object"}, "command": ["/bin/echo", "\u001b]52;c;eA==\u0007"]}}})");
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"list"}, {"list", "--json"}, {"preview", "t"}, {"preview", "t", "--json"}, {"check"}}) {
    const WarderRun run = host_.Run(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    for (const char c : run.out + run.err) {
      EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << arguments[0] << static_cast<int>(c);
    }
  }
}

TEST_F(CommandLineTest, ListForMachinesIsOneObject) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/true"])", R"(, "env": {"KEY": "${TOKEN}"})"));
  const WarderRun run = host_.Run({"list", "--json"}, {.environment = {{"TOKEN", "s3cr3t"}}});
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["workspace"], host_.Workspace());
  EXPECT_EQ(json["tools"][0]["name"], "t");
  EXPECT_EQ(json["tools"][0]["env"], Json::array({"KEY"}));
  EXPECT_THAT(run.out, Not(HasSubstr("s3cr3t")));
}

TEST_F(CommandLineTest, CallPrintsTheToolsBytesAndNothingElse) {
  const WarderRun run = CallShell(R"(printf 'a\000b\377\033[1m\r\n\n')");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, std::string("a\0b\xff\x1b[1m\r\n\n", 11));
  EXPECT_THAT(run.err, IsEmpty());
}

TEST_F(CommandLineTest, CallWritesTwoHundredThousandBytesToASlowReader) {
  const WarderRun run = CallShell("head -c 200141 /dev/zero", {}, {.out_pipe_bytes = 4096});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.size(), 200'141u);
}

TEST_F(CommandLineTest, CallWritesTwoHundredThousandBytesToASlowSocket) {
  const std::string reader = R"(
import socket, subprocess, sys, time
ours, theirs = socket.socketpair()
theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
warder = subprocess.Popen(sys.argv[1:], stdout=theirs)
theirs.close()
time.sleep(0.5)
count = 0
while data := ours.recv(4096): count += len(data)
print(count, warder.wait())
)";
  const WarderRun run =
      CallShell("head -c 200141 /dev/zero", {}, {.prefix = {"/usr/bin/python3", "-c", reader}});
  EXPECT_EQ(run.out, "200141 0\n") << run.err;
}

TEST_F(CommandLineTest, CallOfAToolThatLeavesABackgroundChildEndsAtOnceAndSoDoesTheChild) {
  const std::string mark = "600.77" + std::to_string(::getpid());
  const auto start = std::chrono::steady_clock::now();
  const WarderRun run = CallShell("sleep " + mark + " & echo done", {"--timeout", "30000"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "done\n");
  // Far above what a busy machine adds, far below the time limit.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  EXPECT_EQ(ProcessesWith(mark), 0);
}

TEST_F(CommandLineTest, CallPassesTheToolsOwnExitCodeAndItsStderr) {
  const WarderRun run = CallShell("echo partial; echo broken >&2; exit 3");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("warder: `t` exited with code 3"));
  EXPECT_THAT(run.err, HasSubstr("broken"));
}

TEST_F(CommandLineTest, CallOfAToolThatASignalEndedIs128AndTheSignal) {
  EXPECT_EQ(CallShell("kill -TERM $$").exit_code, 128 + SIGTERM);
}

TEST_F(CommandLineTest, CallThatRunsIntoItsTimeLimitIs124AndSaysTheLimit) {
  const WarderRun run = CallShell("trap '' TERM; sleep 60", {"--timeout", "300"});
  EXPECT_EQ(run.exit_code, 124);
  EXPECT_THAT(run.err, HasSubstr("300 ms"));
}

TEST_F(CommandLineTest, CallTakesItsInputAsTextFromAFileAndFromStandardInput) {
  const std::string input = "{\"text\": \"caf\xc3\xa9 $(id) 'x'\"}";
  const std::string file = host_.tree().Write("in.json", input);
  EXPECT_EQ(CallShell("cat", {"--input", input}).out, input);
  EXPECT_EQ(CallShell("cat", {"--input", "@" + file}).out, input);
  EXPECT_EQ(CallShell("cat", {"--input", "-"}, {.input = input}).out, input);
  EXPECT_EQ(CallShell("cat").out, "{}");
}

TEST_F(CommandLineTest, CallForMachinesPrintsTheOutcomeAlone) {
  const WarderRun run = CallShell("echo out; echo err >&2; exit 4", {"--json"});
  EXPECT_EQ(run.exit_code, 4);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["ending"], "exited");
  EXPECT_EQ(json["exit_code"], 4);
  EXPECT_EQ(json["stdout"]["text"], "out\n");
  EXPECT_EQ(json["stderr"]["text"], "err\n");
  EXPECT_FALSE(json["attestation"]["layers"].empty());
  EXPECT_THAT(run.err, IsEmpty());
}

TEST_F(CommandLineTest, CallWithNobodyToAskIsRefusedAtOnceAndNamesTheRemedy) {
  host_.Declare(WarderHost::Tool("t", R"(["/usr/bin/touch", "ran"])"));
  for (const bool hold_stdin : {false, true}) {
    const WarderRun run = host_.Run({"call", "t"}, {.hold_stdin = hold_stdin});
    EXPECT_EQ(run.exit_code, 126);
    EXPECT_THAT(run.err, HasSubstr("no_approver"));
    EXPECT_THAT(run.err, HasSubstr("--approve rules:FILE"));
    EXPECT_FALSE(std::filesystem::exists(host_.Workspace() + "/ran"));
  }
}

TEST_F(CommandLineTest, CallThatARuleAllowsRunsAndOneThatNoRuleNamesDoesNot) {
  host_.Declare(WarderHost::Tool("good", R"(["/bin/echo", "hello"])") + "," +
                WarderHost::Tool("other", R"(["/bin/echo", "hello"])"));
  const std::string rules = host_.tree().Write(
      "rules.json",
      R"({"schema": 1, "rules": [{"name": "good", "effect": "allow", "reason": "known", "tool": "good"}]})");
  EXPECT_EQ(host_.Run({"call", "good", "--approve", "rules:" + rules}).out, "hello\n");
  EXPECT_EQ(host_.Run({"call", "other", "--approve", "rules:" + rules}).exit_code, 126);
}

TEST_F(CommandLineTest, PreviewShowsTheProgramAndThePolicyAndRunsNothing) {
  host_.Declare(WarderHost::Tool("t", R"(["/usr/bin/touch", "ran"])"));
  const WarderRun run = host_.Run({"preview", "t"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("/usr/bin/touch"));
  EXPECT_THAT(run.out, HasSubstr("default"));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
  for (const std::string& line : Lines(run.out)) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_FALSE(std::filesystem::exists(host_.Workspace() + "/ran"));
}

TEST_F(CommandLineTest, ExecPassesAllThreeStreamsThrough) {
  const WarderRun run = Exec("cat; echo err >&2; exit 5", {.input = "from stdin"});
  EXPECT_EQ(run.exit_code, 5) << run.err;
  EXPECT_EQ(run.out, "from stdin");
  EXPECT_EQ(run.err, "err\n");
}

TEST_F(CommandLineTest, ExecsStreamsCanBeOpenedByTheirNames) {
  const WarderRun run =
      Exec("cat /dev/stdin >/dev/stdout; echo err >/dev/stderr", {.input = "from stdin"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "from stdin");
  EXPECT_EQ(run.err, "err\n");
}

TEST_F(CommandLineTest, ExecRunsWhereItWasTypedWhenThatIsInTheWorkspace) {
  const std::string sub = host_.tree().Directory("workspace/sub");
  const WarderRun run =
      host_.Run({"exec", "-w", host_.Workspace(), "-p", "default", "--approve", "allow-all", "pwd"},
                {.directory = sub});
  EXPECT_EQ(run.out, sub + "\n") << run.err;
}

TEST_F(CommandLineTest, ExecOfAProgramThatDoesNotExistIs127) {
  const WarderRun run =
      host_.Run({"exec", "-p", "default", "--approve", "allow-all", "no-such-program"});
  EXPECT_EQ(run.exit_code, 127);
  EXPECT_THAT(run.err, HasSubstr("no-such-program"));
}

TEST_F(CommandLineTest, ExecForMachinesWritesOneLineWhereItIsTold) {
  const std::string file = host_.tree().At("outcome.json");
  const WarderRun run = host_.Run({"exec", "--json-fd", "7", "-p", "default", "--approve",
                                   "allow-all", "--", "/bin/echo", "hi"},
                                  {.prefix = {"/bin/sh", "-c", "exec \"$@\" 7>" + file, "sh"}});
  EXPECT_EQ(run.out, "hi\n") << run.err;
  EXPECT_THAT(run.err, IsEmpty());
  std::ifstream stream(file);
  EXPECT_EQ(Json::parse(stream)["ending"], "exited");
}

TEST_F(CommandLineTest, ASignalToExecEndsTheWholeTreeAndIsItsExitCode) {
  const std::string mark = "61.77" + std::to_string(::getpid());
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const WarderRun run =
        Exec("trap '' TERM INT HUP; setsid sleep " + mark + " & echo started; sleep " + mark,
             {.until = "started", .then = [&](pid_t pid) { ::kill(pid, number); }});
    EXPECT_EQ(run.exit_code, 128 + number) << run.err;
    EXPECT_EQ(ProcessesWith(mark), 0);
  }
  const WarderRun log = host_.Run({"audit", "show", "--json"});
  EXPECT_THAT(log.out, HasSubstr("\"ending\":\"cancelled\""));
}

TEST_F(CommandLineTest, AuditShowsWhatHappenedAndVerifies) {
  CallShell("echo hello");
  host_.Run({"call", "t", "--approve", "deny-all"});
  const WarderRun show = host_.Run({"audit", "show"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  for (const char* event : {"ask", "decision", "use", "outcome", "refusal"}) {
    EXPECT_THAT(show.out, HasSubstr(event));
  }
  const WarderRun last = host_.Run({"audit", "show", "--json", "--last", "1"});
  EXPECT_EQ(Lines(last.out).size(), 1u);
  EXPECT_EQ(Json::parse(last.out)["event"], "refusal");
  EXPECT_THAT(Lines(host_.Run({"audit", "show", "--json", "--tool", "other"}).out), IsEmpty());
  EXPECT_EQ(host_.Run({"audit", "verify"}).exit_code, 0);
}

TEST_F(CommandLineTest, AuditVerifyFindsAChangedRecord) {
  CallShell("echo hello");
  const std::string path = host_.tree().At("state/audit.jsonl");
  std::ifstream file(path);
  std::string log((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t place = log.find("allow-all");
  ASSERT_NE(place, std::string::npos);
  log[place] = 'A';
  host_.tree().Write("state/audit.jsonl", log, 0600);
  const WarderRun run = host_.Run({"audit", "verify", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_FALSE(Json::parse(run.out)["faults"].empty());
}

TEST_F(CommandLineTest, PolicyListNamesTheShippedPoliciesAndShowGivesReasons) {
  const WarderRun list = host_.Run({"policy", "list"});
  for (const char* name : {"default", "offline", "network", "trusted", "ci-runner", "agent-host",
                           "untrusted-review"}) {
    EXPECT_THAT(list.out, HasSubstr(name));
  }
  EXPECT_THAT(list.out, Not(HasSubstr("base ")));
  const WarderRun show = host_.Run({"policy", "show", "default"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("REASON"));
  for (const std::string& line : Lines(show.out)) EXPECT_LE(line.size(), 80u) << line;
  const Json json = Json::parse(host_.Run({"policy", "show", "default", "--json"}).out);
  EXPECT_EQ(json["network"], "none");
  EXPECT_FALSE(json["syscalls"]["allow"].empty());
}

TEST_F(CommandLineTest, CheckWarnsOfVariablesInArgvAndOfForeignTemplates) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/echo", "${TOKEN:-x}", "{{ .name }}"])"));
  const WarderRun run = host_.Run({"check"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("warning: "));
  EXPECT_THAT(run.out, HasSubstr("${TOKEN}"));
  EXPECT_THAT(run.out, HasSubstr("{{"));
}

TEST_F(CommandLineTest, CheckFindsFaultsInAllKindsOfFilesAtOnce) {
  host_.tree().Write("workspace/.basis/tools.json", "{");
  host_.tree().Write("config/policies/mine.json", "{\"schema\": 1, \"extends\": \"none-such\"}");
  host_.tree().Write("config/rules/r.json", "[]");
  const WarderRun run = host_.Run({"check", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  const std::string errors = Json::parse(run.out)["errors"].dump();
  for (const char* file : {"tools.json", "mine.json", "r.json"}) {
    EXPECT_THAT(errors, HasSubstr(file));
  }
}

TEST_F(CommandLineTest, DoctorRunsATrialAndShowsEveryLayer) {
  const WarderRun run = host_.Run({"doctor", "--json"}, {.directory = "/"});
  const Json json = Json::parse(run.out);
  EXPECT_EQ(run.exit_code, json["ok"] ? 0 : 1);
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_FALSE(json["layers"].empty());
  EXPECT_EQ(json["trial"]["exit_code"], 0);
  EXPECT_THAT(host_.Run({"doctor"}).out, HasSubstr("policy default: can run here"));
}

TEST_F(CommandLineTest, AReaderThatLeavesEarlyEndsWarderLikeAnyFilter) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/true"])"));
  const WarderRun run =
      host_.Run({"policy", "show", "default", "--json"},
                {.prefix = {"/bin/bash", "-c", "\"$@\" | true; exit ${PIPESTATUS[0]}", "bash"}});
  EXPECT_TRUE(run.exit_code == 128 + SIGPIPE || run.exit_code == 0) << run.exit_code << run.err;
  EXPECT_THAT(run.err, IsEmpty());
}

}  // namespace
}  // namespace warder::testing
