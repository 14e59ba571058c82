#include "approval/ticket.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "manifest/digest.h"
#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using std::string_literals::operator""s;

using testing::SampleCall;
using testing::SampleTicket;

// Computed from the layout in approval/README.md by a program of its own.
constexpr const char* kGoldenDigest =
    "132cbfd39140070468e48d4a52aae2d1d67c7f87a6d530472f0b48b08f0ea87c";
constexpr std::size_t kGoldenBytes = 1626;

TEST(TicketEncoding, MatchesTheGoldenDigest) {
  EXPECT_EQ(EncodeTicket(SampleTicket()).size(), kGoldenBytes);
  EXPECT_EQ(TicketDigestHex(SampleTicket()), kGoldenDigest);
}

TEST(TicketEncoding, BeginsWithItsNameAndTheTaggedId) {
  const std::string head =
      "warder ticket 1\n\0\1\0\0\0\0\0\0\0\x10"
      "0123456789abcdef\0\2"s;
  EXPECT_EQ(EncodeTicket(SampleTicket()).substr(0, head.size()), head);
}

TEST(TicketEncoding, MovingBytesBetweenNeighboursChangesIt) {
  Ticket a = SampleTicket();
  Ticket b = SampleTicket();
  a.argv = {"ab", "c"};
  b.argv = {"a", "bc"};
  EXPECT_NE(TicketDigest(a), TicketDigest(b));
  b.argv = {"ab", "c", ""};
  EXPECT_NE(TicketDigest(a), TicketDigest(b));
  b = a;
  b.tool += b.tool_source.substr(0, 1);
  b.tool_source.erase(0, 1);
  EXPECT_NE(TicketDigest(a), TicketDigest(b));
}

using Change = std::function<void(Ticket&)>;

std::vector<Change> FieldChanges() {
  return {
      [](Ticket& t) { t.id[15] ^= 1; },
      [](Ticket& t) { t.workspace_path += 'x'; },
      [](Ticket& t) { ++t.workspace_device; },
      [](Ticket& t) { ++t.workspace_inode; },
      [](Ticket& t) { t.tool += 'x'; },
      [](Ticket& t) { t.tool_source += 'x'; },
      [](Ticket& t) { t.description += 'x'; },
      [](Ticket& t) { t.side_effect = "external"; },
      [](Ticket& t) { t.manifest_entry[0] ^= 1; },
      [](Ticket& t) { t.argv[3] += 'x'; },
      [](Ticket& t) { t.argv.pop_back(); },
      [](Ticket& t) { t.shown_argv[0] += 'x'; },
      [](Ticket& t) { t.stored_argv[0] += 'x'; },
      [](Ticket& t) { t.files.pop_back(); },
      [](Ticket& t) { std::swap(t.files[0], t.files[1]); },
      [](Ticket& t) { t.cwd_path += 'x'; },
      [](Ticket& t) { t.stored_cwd += 'x'; },
      [](Ticket& t) { ++t.cwd_device; },
      [](Ticket& t) { ++t.cwd_inode; },
      [](Ticket& t) { t.environment.pop_back(); },
      [](Ticket& t) { t.variables_read.clear(); },
      [](Ticket& t) { t.argv_holds_variables = false; },
      [](Ticket& t) { t.input += ' '; },
      [](Ticket& t) { t.input_digest[31] ^= 1; },
      [](Ticket& t) { t.policy += 'x'; },
      [](Ticket& t) { t.policy_source += 'x'; },
      [](Ticket& t) { t.policy_digest[0] ^= 1; },
      [](Ticket& t) { t.confinement[1] += 'x'; },
      [](Ticket& t) { ++t.timeout_ms; },
      [](Ticket& t) { ++t.stdout_bytes; },
      [](Ticket& t) { ++t.stderr_bytes; },
      [](Ticket& t) { ++t.memory_bytes; },
      [](Ticket& t) { ++t.processes; },
  };
}

std::vector<Change> PartChanges() {
  return {
      [](Ticket& t) { ++t.requester.uid; },
      [](Ticket& t) { ++t.requester.gid; },
      [](Ticket& t) { ++t.requester.pid; },
      [](Ticket& t) { ++t.requester.start_ticks; },
      [](Ticket& t) { t.requester.via += 'x'; },
      [](Ticket& t) { t.files[0].role = "program"; },
      [](Ticket& t) { t.files[0].path += 'x'; },
      [](Ticket& t) { ++t.files[0].device; },
      [](Ticket& t) { ++t.files[0].inode; },
      [](Ticket& t) { ++t.files[0].size; },
      [](Ticket& t) { ++t.files[0].mode; },
      [](Ticket& t) { ++t.files[0].owner; },
      [](Ticket& t) { t.files[0].copied = true; },
      [](Ticket& t) { t.files[0].digest[0] ^= 1; },
      [](Ticket& t) { t.environment[0].name += 'x'; },
      [](Ticket& t) { t.environment[0].origin += 'x'; },
      [](Ticket& t) { t.environment[0].changes_loading = false; },
      [](Ticket& t) { t.environment[0].fingerprint[0] ^= 1; },
  };
}

