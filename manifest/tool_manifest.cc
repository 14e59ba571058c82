#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "manifest/catalog.h"
#include "manifest/digest.h"
#include "manifest/expansion.h"
#include "manifest/input_schema.h"
#include "manifest/json.h"
#include "manifest/json_reader.h"

namespace warder::manifest {
namespace {

constexpr JsonLimits kManifestLimits = {
    .bytes = kMaxManifestBytes,
    .depth = 64,         // a deep input schema, with room
    .values = 1u << 17,  // what fits into kMaxManifestBytes at 8 bytes each
};
constexpr std::size_t kMaxCommandWords =
    1024;  // far above any written command; the preview shows them all
constexpr std::size_t kMaxVariables = 256;
constexpr std::int64_t kMaxTimeoutMs = 365LL * 24 * 60 * 60 * 1000;  // a year: safe in nanoseconds

// Order of SideEffect.
constexpr std::array kSideEffects = {SideEffect::kProcess, SideEffect::kExternal};

bool IsBlank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); });
}

std::string NameFault(std::string_view name) {
  const bool characters = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
  if (name.empty() || name.size() > kMaxToolNameBytes || !characters) {
    return absl::StrFormat("a tool's name is 1 to %d of letters, digits, `_` and `-`",
                           kMaxToolNameBytes);
  }
  if (name.starts_with(kForeignToolPrefix)) {
    return absl::StrFormat("names that start with `%s` belong to other MCP servers",
                           kForeignToolPrefix);
  }
  if (std::find(kReservedToolNames.begin(), kReservedToolNames.end(), name) !=
      kReservedToolNames.end()) {
    return "the name is reserved for warder itself: choose another";
  }
  return "";
}

// The kernel takes any name; the preview must be able to show it.
bool IsVariableName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '=';
  });
}

void ReadSchema(JsonObjectReader& reader, ToolSpec& tool) {
  reader.Require("input_schema");
  const Json* schema = reader.Value("input_schema");
  if (schema == nullptr) return;
  if (!schema->is_object()) return reader.Fail("input_schema", "must be an object");
  const auto type = schema->find("type");
  if (type != schema->end() && *type != "object") {
    return reader.Fail("input_schema",
                       "`type` must be \"object\": a call's input is always an object");
  }
  absl::StatusOr<std::shared_ptr<const InputSchema>> compiled = InputSchema::Compile(*schema);
  if (!compiled.ok()) return reader.Fail("input_schema", compiled.status());
  tool.input_schema_text = WriteJson(*schema);
  tool.input_schema = *std::move(compiled);
}

void ReadCommand(JsonObjectReader& reader, ToolSpec& tool) {
  tool.command = reader.Strings("command");
  if (!reader.ok()) return;
  if (tool.command.empty()) return reader.Fail("command", "must name a program");
  if (tool.command.size() > kMaxCommandWords) {
    return reader.Fail("command", absl::StrFormat("has more than %d words", kMaxCommandWords));
  }
  if (IsBlank(tool.command.front())) return reader.FailElement("command", 0, "must not be blank");
  for (std::size_t i = 0; i < tool.command.size(); ++i) {
    const absl::Status expansion = CheckExpansion(tool.command[i]);
    if (!expansion.ok()) return reader.FailElement("command", i, std::string(expansion.message()));
  }
}

void ReadCwd(JsonObjectReader& reader, ToolSpec& tool) {
  tool.cwd = reader.OptionalString("cwd");
  if (!tool.cwd) return;
  if (IsBlank(*tool.cwd)) return reader.Fail("cwd", "must not be blank: leave it out for the root");
  const absl::Status expansion = CheckExpansion(*tool.cwd);
  if (!expansion.ok()) reader.Fail("cwd", std::string(expansion.message()));
}

void ReadEnv(JsonObjectReader& reader, ToolSpec& tool) {
  tool.env = reader.OptionalStringMap("env");
  if (tool.env.size() > kMaxVariables) {
    return reader.Fail("env", absl::StrFormat("has more than %d variables", kMaxVariables));
  }
  for (const auto& [name, value] : tool.env) {
    if (!IsVariableName(name)) {
      return reader.FailMember("env", name,
                               "a variable's name is printable ASCII without blanks and `=`");
    }
    const absl::Status expansion = CheckExpansion(value);
    if (!expansion.ok()) {
      return reader.FailMember("env", name, std::string(expansion.message()));
    }
  }
}

ToolSpec ReadTool(JsonObjectReader& reader, const std::string& name) {
  ToolSpec tool;
  tool.name = name;
  if (const std::string fault = NameFault(name); !fault.empty()) reader.Fail("", fault);
  tool.description = reader.String("description");
  if (IsBlank(tool.description)) reader.Fail("description", "must not be blank");
  ReadSchema(reader, tool);
  ReadCommand(reader, tool);
  ReadCwd(reader, tool);
  ReadEnv(reader, tool);
  tool.timeout_ms =
      reader.OptionalInteger("timeout_ms", 1, kMaxTimeoutMs).value_or(kDefaultTimeoutMs);
  std::vector<std::string> effects;
  for (const SideEffect effect : kSideEffects) effects.emplace_back(SideEffectName(effect));
  tool.side_effect = kSideEffects[reader.OptionalChoice("side_effect", effects).value_or(0)];
  std::string digested = name + '\0';
  digested += reader.positions().Written(reader.Pointer(""));
  tool.entry_digest = Digest(digested);
  return tool;
}

}  // namespace

absl::StatusOr<std::vector<ToolSpec>> ParseManifest(std::string_view bytes,
                                                    std::string_view source) {
  JsonPositions positions;
  const absl::StatusOr<Json> json = ParseStrictJson(bytes, source, kManifestLimits, &positions);
  if (!json.ok()) return json.status();
  JsonObjectReader reader(*json, positions, std::string(source));
  reader.Require("schema");
  const Json* schema = reader.Value("schema");
  if (schema != nullptr && (!schema->is_number_integer() || *schema != 1)) {
    reader.Fail("schema", "must be 1, the only version that this warder reads");
  }
  reader.Require("tools");
  const Json* entries = reader.Value("tools");
  if (entries != nullptr && entries->size() > kMaxTools) {
    reader.Fail(absl::ResourceExhaustedError(
        absl::StrFormat("%s:%s: tools: %d tools, the limit is %d", source, positions.At("/tools"),
                        entries->size(), kMaxTools)));
  }
  std::vector<ToolSpec> tools;
  reader.EachNamed("tools", "tool", [&](const std::string& name, JsonObjectReader& entry) {
    tools.push_back(ReadTool(entry, name));
    tools.back().source = source;
  });
  absl::Status read = reader.Finish();
  if (!read.ok()) return read;
  std::sort(tools.begin(), tools.end(),
            [](const ToolSpec& a, const ToolSpec& b) { return a.name < b.name; });
  return tools;
}

}  // namespace warder::manifest
