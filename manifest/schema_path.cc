#include "manifest/schema_path.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_replace.h"
#include "manifest/json.h"

namespace warder::manifest {

std::string ShownName(std::string_view name) {
  constexpr std::size_t kMaxShown = 64;
  // Cutting may split a character: the writer below replaces the half that is left.
  const std::string_view kept = name.substr(0, kMaxShown);
  std::string text = Json(kept).dump(-1, ' ', true, Json::error_handler_t::replace);
  text = text.substr(1, text.size() - 2);
  absl::StrReplaceAll({{"\\\"", "\""}, {"\\\\", "\\"}, {"\x7f", "\\u007f"}}, &text);
  if (kept.size() < name.size()) text += "...";
  return text;
}

std::string PointerText(const PathStep* last) {
  std::vector<std::string> steps;
  for (const PathStep* step = last; step != nullptr; step = step->parent) {
    steps.push_back(step->key.data() == nullptr
                        ? std::to_string(step->index)
                        : absl::StrReplaceAll(ShownName(step->key), {{"~", "~0"}, {"/", "~1"}}));
  }
  std::string text;
  std::for_each(steps.rbegin(), steps.rend(), [&](const std::string& step) { text += "/" + step; });
  return text;
}

}  // namespace warder::manifest
