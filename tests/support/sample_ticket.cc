#include "tests/support/sample_ticket.h"

#include "manifest/digest.h"

namespace warder::testing {

approval::Ticket RecordedTicket() {
  constexpr std::int64_t kAskMs = 60'000;
  approval::Ticket ticket;
  ticket.id = "0123456789abcdef";
  ticket.requester = {1000, 1000, 4242, 99, "cli call"};
  ticket.workspace_path = "/srv/ws";
  ticket.workspace_device = 7;
  ticket.workspace_inode = 11;
  ticket.tool = "lint";
  ticket.tool_source = "/srv/ws/.basis/tools.json";
  ticket.description = "Checks the tree.";
  ticket.side_effect = "process";
  ticket.manifest_entry = manifest::Digest("entry");
  ticket.argv = {"/bin/x", "--token", kSampleSecret};
  ticket.shown_argv = ticket.argv;
  ticket.stored_argv = {"/bin/x", "--token", "${TOK}"};
  approval::TicketFile program;
  program.role = "program";
  program.path = "/usr/bin/x";
  program.inode = 5;
  program.size = 1000;
  program.digest = manifest::Digest("program");
  ticket.files = {program};
  ticket.cwd_path = std::string("/srv/ws/") + kSampleSecret;
  ticket.stored_cwd = "${TOK}";
  approval::TicketVariable variable;
  variable.name = "K";
  variable.origin = "manifest";
  variable.fingerprint = manifest::Digest(kSampleSecret);
  ticket.environment = {variable};
  ticket.variables_read = {"TOK"};
  ticket.argv_holds_variables = true;
  ticket.input = kSampleInput;
  ticket.input_digest = manifest::Digest(kSampleInput);
  ticket.policy = "default";
  ticket.policy_source = "/usr/share/warder/policies/default.json";
  ticket.policy_digest = manifest::Digest("policy");
  ticket.timeout_ms = 120'000;
  ticket.asked_at_ms = approval::BoottimeMs();
  ticket.ask_deadline_ms = ticket.asked_at_ms + kAskMs;
  return ticket;
}

}  // namespace warder::testing
