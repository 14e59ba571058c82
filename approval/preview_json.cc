#include <openssl/evp.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "approval/preview.h"
#include "approval/preview_words.h"
#include "approval/visible_units.h"
#include "manifest/digest.h"

namespace warder::approval {
namespace {

using manifest::Json;

bool IsUtf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (NextCodePoint(text, at) < 0) return false;
  }
  return true;
}

Json Text(std::string_view text) {
  if (IsUtf8(text)) return Json(std::string(text));
  std::string encoded(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  encoded.resize(static_cast<std::size_t>(size));
  return Json{{"base64", encoded}};
}

Json Texts(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(Text(text));
  return array;
}

// As text: device and inode numbers pass 2^53, where many JSON readers begin to round.
Json Whole(std::uint64_t number) { return Json(absl::StrCat(number)); }

Json Files(const Ticket& ticket, Words words) {
  Json files = Json::array();
  for (const TicketFile& file : ticket.files) {
    files.push_back({{"role", Text(file.role)},
                     {"path", Text(FilePath(ticket, file, words))},
                     {"sha256", manifest::Hex(file.digest)},
                     {"device", Whole(file.device)},
                     {"inode", Whole(file.inode)},
                     {"size", file.size},
                     {"mode", file.mode},
                     {"owner", file.owner},
                     {"copied", file.copied}});
  }
  return files;
}

Json Environment(const Ticket& ticket) {
  Json variables = Json::array();
  for (const TicketVariable& variable : ticket.environment) {
    variables.push_back({{"name", Text(variable.name)},
                         {"origin", Text(variable.origin)},
                         {"changes_loading", variable.changes_loading}});
  }
  return variables;
}

Json Place(const std::string& path, std::uint64_t device, std::uint64_t inode) {
  return {{"path", Text(path)}, {"device", Whole(device)}, {"inode", Whole(inode)}};
}

Json Limits(const Ticket& ticket) {
  return {{"timeout_ms", ticket.timeout_ms},
          {"stdout_bytes", ticket.stdout_bytes},
          {"stderr_bytes", ticket.stderr_bytes},
          {"memory_bytes", ticket.memory_bytes},
          {"processes", ticket.processes}};
}

}  // namespace

Json PreviewJson(const Ticket& ticket, Words words) {
  const Requester& by = ticket.requester;
  Json json;
  json["ticket"] =
      manifest::Hex({reinterpret_cast<const std::uint8_t*>(ticket.id.data()), ticket.id.size()});
  json["digest"] = TicketDigestHex(ticket);
  json["tool"] = Text(ticket.tool);
  json["command"] = Texts(CommandWords(ticket, words));
  json["argv_holds_variables"] = ticket.argv_holds_variables;
  if (!HidesWords(ticket, words)) json["argv"] = Texts(ticket.argv);
  json["variables_read"] = Texts(ticket.variables_read);
  json["files"] = Files(ticket, words);
  json["cwd"] = Place(WorkingDirectory(ticket, words), ticket.cwd_device, ticket.cwd_inode);
  json["input"] = {{"bytes", ticket.input.size()},
                   {"sha256", manifest::Hex(ticket.input_digest)},
                   {"text", Text(ticket.input)}};
  json["environment"] = Environment(ticket);
  json["workspace"] = Place(ticket.workspace_path, ticket.workspace_device, ticket.workspace_inode);
  json["declared_in"] = {{"path", Text(ticket.tool_source)},
                         {"entry_sha256", manifest::Hex(ticket.manifest_entry)}};
  json["claims"] = {{"description", Text(ticket.description)},
                    {"side_effect", Text(ticket.side_effect)}};
  json["policy"] = {{"name", Text(ticket.policy)},
                    {"path", Text(ticket.policy_source)},
                    {"sha256", manifest::Hex(ticket.policy_digest)}};
  json["confinement"] = Texts(ticket.confinement);
  json["limits"] = Limits(ticket);
  json["requester"] = {{"uid", by.uid},
                       {"gid", by.gid},
                       {"pid", by.pid},
                       {"start_ticks", by.start_ticks},
                       {"via", Text(by.via)}};
  json["times"] = {{"asked_at_ms", ticket.asked_at_ms},
                   {"ask_deadline_ms", ticket.ask_deadline_ms},
                   {"use_by_ms", ticket.use_by_ms}};
  return json;
}

}  // namespace warder::approval
