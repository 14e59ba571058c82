#include "approval/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "absl/strings/str_join.h"
#include "approval/visible_units.h"
#include "manifest/digest.h"
#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using std::string_literals::operator""s;

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SampleTicket;

constexpr Style kApprover = {100, false, Words::kExpanded, Charset::kUtf8};

// The lines put together again: continuations joined to what they continue.
std::string Text(const Ticket& ticket, const Style& style) {
  std::string text;
  for (const std::string& line : RenderPreview(ticket, style)) {
    if (line.starts_with(kContinuation)) {
      text += line.substr(kContinuation.size());
    } else {
      text += "\n" + line;
    }
  }
  return text;
}

TEST(Preview, NothingOfTheTicketIsLeftOut) {
  const Ticket ticket = SampleTicket();
  const std::string text = Text(ticket, kApprover);
  for (const std::string& part :
       std::vector<std::string>{"tool: \"report\"",
                                "\"/ws/.basis/tools.json\"",
                                manifest::Hex(ticket.manifest_entry),
                                "workspace: \"/ws\" (device 2049, inode 7)",
                                "[0] \"./report.py\"",
                                "[2] \"text\"",
                                "[0] \"/usr/bin/python3\"",
                                "[1] \"/ws/report.py\"",
                                "\"${FORMAT:-text}\"",
                                "interpreter \"/usr/bin/python3\"",
                                "program \"/ws/report.py\"",
                                manifest::Hex(ticket.files[0].digest),
                                manifest::Hex(ticket.files[1].digest),
                                "owner uid 1000, mode 0755, 112 bytes",
                                "cwd: \"/ws/sub\" (device 2049, inode 8)",
                                "input: 20 bytes",
                                manifest::Hex(ticket.input_digest),
                                "\"ref\": \"main\"",
                                "\"n\": 3",
                                "LD_PRELOAD (manifest) CHANGES WHICH CODE IS LOADED",
                                "PATH (inherited)",
                                "reads the variables \"FORMAT\"",
                                "policy: \"default\"",
                                "\"/usr/share/warder/policies/default.json\"",
                                manifest::Hex(ticket.policy_digest),
                                "Can be read: \"/usr\".",
                                "Network: no network.",
                                "at most 60000 ms",
                                "1048576 bytes",
                                "65536 bytes",
                                "536870912 bytes",
                                "processes: 64",
                                "\"Writes a report.\"",
                                "side effect \"process\"",
                                "uid 1000, gid 1001, pid 4242 (start 987654), via \"cli call\"",
                                "within 300000 ms",
                                "30313233343536373839616263646566",
                                TicketDigestHex(ticket)}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Preview, CopiedFilesAreToldFromPinnedOnes) {
  const std::string text = Text(SampleTicket(), kApprover);
  EXPECT_THAT(text, HasSubstr("a copy with this sha256 runs"));
  EXPECT_THAT(text, HasSubstr("checked again before the start"));
}

TEST(Preview, ManifestsWordsAreCalledClaimsAndStandBelowTheFacts) {
  Ticket ticket = SampleTicket();
  ticket.description = "Runs the tests.\ndigest: 00";
  const std::string text = Text(ticket, kApprover);
  const std::size_t claims = text.find("claims: the manifest's own words, not checked");
  ASSERT_NE(claims, std::string::npos);
  EXPECT_GT(claims, text.find("\n  [0]"));
  EXPECT_GT(text.find("Runs the tests.\\ndigest: 00"), claims);
}

TEST(Preview, EveryWidthShowsTheSameText) {
  Ticket ticket = SampleTicket();
  ticket.argv[2] = std::string(300, 'x') + " \x1b[2K" + std::string(40, ' ') + "tail";
  ticket.description = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
  Style style = kApprover;
  style.columns = 5000;
  const std::string wide = Text(ticket, style);
  for (style.columns = 20; style.columns < 100; ++style.columns) {
    const std::size_t columns = static_cast<std::size_t>(style.columns);
    for (const std::string& line : RenderPreview(ticket, style)) {
      EXPECT_LE(DisplayWidth(line), columns) << line;
    }
    std::string narrow = Text(ticket, style);
    std::string expected = wide;
    // A label whose value begins on the next line has lost the blank behind it.
    for (std::string* text : {&narrow, &expected}) std::erase(*text, ' ');
    EXPECT_EQ(narrow, expected) << style.columns;
  }
  style.columns = -3;
  EXPECT_EQ(RenderPreview(ticket, style), RenderPreview(ticket, {20, false, Words::kExpanded}));
}

// Every text of the ticket that a stranger can choose, or an operator mistype.
Ticket Hostile(const std::string& bytes) {
  Ticket t = SampleTicket();
  for (std::string* text : {&t.workspace_path,
                            &t.tool,
                            &t.tool_source,
                            &t.description,
                            &t.side_effect,
                            &t.cwd_path,
                            &t.stored_cwd,
                            &t.input,
                            &t.policy,
                            &t.policy_source,
                            &t.requester.via,
                            &t.argv[1],
                            &t.shown_argv[1],
                            &t.stored_argv[1],
                            &t.files[0].role,
                            &t.files[0].path,
                            &t.environment[0].name,
                            &t.environment[0].origin,
                            &t.variables_read[0],
                            &t.confinement[0]}) {
    *text += bytes;
  }
  return t;
}

TEST(Preview, NoByteThatATerminalActsOnComesFromTheTicket) {
  const std::string attack =
      "\x1b[2K\r\x1b[1A\x1b]52;c;aGk=\x07\n\x9b"
      "2J\xc2\x9b"
      "1m\xe2\x80\xae\x00\x7f"s;
  for (const Words words : {Words::kStored, Words::kExpanded}) {
    for (const std::string& line : RenderPreview(Hostile(attack), {60, false, words})) {
      const bool harmless = std::all_of(line.begin(), line.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
      });
      EXPECT_TRUE(harmless) << line;
    }
  }
}

