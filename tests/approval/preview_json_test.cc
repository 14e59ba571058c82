#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "approval/preview.h"
#include "manifest/digest.h"
#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SampleTicket;

TEST(PreviewJson, HoldsTheTicket) {
  const Ticket ticket = SampleTicket();
  const manifest::Json json = PreviewJson(ticket, Words::kExpanded);
  EXPECT_EQ(json["ticket"], "30313233343536373839616263646566");
  EXPECT_EQ(json["digest"], TicketDigestHex(ticket));
  EXPECT_EQ(json["tool"], "report");
  EXPECT_EQ(json["command"], manifest::Json(ticket.shown_argv));
  EXPECT_EQ(json["argv"], manifest::Json(ticket.argv));
  EXPECT_EQ(json["files"][1]["path"], "/ws/report.py");
  EXPECT_EQ(json["files"][1]["inode"], "12");
  EXPECT_EQ(json["files"][1]["copied"], true);
  EXPECT_EQ(json["cwd"]["path"], "/ws/sub");
  EXPECT_EQ(json["input"]["text"], ticket.input);
  EXPECT_EQ(json["input"]["bytes"], 20);
  EXPECT_EQ(json["environment"][0]["name"], "LD_PRELOAD");
  EXPECT_EQ(json["environment"][0]["changes_loading"], true);
  EXPECT_EQ(json["claims"]["description"], "Writes a report.");
  EXPECT_EQ(json["policy"]["name"], "default");
  EXPECT_EQ(json["confinement"].size(), 2u);
  EXPECT_EQ(json["limits"]["timeout_ms"], 60'000);
  EXPECT_EQ(json["requester"]["via"], "cli call");
  EXPECT_EQ(json["times"]["ask_deadline_ms"], 301'000);
}

TEST(PreviewJson, TheStoredFormHoldsVariablesAndNotTheirValues) {
  Ticket ticket = SampleTicket();
  ticket.argv[3] = ticket.shown_argv[2] = "s3cr3t";
  ticket.cwd_path = "/ws/s3cr3t";
  ticket.stored_cwd = "${DIR}";
  ticket.files[1].path = "/ws/s3cr3t/report.py";
  ticket.stored_argv[0] = "${DIR}/report.py";
  const manifest::Json json = PreviewJson(ticket);
  EXPECT_THAT(manifest::WriteJson(json), Not(HasSubstr("s3cr3t")));
  EXPECT_FALSE(json.contains("argv"));
  EXPECT_EQ(json["argv_holds_variables"], true);
  EXPECT_EQ(json["command"][2], "${FORMAT:-text}");
  EXPECT_EQ(json["cwd"]["path"], "${DIR}");
  EXPECT_EQ(json["files"][1]["path"], "${DIR}/report.py");
  EXPECT_EQ(json["files"][0]["path"], "/usr/bin/python3");
}

TEST(PreviewJson, FingerprintsOfTheEnvironmentAreNotInIt) {
  const Ticket ticket = SampleTicket();
  EXPECT_THAT(manifest::WriteJson(PreviewJson(ticket, Words::kExpanded)),
              Not(HasSubstr(manifest::Hex(ticket.environment[0].fingerprint))));
}

TEST(PreviewJson, BytesThatAreNotUtf8AreKeptAsBase64) {
  Ticket ticket = SampleTicket();
  ticket.shown_argv[1] = "a\xff";
  const manifest::Json json = PreviewJson(ticket, Words::kExpanded);
  EXPECT_EQ(json["command"][1], (manifest::Json{{"base64", "Yf8="}}));
}

TEST(PreviewJson, WrittenAsAsciiItHoldsNothingThatATerminalActsOn) {
  Ticket ticket = SampleTicket();
  for (std::string* text : {&ticket.tool, &ticket.description, &ticket.cwd_path, &ticket.input,
                            &ticket.shown_argv[0], &ticket.confinement[0]}) {
    *text += "\x1b[2K\r\x07\x7f\xc2\x9b\xe2\x80\xae";
  }
  const std::string text = manifest::WriteJson(PreviewJson(ticket, Words::kExpanded), true);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
  EXPECT_THAT(text, HasSubstr("\\u001b[2K"));
}

}  // namespace
}  // namespace warder::approval
