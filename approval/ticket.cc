#include "approval/ticket.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "approval/confinement.h"
#include "manifest/digest.h"

namespace warder::approval {
namespace {

constexpr std::size_t kTicketIdBytes = 16;  // too many to guess, and to meet twice
// The longest wait for an answer, whatever a policy says: more than any working week, far from
// overflow.
constexpr std::int64_t kMaxAskMs = std::int64_t{7} * 24 * 3600 * 1000;
constexpr std::string_view kMagic = "warder ticket 1\n";

const char* RoleName(manifest::FileRole role) {
  return role == manifest::FileRole::kProgram ? "program" : "interpreter";
}

manifest::Sha256 Fingerprint(std::string_view value) {
  static const std::string key = manifest::RandomBytes(32);
  manifest::Sha256 fingerprint{};
  unsigned int size = 0;
  const unsigned char* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   reinterpret_cast<const unsigned char*>(value.data()),
                                   value.size(), fingerprint.data(), &size);
  // A fingerprint of zeroes would make two values look equal.
  if (made == nullptr || size != fingerprint.size()) std::abort();
  return fingerprint;
}

// Writes one record: fields numbered from 1, each as tag, length, payload.
class Record {
 public:
  void Text(std::string_view value) {
    Begin(value.size());
    bytes_ += value;
  }
  void Digest(const manifest::Sha256& value) {
    Text({reinterpret_cast<const char*>(value.data()), value.size()});
  }
  void Number(std::uint64_t value) {
    Begin(8);
    BigEndian(value, 8);
  }
  void Number(std::int64_t value) { Number(static_cast<std::uint64_t>(value)); }
  void Number(std::uint32_t value) { Number(std::uint64_t{value}); }
  void Flag(bool value) {
    Begin(1);
    bytes_ += value ? '\1' : '\0';
  }
  template <typename Item, typename Write>
  void List(const std::vector<Item>& items, Write write) {
    Record list;
    list.BigEndian(items.size(), 8);
    for (const Item& item : items) {
      const std::string payload = write(item);
      list.BigEndian(payload.size(), 8);
      list.bytes_ += payload;
    }
    Text(list.bytes_);
  }
  void Texts(const std::vector<std::string>& items) {
    List(items, [](const std::string& item) { return item; });
  }
  std::string Take() && { return std::move(bytes_); }

 private:
  void Begin(std::size_t length) {
    BigEndian(++tag_, 2);
    BigEndian(length, 8);
  }
  void BigEndian(std::uint64_t value, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
      bytes_ += static_cast<char>((value >> shift) & 0xff);
    }
  }

  std::string bytes_;
  std::uint64_t tag_ = 0;
};

// The structured bindings below name every member: a member that is added and not encoded does not
// compile.

std::string EncodeRequester(const Requester& requester) {
  const auto& [uid, gid, pid, start_ticks, via] = requester;
  Record record;
  record.Number(uid);
  record.Number(gid);
  record.Number(pid);
  record.Number(start_ticks);
  record.Text(via);
  return std::move(record).Take();
}

std::string EncodeFile(const TicketFile& file) {
  const auto& [role, path, device, inode, size, mode, owner, copied, digest] = file;
  Record record;
  record.Text(role);
  record.Text(path);
  record.Number(device);
  record.Number(inode);
  record.Number(size);
  record.Number(mode);
  record.Number(owner);
  record.Flag(copied);
  record.Digest(digest);
  return std::move(record).Take();
}

std::string EncodeVariable(const TicketVariable& variable) {
  const auto& [name, origin, changes_loading, fingerprint] = variable;
  Record record;
  record.Text(name);
  record.Text(origin);
  record.Flag(changes_loading);
  record.Digest(fingerprint);
  return std::move(record).Take();
}

void CopyLimits(const sandbox::Limits& limits, Ticket& ticket) {
  ticket.stdout_bytes = limits.stdout_bytes.value_or(0);
  ticket.stderr_bytes = limits.stderr_bytes.value_or(0);
  ticket.memory_bytes = limits.memory_bytes.value_or(0);
  ticket.processes = limits.processes.value_or(0);
}

}  // namespace

