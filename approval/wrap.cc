#include <algorithm>

#include "approval/visible_units.h"

namespace warder::approval {
namespace {

struct Placed {
  std::string_view text;
  std::size_t columns = 0;
};

std::vector<Placed> Split(std::string_view visible) {
  std::vector<Placed> units;
  while (!visible.empty()) {
    const Unit unit = NextUnit(visible);
    units.push_back({visible.substr(0, unit.bytes), unit.columns});
    visible.remove_prefix(unit.bytes);
  }
  return units;
}

// Where the line that starts at `first` and is full before `end` is broken: at most `end`, after
// `first`.
std::size_t BreakBefore(const std::vector<Placed>& units, std::size_t first, std::size_t end,
                        std::size_t columns) {
  // A space further back than this leaves too much of the line empty.
  const std::size_t reach = std::min(end - first, columns / 3);
  for (std::size_t back = 0; back < reach; ++back) {
    const std::size_t at = end - back;
    if (at > first && at < units.size() && units[at].text == " ") return at;
  }
  // A space that ends a line cannot be seen.
  if (end - first > 1 && units[end - 1].text == " ") return end - 1;
  return end;
}

}  // namespace

std::vector<std::string> Wrap(std::string_view prefix, std::string_view visible,
                              std::size_t columns) {
  const std::vector<Placed> units = Split(visible);
  std::vector<std::string> lines;
  std::string line(prefix);
  std::size_t width = prefix.size();
  std::size_t first = 0;
  while (true) {
    std::size_t end = first;
    std::size_t used = width;
    while (end < units.size() && used + units[end].columns <= columns) used += units[end++].columns;
    const bool continued = !lines.empty();
    if (end == first && continued && end < units.size())
      ++end;  // wider than any line: alone on one
    if (end < units.size() && end > first) end = BreakBefore(units, first, end, columns);
    for (std::size_t i = first; i < end; ++i) line += units[i].text;
    if (end == first && !continued) line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
    if (end == units.size()) return lines;
    first = end;
    line = kContinuation;
    width = kContinuation.size();
  }
}

}  // namespace warder::approval
