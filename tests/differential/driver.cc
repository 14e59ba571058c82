// Judges JSON lines {"schema": ..., "instance": ...} from stdin and answers each with one JSON
// line.
//
//   {"load": "refused", "why": "..."}                                   the schema was refused
//   {"load": "ok", "verdict": "accepted" | "refused", "why": "...", "unenforced": [...]}
//   {"load": "unreadable", "why": "..."}                                 the strict reader refused
//   the line
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "manifest/input_schema.h"
#include "manifest/json.h"

namespace {

using warder::manifest::InputSchema;
using warder::manifest::Json;

Json Answer(const std::string& line) {
  const auto parsed = warder::manifest::ParseStrictJson(line, "line");
  if (!parsed.ok()) {
    return {{"load", "unreadable"}, {"why", std::string(parsed.status().message())}};
  }
  const auto schema = InputSchema::Compile(parsed->at("schema"), warder::manifest::RootRule::kAny);
  if (!schema.ok()) {
    return {{"load", "refused"}, {"why", std::string(schema.status().message())}};
  }
  const absl::Status checked = (*schema)->Check(parsed->at("instance"));
  return {{"load", "ok"},
          {"verdict", checked.ok() ? "accepted" : "refused"},
          {"code", static_cast<int>(checked.code())},
          {"why", std::string(checked.message())},
          {"unenforced", (*schema)->Unenforced()}};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Answer(line).dump() << '\n';
  }
  return 0;
}
