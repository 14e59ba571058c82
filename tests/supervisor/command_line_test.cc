#include "supervisor/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warder::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ParsedCommandLine Parse(std::vector<std::string> words) {
  return ParseCommandLine(std::move(words));
}

void ExpectMistake(std::vector<std::string> words, const std::string& text) {
  const ParsedCommandLine parsed = Parse(std::move(words));
  EXPECT_EQ(parsed.run, nullptr);
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_THAT(parsed.err, HasSubstr(text));
  EXPECT_THAT(parsed.err, HasSubstr("--help"));
}

TEST(CommandLine, EveryCommandHasItsFunction) {
  EXPECT_EQ(Parse({"list"}).run, RunList);
  EXPECT_EQ(Parse({"check"}).run, RunCheck);
  EXPECT_EQ(Parse({"preview", "t"}).run, RunPreview);
  EXPECT_EQ(Parse({"call", "t"}).run, RunCall);
  EXPECT_EQ(Parse({"exec", "true"}).run, RunExec);
  EXPECT_EQ(Parse({"doctor"}).run, RunDoctor);
  EXPECT_EQ(Parse({"audit", "show"}).run, RunAuditShow);
  EXPECT_EQ(Parse({"audit", "verify"}).run, RunAuditVerify);
  EXPECT_EQ(Parse({"policy", "list"}).run, RunPolicyList);
  EXPECT_EQ(Parse({"policy", "show", "default"}).run, RunPolicyShow);
  EXPECT_EQ(Parse({"policy", "suggest"}).run, RunPolicySuggest);
  EXPECT_EQ(Parse({"policy", "would-allow", "read"}).run, RunPolicyWouldAllow);
}

TEST(CommandLine, OptionsBeforeAndAfterTheCommandMeanTheSame) {
  const std::vector<std::string> options{
      "--workspace", "/w",     "--policy",     "p",  "--approve",   "allow-all", "--timeout",
      "5",           "--json", "--config-dir", "/c", "--state-dir", "/s"};
  std::vector<std::string> before = options;
  before.insert(before.end(), {"call", "t"});
  std::vector<std::string> after{"call", "t"};
  after.insert(after.end(), options.begin(), options.end());
  for (const auto& words : {before, after}) {
    const ParsedCommandLine parsed = Parse(words);
    ASSERT_EQ(parsed.run, RunCall) << parsed.err;
    EXPECT_EQ(parsed.options.workspace, "/w");
    EXPECT_EQ(parsed.options.policy, "p");
    EXPECT_EQ(parsed.options.approve, "allow-all");
    EXPECT_EQ(parsed.options.timeout_ms, 5);
    EXPECT_TRUE(parsed.options.json);
    EXPECT_EQ(parsed.options.config_dir, "/c");
    EXPECT_EQ(parsed.options.state_dir, "/s");
    EXPECT_EQ(parsed.options.tool, "t");
  }
}

TEST(CommandLine, DefaultsAreTheCurrentDirectoryAndAnEmptyObject) {
  const Options options = Parse({"call", "t"}).options;
  EXPECT_EQ(options.workspace, ".");
  EXPECT_EQ(options.input, "{}");
  EXPECT_EQ(options.policy, std::nullopt);
  EXPECT_EQ(options.approve, std::nullopt);
  EXPECT_EQ(options.timeout_ms, std::nullopt);
  EXPECT_FALSE(options.json);
}

TEST(CommandLine, ExecTakesTheWordsAfterTheMarkAsTheyAre) {
  const ParsedCommandLine parsed = Parse({"exec", "--json", "--", "make", "--json", "-j2"});
  ASSERT_EQ(parsed.run, RunExec) << parsed.err;
  EXPECT_TRUE(parsed.options.json);
  EXPECT_THAT(parsed.options.command, ElementsAre("make", "--json", "-j2"));
}

TEST(CommandLine, ExecTakesEverythingFromTheFirstWordWithoutTheMark) {
  const ParsedCommandLine parsed = Parse({"exec", "make", "--json", "list", "-j2"});
  ASSERT_EQ(parsed.run, RunExec) << parsed.err;
  EXPECT_FALSE(parsed.options.json);
  EXPECT_THAT(parsed.options.command, ElementsAre("make", "--json", "list", "-j2"));
}

TEST(CommandLine, AMarkBehindTheFirstWordOfExecBelongsToTheCommand) {
  EXPECT_THAT(Parse({"exec", "npm", "run", "--", "--fix"}).options.command,
              ElementsAre("npm", "run", "--", "--fix"));
  EXPECT_THAT(Parse({"exec", "--", "npm", "--", "--fix"}).options.command,
              ElementsAre("npm", "--", "--fix"));
}

