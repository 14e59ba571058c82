// `warder policy would-allow` as its users see it, and that a cell gives the answers it predicts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_warder.h"

namespace warder {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;

class WouldAllow : public ::testing::Test {
 protected:
  WarderRun Ask(std::vector<std::string> words) {
    words.insert(words.begin(), {"policy", "would-allow"});
    return host_.Run(std::move(words));
  }
  json Answer(std::vector<std::string> words) {
    words.emplace_back("--json");
    const WarderRun run = Ask(std::move(words));
    json answer = json::parse(run.out, nullptr, false);
    EXPECT_TRUE(answer.is_object()) << run.out << run.err;
    EXPECT_EQ(run.exit_code, answer["allowed"] == true ? 0 : 1) << run.out << run.err;
    return answer;
  }
  WarderHost host_;
};

TEST_F(WouldAllow, NamesVerdictAndRuleOfEachKind) {
  const json allowed = Answer({"openat", "-100", "0", "0x80000"});
  EXPECT_EQ(allowed["verdict"], "allow");
  EXPECT_EQ(allowed["errno"], nullptr);
  EXPECT_EQ(allowed["rule"]["effect"], "allow");
  EXPECT_EQ(allowed["rule"]["group"], "file-read");
  EXPECT_THAT(allowed["rule"]["place"], HasSubstr("/base.json:"));
  EXPECT_EQ(allowed["arguments"], json({"0xffffffffffffff9c", "0x0", "0x80000"}));
  EXPECT_EQ(allowed["assumed_zero"], json({3}));

  const json denied = Answer({"mount"});
  EXPECT_EQ(denied["verdict"], "notify");
  EXPECT_EQ(denied["errno"]["name"], "EPERM");
  EXPECT_EQ(denied["rule"]["effect"], "deny");
  EXPECT_EQ(denied["rule"]["group"], "mount");
  EXPECT_EQ(denied["rule"]["reason"], "Would take the cell's view of the files apart.");

  const json probe = Answer({"clone3", "0x1000", "88"});
  EXPECT_EQ(probe["verdict"], "errno");
  EXPECT_EQ(probe["errno"]["name"], "ENOSYS");
  EXPECT_EQ(probe["rule"]["group"], "feature-probes");

  const json unknown = Answer({"999"});
  EXPECT_EQ(unknown["errno"]["name"], "ENOSYS");
  EXPECT_EQ(unknown["rule"], nullptr);
}

TEST_F(WouldAllow, JudgesByArguments) {
  EXPECT_EQ(Answer({"socket", "AF_INET", "SOCK_STREAM", "6"})["verdict"], "allow");
  const json raw = Answer({"socket", "AF_INET", "SOCK_RAW", "1"});
  EXPECT_EQ(raw["errno"]["name"], "EPERM");
  EXPECT_EQ(raw["rule"]["conditions"],
            json({"argument 0 & 0xffffffff is 0x2", "argument 1 & 0xf is 0x3"}));
  EXPECT_EQ(Answer({"ioctl", "0", "TIOCSTI"})["verdict"], "notify");
  EXPECT_EQ(Answer({"ioctl", "0", "0xdead00005412"})["verdict"], "notify");
  EXPECT_EQ(Answer({"clone", "CLONE_NEWUSER|17"})["verdict"], "notify");
  EXPECT_EQ(Answer({"clone", "17"})["verdict"], "allow");
  EXPECT_EQ(Answer({"socket"})["assumed_zero"], json({0, 1, 2}));
}

#if defined(__x86_64__)
TEST_F(WouldAllow, ForeignAbisKill) {
  for (const char* abi : {"x32", "i386"}) {
    const json answer = Answer({"--abi", abi, "getpid"});
    EXPECT_EQ(answer["verdict"], "kill");
    EXPECT_EQ(answer["rule"], nullptr);
  }
}
#endif

TEST_F(WouldAllow, TextIsForPeople) {
  const WarderRun run = Ask({"-p", "agent-host", "chmod", "0", "02755"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("refused with EPERM, and recorded as a denial"));
  EXPECT_THAT(run.out, HasSubstr("agent-host.json:"));
  EXPECT_THAT(run.out, HasSubstr("argument 1 & 0x400 is 0x400"));
  EXPECT_THAT(run.out, HasSubstr("S_ISGID on a file"));
  EXPECT_EQ(Ask({"chmod", "0", "02755"}).exit_code, 0);
  EXPECT_THAT(Ask({"socket"}).out, HasSubstr("taken as 0: argument 0, 1, 2"));
  EXPECT_THAT(Ask({"read"}).out, Not(HasSubstr("NOTE")));
}

TEST_F(WouldAllow, AsksTheOperatorsOwnPolicy) {
  host_.tree().Write("config/policies/mine.json", R"({"schema": 1, "extends": "default",
    "description": "kills", "syscalls": {"deny": [
      {"calls": ["getcpu"], "action": "kill", "reason": "test"}]}})");
  const json answer = Answer({"-p", "mine", "getcpu"});
  EXPECT_EQ(answer["verdict"], "kill");
  EXPECT_THAT(answer["rule"]["place"], EndsWith("/mine.json:3"));
}

TEST_F(WouldAllow, MistakesAreNamed) {
  const WarderRun name = Ask({"opneat"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_EQ(name.out, "");
  EXPECT_THAT(name.err, HasSubstr("`opneat` is no system call that libseccomp knows; did you mean "
                                  "`openat`?"));
  EXPECT_EQ(Ask({"read", "x"}).exit_code, 2);
  EXPECT_EQ(Ask({"read", "1", "2", "3", "4", "5", "6", "7"}).exit_code, 2);
  EXPECT_EQ(Ask({"read", "--abi", "arm"}).exit_code, 2);
  EXPECT_EQ(Ask({}).exit_code, 2);
  const WarderRun policy = Ask({"-p", "defualt", "read"});
  EXPECT_EQ(policy.exit_code, 125);
  EXPECT_THAT(policy.err, HasSubstr("did you mean `default`?"));
  EXPECT_EQ(Ask({"-p", "base", "read"}).exit_code, 125) << "only there to be extended";
}

// The prediction and the kernel: each call made for real in a cell of the same policy.
TEST_F(WouldAllow, CellsAnswerAsItSays) {
  struct Call {
    std::vector<std::string> words;
    std::string by_python;  // number and arguments
  };
  std::string program = "import ctypes, errno\nl = ctypes.CDLL(None, use_errno=True)\n";
  program += "def call(*a):\n  r = l.syscall(*map(ctypes.c_long, a))\n";
  program += "  print(errno.errorcode[ctypes.get_errno()] if r < 0 else 'allow')\n";
  const std::vector<Call> calls = {{{"getppid"}, "110"},
                                   {{"chroot", "0"}, "161, 0"},
                                   {{"clone3", "0", "0"}, "435, 0, 0"},
                                   {{"socket", "38", "5", "0"}, "41, 38, 5, 0"},
                                   {{"socket", "1", "1", "0"}, "41, 1, 1, 0"},
                                   {{"socket", "46", "1", "0"}, "41, 46, 1, 0"},
                                   {{"999"}, "999"}};
  std::string predicted;
  for (const auto& [words, by_python] : calls) {
    program += "call(" + by_python + ")\n";
    const json answer = Answer(words);
    predicted +=
        answer["allowed"] == true ? "allow\n" : answer["errno"]["name"].get<std::string>() + "\n";
  }
  EXPECT_EQ(predicted, "allow\nEPERM\nENOSYS\nEPERM\nallow\nENOSYS\nENOSYS\n");
#if defined(__x86_64__)
  const WarderRun run = host_.Run(
      {"exec", "-p", "default", "--approve", "allow-all", "--", "/usr/bin/python3", "-c", program});
  EXPECT_EQ(run.out, predicted) << run.err;
#endif
}

}  // namespace
}  // namespace warder
