#include "tests/support/sample_call.h"

#include "manifest/digest.h"

namespace warder::testing {
namespace {

manifest::Sha256 Filled(std::uint8_t byte) {
  manifest::Sha256 digest{};
  digest.fill(byte);
  return digest;
}

manifest::PinnedFile File(manifest::FileRole role, std::string path, std::uint64_t inode) {
  manifest::PinnedFile file;
  file.role = role;
  file.path = path;
  file.written = std::move(path);
  file.device = 2049;
  file.inode = inode;
  file.size = 100 + inode;
  file.mode = 0755;
  file.digest = Filled(static_cast<std::uint8_t>(inode));
  return file;
}

manifest::NamedPolicy SamplePolicy() {
  manifest::NamedPolicy policy;
  policy.name = "default";
  policy.source = "/usr/share/warder/policies/default.json";
  policy.digest = Filled(0xd0);
  policy.confinement.filesystem.grants = {{"/usr", sandbox::PathAccess::kRead, false, "programs"}};
  policy.confinement.limits.wall_ms = 120'000;
  policy.confinement.limits.stdout_bytes = 1'048'576;
  policy.confinement.limits.stderr_bytes = 65'536;
  policy.confinement.limits.memory_bytes = 536'870'912;
  policy.confinement.limits.processes = 64;
  return policy;
}

}  // namespace

manifest::PreparedCall SampleCall() {
  manifest::PreparedCall call;
  call.tool.name = "report";
  call.tool.description = "Writes a report.";
  call.tool.command = {"./report.py", "--format", "text"};
  call.tool.cwd = "sub";
  call.tool.source = "/ws/.basis/tools.json";
  call.tool.entry_digest = Filled(0xe0);
  call.workspace_path = "/ws";
  call.workspace_device = 2049;
  call.workspace_inode = 7;
  call.policy = SamplePolicy();
  call.argv = {"/usr/bin/python3", "/ws/report.py", "--format", "text"};
  call.shown_argv = {"./report.py", "--format", "text"};
  call.command_with_variables = call.tool.command;
  call.files.push_back(File(manifest::FileRole::kInterpreter, "/usr/bin/python3", 11));
  call.files.push_back(File(manifest::FileRole::kProgram, "/ws/report.py", 12));
  call.files.back().copied = true;
  call.files.back().owner = 1000;
  call.cwd_path = "/ws/sub";
  call.cwd_device = 2049;
  call.cwd_inode = 8;
  call.environment = {{"LD_PRELOAD", "s3cr3t-loader", manifest::VariableOrigin::kManifest, true},
                      {"PATH", "/usr/bin", manifest::VariableOrigin::kInherited, false},
                      {"TOKEN", "s3cr3t-token", manifest::VariableOrigin::kManifest, false}};
  call.variables_read = {"TOK"};
  call.input = R"({"ref":"main","n":3})";
  call.input_digest = manifest::Digest(call.input);
  call.timeout_ms = 60'000;
  return call;
}

approval::Ticket SampleTicket() {
  approval::Ticket ticket;
  ticket.id = "0123456789abcdef";
  ticket.requester = {1000, 1001, 4242, 987654, "cli call"};
  ticket.workspace_path = "/ws";
  ticket.workspace_device = 2049;
  ticket.workspace_inode = 7;
  ticket.tool = "report";
  ticket.tool_source = "/ws/.basis/tools.json";
  ticket.description = "Writes a report.";
  ticket.side_effect = "process";
  ticket.manifest_entry = Filled(0xe0);
  ticket.argv = {"/usr/bin/python3", "/ws/report.py", "--format", "text"};
  ticket.shown_argv = {"./report.py", "--format", "text"};
  ticket.stored_argv = {"./report.py", "--format", "${FORMAT:-text}"};
  ticket.files = {{"interpreter", "/usr/bin/python3", 2049, 11, 111, 0755, 0, false, Filled(11)},
                  {"program", "/ws/report.py", 2049, 12, 112, 0755, 1000, true, Filled(12)}};
  ticket.cwd_path = "/ws/sub";
  ticket.stored_cwd = "sub";
  ticket.cwd_device = 2049;
  ticket.cwd_inode = 8;
  ticket.environment = {{"LD_PRELOAD", "manifest", true, Filled(0xf1)},
                        {"PATH", "inherited", false, Filled(0xf2)}};
  ticket.variables_read = {"FORMAT"};
  ticket.argv_holds_variables = true;
  ticket.input = R"({"ref":"main","n":3})";
  ticket.input_digest = Filled(0xa0);
  ticket.policy = "default";
  ticket.policy_source = "/usr/share/warder/policies/default.json";
  ticket.policy_digest = Filled(0xd0);
  ticket.confinement = {"Can be read: \"/usr\".", "Network: no network."};
  ticket.timeout_ms = 60'000;
  ticket.stdout_bytes = 1'048'576;
  ticket.stderr_bytes = 65'536;
  ticket.memory_bytes = 536'870'912;
  ticket.processes = 64;
  ticket.asked_at_ms = 1'000;
  ticket.ask_deadline_ms = 301'000;
  return ticket;
}

}  // namespace warder::testing