TEST(CommandLine, ACommandOfExecMayBeNamedLikeOneOfWarders) {
  EXPECT_THAT(Parse({"exec", "list"}).options.command, ElementsAre("list"));
}

TEST(CommandLine, AnOptionThatTheCommandDoesNotKnowIsAMistakeAlsoBeforeIt) {
  ExpectMistake({"--approve", "allow-all", "list"}, "--approve does nothing for `list`");
  ExpectMistake({"list", "--approve", "allow-all"}, "`--approve` is not known here");
  ExpectMistake({"--policy", "p", "audit", "show"}, "--policy does nothing for `show`");
}

TEST(CommandLine, MistakesNameTheWord) {
  ExpectMistake({}, "a command is missing");
  ExpectMistake({"run"}, "`run` is not known");
  ExpectMistake({"policy"}, "a command is missing; see warder policy --help");
  ExpectMistake({"call"}, "TOOL is required");
  ExpectMistake({"call", "t", "u"}, "`u` is not known");
  ExpectMistake({"call", "t", "-w", "a", "-w", "b"}, "--workspace");
  ExpectMistake({"exec"}, "needs a command");
  ExpectMistake({"exec", "--bogus", "make"}, "no option --bogus");
  ExpectMistake({"list", "--", "x"}, "only `exec`");
}

TEST(CommandLine, WouldAllowTakesACallAndItsArgumentsNegativeOnesToo) {
  const ParsedCommandLine parsed =
      Parse({"policy", "would-allow", "-p", "p", "openat", "-100", "0x5", "--json", "-1"});
  ASSERT_EQ(parsed.run, RunPolicyWouldAllow) << parsed.err;
  EXPECT_EQ(parsed.options.name, "openat");
  EXPECT_THAT(parsed.options.arguments, ElementsAre("-100", "0x5", "-1"));
  EXPECT_EQ(parsed.options.policy, "p");
  EXPECT_TRUE(parsed.options.json);
  EXPECT_EQ(parsed.options.abi, "x86_64");
  EXPECT_EQ(Parse({"policy", "would-allow", "read", "--abi", "x32"}).options.abi, "x32");
  ExpectMistake({"policy", "would-allow"}, "SYSCALL is required");
}

TEST(CommandLine, NumbersOutsideTheirRangeAreMistakes) {
  for (const char* value : {"0", "-1", "x", "1.5", "86400001", "99999999999999999999"}) {
    ExpectMistake({"call", "t", "--timeout", value}, "--timeout");
  }
  ExpectMistake({"exec", "--json-fd", "2", "true"}, "--json-fd");
}

TEST(CommandLine, ApproveTakesOnlyTheDocumentedForms) {
  for (const char* who : {"ask", "allow-all", "deny-all", "rules", "rules:r.json", "program:/p"}) {
    EXPECT_EQ(Parse({"call", "t", "--approve", who}).options.approve, who);
  }
  for (const char* who : {"", "yes", "rules:", "program", "program:p", "ask:x", "allow-all:"}) {
    ExpectMistake({"call", "t", "--approve", who}, "--approve");
  }
}

TEST(CommandLine, HelpOnEveryLevelFitsEightyColumnsAndEndsWithTheExitCodes) {
  const std::vector<std::vector<std::string>> levels{{},
                                                     {"call"},
                                                     {"exec"},
                                                     {"preview"},
                                                     {"list"},
                                                     {"check"},
                                                     {"doctor"},
                                                     {"audit"},
                                                     {"audit", "show"},
                                                     {"audit", "verify"},
                                                     {"policy"},
                                                     {"policy", "list"},
                                                     {"policy", "show"},
                                                     {"policy", "suggest"},
                                                     {"policy", "would-allow"}};
  for (std::vector<std::string> words : levels) {
    words.emplace_back("--help");
    const ParsedCommandLine parsed = Parse(words);
    EXPECT_EQ(parsed.exit_code, kExitOk);
    EXPECT_THAT(parsed.err, IsEmpty());
    EXPECT_THAT(parsed.out, HasSubstr("Usage: warder"));
    EXPECT_THAT(parsed.out, HasSubstr("Exit codes:"));
    std::size_t line = 0;
    while (line < parsed.out.size()) {
      const std::size_t end = std::min(parsed.out.find('\n', line), parsed.out.size());
      EXPECT_LE(end - line, 80u) << parsed.out.substr(line, end - line);
      line = end + 1;
    }
  }
}

TEST(CommandLine, VersionIsOneLine) {
  EXPECT_EQ(Parse({"--version"}).out, "warder " WARDER_VERSION "\n");
}

}  // namespace
}  // namespace warder::supervisor
