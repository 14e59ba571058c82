// warder list.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_format.h"
#include "manifest/catalog.h"
#include "manifest/digest.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"
#include "supervisor/resolve.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using manifest::ToolSpec;

// Columns from which there is room for the command beside the description.
constexpr int kWide = 120;

std::string Seconds(std::int64_t ms) {
  return ms % 1000 == 0 ? absl::StrFormat("%d s", ms / 1000) : absl::StrFormat("%d ms", ms);
}

std::string Command(const ToolSpec& tool) {
  std::string text;
  for (const std::string& word : tool.command) text += (text.empty() ? "" : " ") + word;
  return text;
}

Json ToolJson(const ToolSpec& tool) {
  Json env = Json::array();
  for (const auto& [name, value] : tool.env) env.push_back(name);
  Json json = {{"name", tool.name}, {"description", tool.description}};
  json["side_effect"] = manifest::SideEffectName(tool.side_effect);
  json["timeout_ms"] = tool.timeout_ms;
  json["command"] = tool.command;
  json["cwd"] = tool.cwd ? Json(*tool.cwd) : Json();
  json["env"] = std::move(env);
  json["source"] = tool.source;
  json["entry_digest"] = manifest::Hex(tool.entry_digest);
  return json;
}

int ListJson(const manifest::Catalog& catalog, const std::string& workspace) {
  Json tools = Json::array();
  for (const ToolSpec& tool : catalog.tools) tools.push_back(ToolJson(tool));
  return PrintJson(Json{{"workspace", workspace}, {"tools", std::move(tools)}});
}

}  // namespace

int RunList(const Options& options) {
  const auto places = FindPlacesUnprivileged(options);
  if (!places.ok()) return Fail(places.status());
  const auto catalog = LoadTools(places->config, places->workspace);
  if (!catalog.ok()) return Fail(catalog.status());
  const std::string& workspace = places->workspace.path;
  if (options.json) return ListJson(*catalog, workspace);
  if (catalog->tools.empty()) {
    Complain(workspace + ": declares no tools; a workspace does so in .basis/tools.json");
    return kExitOk;
  }
  const int columns = TerminalColumns(STDOUT_FILENO);
  const bool wide = columns >= kWide;
  Table table(wide ? std::vector<std::string>{"TOOL", "EFFECT", "TIMEOUT", "COMMAND", "DESCRIPTION"}
                   : std::vector<std::string>{"TOOL", "EFFECT", "TIMEOUT", "DESCRIPTION"});
  for (const ToolSpec& tool : catalog->tools) {
    std::vector<std::string> row{tool.name, manifest::SideEffectName(tool.side_effect),
                                 Seconds(tool.timeout_ms)};
    if (wide) row.push_back(Command(tool));
    row.push_back(tool.description);
    table.Add(std::move(row));
  }
  return Print(table.Render(columns));
}

}  // namespace warder::supervisor