Ticket MakeTicket(const manifest::PreparedCall& call, const Requester& requester,
                  std::int64_t now_boottime_ms) {
  Ticket ticket;
  ticket.id = manifest::RandomBytes(kTicketIdBytes);
  ticket.requester = requester;
  ticket.workspace_path = call.workspace_path;
  ticket.workspace_device = call.workspace_device;
  ticket.workspace_inode = call.workspace_inode;
  ticket.tool = call.tool.name;
  ticket.tool_source = call.tool.source;
  ticket.description = call.tool.description;
  ticket.side_effect = manifest::SideEffectName(call.tool.side_effect);
  ticket.manifest_entry = call.tool.entry_digest;
  ticket.argv = call.argv;
  ticket.shown_argv = call.shown_argv;
  ticket.stored_argv = call.command_with_variables;
  for (const manifest::PinnedFile& file : call.files) {
    ticket.files.push_back({RoleName(file.role), file.path, file.device, file.inode, file.size,
                            file.mode, file.owner, file.copied, file.digest});
  }
  ticket.cwd_path = call.cwd_path;
  ticket.stored_cwd = call.tool.cwd.value_or("");
  ticket.cwd_device = call.cwd_device;
  ticket.cwd_inode = call.cwd_inode;
  for (const manifest::Variable& variable : call.environment) {
    ticket.environment.push_back({variable.name, manifest::VariableOriginName(variable.origin),
                                  variable.changes_loading, Fingerprint(variable.value)});
  }
  ticket.variables_read = call.variables_read;
  ticket.argv_holds_variables = call.argv_holds_variables;
  ticket.input = call.input;
  ticket.input_digest = call.input_digest;
  ticket.policy = call.policy.name;
  ticket.policy_source = call.policy.source;
  ticket.policy_digest = call.policy.digest;
  ticket.confinement = DescribeConfinement(call.policy, call.workspace_path);
  ticket.timeout_ms = call.timeout_ms;
  CopyLimits(call.policy.confinement.limits, ticket);
  ticket.asked_at_ms = now_boottime_ms;
  ticket.ask_deadline_ms = now_boottime_ms + static_cast<std::int64_t>(std::min<std::uint64_t>(
                                                 call.policy.approval.ask_timeout_ms, kMaxAskMs));
  return ticket;
}

std::string EncodeTicket(const Ticket& ticket) {
  const auto& [id, requester, workspace_path, workspace_device, workspace_inode, tool, tool_source,
               description, side_effect, manifest_entry, argv, shown_argv, stored_argv, files,
               cwd_path, stored_cwd, cwd_device, cwd_inode, environment, variables_read,
               argv_holds_variables, input, input_digest, policy, policy_source, policy_digest,
               confinement, timeout_ms, stdout_bytes, stderr_bytes, memory_bytes, processes,
               asked_at_ms, ask_deadline_ms, use_by_ms] = ticket;
  Record record;
  record.Text(id);
  record.Text(EncodeRequester(requester));
  record.Text(workspace_path);
  record.Number(workspace_device);
  record.Number(workspace_inode);
  record.Text(tool);
  record.Text(tool_source);
  record.Text(description);
  record.Text(side_effect);
  record.Digest(manifest_entry);
  record.Texts(argv);
  record.Texts(shown_argv);
  record.Texts(stored_argv);
  record.List(files, EncodeFile);
  record.Text(cwd_path);
  record.Text(stored_cwd);
  record.Number(cwd_device);
  record.Number(cwd_inode);
  record.List(environment, EncodeVariable);
  record.Texts(variables_read);
  record.Flag(argv_holds_variables);
  record.Text(input);
  record.Digest(input_digest);
  record.Text(policy);
  record.Text(policy_source);
  record.Digest(policy_digest);
  record.Texts(confinement);
  record.Number(timeout_ms);
  record.Number(stdout_bytes);
  record.Number(stderr_bytes);
  record.Number(memory_bytes);
  record.Number(processes);
  // The three times say when, not what.
  return std::string(kMagic) + std::move(record).Take();
}

manifest::Sha256 TicketDigest(const Ticket& ticket) {
  return manifest::Digest(EncodeTicket(ticket));
}

std::string TicketDigestHex(const Ticket& ticket) { return manifest::Hex(TicketDigest(ticket)); }

std::int64_t BoottimeMs() {
  timespec now{};
  // Without a clock no deadline can be kept.
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) std::abort();
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace warder::approval