TEST(Preview, AsciiStyleIsPureAscii) {
  for (const std::string& line : RenderPreview(Hostile("\xc3\xa9\xe6\x97\xa5"),
                                               {40, false, Words::kExpanded, Charset::kAscii})) {
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x80;
    })) << line;
  }
}

TEST(Preview, ColourAddsOnlyItsOwnEscapes) {
  Style style = kApprover;
  const std::vector<std::string> plain = RenderPreview(Hostile("\x1b[31m"), style);
  style.color = true;
  std::vector<std::string> colored = RenderPreview(Hostile("\x1b[31m"), style);
  ASSERT_EQ(plain.size(), colored.size());
  bool any = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    any = any || plain[i] != colored[i];
    for (const std::string escape : {"\x1b[1m", "\x1b[33m", "\x1b[0m"}) {
      for (std::size_t at; (at = colored[i].find(escape)) != std::string::npos;) {
        colored[i].erase(at, escape.size());
      }
    }
    EXPECT_EQ(plain[i], colored[i]);
  }
  EXPECT_TRUE(any);
}

Ticket WithSecrets() {
  Ticket ticket = SampleTicket();
  ticket.argv[3] = ticket.shown_argv[2] = "s3cr3t";
  ticket.stored_argv = {"${DIR}/report.py", "--format", "${TOK}"};
  ticket.files[1].path = "/ws/s3cr3t/report.py";
  ticket.cwd_path = "/ws/s3cr3t";
  ticket.stored_cwd = "${DIR}";
  return ticket;
}

TEST(Preview, WordsForStorageHoldVariablesAndNotTheirValues) {
  const std::string stored = Text(WithSecrets(), {100, false, Words::kStored});
  EXPECT_THAT(stored, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(stored, HasSubstr("\"${TOK}\""));
  EXPECT_THAT(stored, HasSubstr("cwd: \"${DIR}\""));
  EXPECT_THAT(stored, HasSubstr("program \"${DIR}/report.py\""));
}

TEST(Preview, WhoeverDecidesSeesTheWordsThatRunAndTheWordsThatAreKept) {
  const std::string shown = Text(WithSecrets(), kApprover);
  EXPECT_THAT(shown, HasSubstr("[2] \"s3cr3t\""));
  EXPECT_THAT(shown, HasSubstr("[2] \"${TOK}\""));
}

TEST(Preview, WordsWithoutVariablesAreTheSameForEverybody) {
  Ticket ticket = SampleTicket();
  ticket.argv_holds_variables = false;
  EXPECT_EQ(RenderPreview(ticket, {80, false, Words::kStored}),
            RenderPreview(ticket, {80, false, Words::kExpanded}));
}

TEST(Preview, NoLimitIsSaidInWords) {
  Ticket ticket = SampleTicket();
  ticket.memory_bytes = 0;
  EXPECT_THAT(Text(ticket, kApprover), HasSubstr("memory: no limit of the policy"));
}

TEST(Preview, AnOperatorsCommandLineHasNoManifestAndNoClaims) {
  Ticket ticket = SampleTicket();
  ticket.tool_source = ticket.description = "";
  const std::string text = Text(ticket, kApprover);
  EXPECT_THAT(text, HasSubstr("declared in: no manifest"));
  EXPECT_THAT(text, Not(HasSubstr("claims:")));
}

}  // namespace
}  // namespace warder::approval