TEST(TicketDigest, AnyChangedFieldChangesIt) {
  std::set<std::string> digests = {TicketDigestHex(SampleTicket())};
  std::vector<Change> changes = FieldChanges();
  const std::vector<Change> parts = PartChanges();
  changes.insert(changes.end(), parts.begin(), parts.end());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Ticket ticket = SampleTicket();
    changes[i](ticket);
    EXPECT_TRUE(digests.insert(TicketDigestHex(ticket)).second) << "change " << i;
  }
}

TEST(TicketDigest, TheTimesAreNotPartOfIt) {
  Ticket ticket = SampleTicket();
  ticket.asked_at_ms = 1;
  ticket.ask_deadline_ms = 2;
  ticket.use_by_ms = 3;
  EXPECT_EQ(TicketDigestHex(ticket), kGoldenDigest);
}

TEST(MakeTicket, TakesEverythingFromTheCall) {
  const manifest::PreparedCall call = SampleCall();
  const Ticket ticket = MakeTicket(call, {1, 2, 3, 4, "cli call"}, 5'000);
  EXPECT_EQ(ticket.requester.uid, 1u);
  EXPECT_EQ(ticket.tool, "report");
  EXPECT_EQ(ticket.tool_source, "/ws/.basis/tools.json");
  EXPECT_EQ(ticket.description, "Writes a report.");
  EXPECT_EQ(ticket.side_effect, "process");
  EXPECT_EQ(ticket.manifest_entry, call.tool.entry_digest);
  EXPECT_EQ(ticket.argv, call.argv);
  EXPECT_EQ(ticket.shown_argv, call.shown_argv);
  EXPECT_EQ(ticket.stored_argv, call.command_with_variables);
  ASSERT_EQ(ticket.files.size(), 2u);
  EXPECT_EQ(ticket.files[0].role, "interpreter");
  EXPECT_EQ(ticket.files[1].role, "program");
  EXPECT_EQ(ticket.files[1].path, "/ws/report.py");
  EXPECT_TRUE(ticket.files[1].copied);
  EXPECT_EQ(ticket.cwd_path, "/ws/sub");
  EXPECT_EQ(ticket.stored_cwd, "sub");
  EXPECT_EQ(ticket.input, call.input);
  EXPECT_EQ(ticket.input_digest, call.input_digest);
  EXPECT_EQ(ticket.policy, "default");
  EXPECT_EQ(ticket.policy_digest, call.policy.digest);
  EXPECT_FALSE(ticket.confinement.empty());
  EXPECT_EQ(ticket.timeout_ms, 60'000);
  EXPECT_EQ(ticket.processes, 64u);
  EXPECT_EQ(ticket.memory_bytes, 536'870'912u);
}

TEST(MakeTicket, IdsAreSixteenRandomBytes) {
  const manifest::PreparedCall call = SampleCall();
  const Ticket a = MakeTicket(call, {}, 0);
  const Ticket b = MakeTicket(call, {}, 0);
  EXPECT_EQ(a.id.size(), 16u);
  EXPECT_NE(a.id, b.id);
  EXPECT_NE(TicketDigest(a), TicketDigest(b));
}

TEST(MakeTicket, TheAskDeadlineIsThePolicysAndAtMostAWeek) {
  manifest::PreparedCall call = SampleCall();
  call.policy.approval.ask_timeout_ms = 1'500;
  EXPECT_EQ(MakeTicket(call, {}, 1'000).ask_deadline_ms, 2'500);
  call.policy.approval.ask_timeout_ms = ~std::uint64_t{0};
  EXPECT_EQ(MakeTicket(call, {}, 1'000).ask_deadline_ms, 1'000 + 604'800'000);
}

TEST(MakeTicket, NoEnvironmentValueIsInItsEncoding) {
  const Ticket ticket = MakeTicket(SampleCall(), {}, 0);
  EXPECT_EQ(EncodeTicket(ticket).find("s3cr3t"), std::string::npos);
}

TEST(MakeTicket, FingerprintsTellEqualValuesAndAreNotPlainHashes) {
  manifest::PreparedCall call = SampleCall();
  call.environment[0].value = call.environment[1].value;
  const Ticket ticket = MakeTicket(call, {}, 0);
  EXPECT_EQ(ticket.environment[0].fingerprint, ticket.environment[1].fingerprint);
  EXPECT_NE(ticket.environment[1].fingerprint, ticket.environment[2].fingerprint);
  EXPECT_NE(ticket.environment[1].fingerprint, manifest::Digest(call.environment[1].value));
}

TEST(MakeTicket, AbsentLimitsAreZero) {
  manifest::PreparedCall call = SampleCall();
  call.policy.confinement.limits = {};
  const Ticket ticket = MakeTicket(call, {}, 0);
  EXPECT_EQ(ticket.stdout_bytes + ticket.stderr_bytes + ticket.memory_bytes + ticket.processes, 0u);
}

TEST(BoottimeMs, NeverGoesBack) {
  const std::int64_t first = BoottimeMs();
  EXPECT_GT(first, 0);
  EXPECT_GE(BoottimeMs(), first);
}

}  // namespace
}  // namespace warder::approval
