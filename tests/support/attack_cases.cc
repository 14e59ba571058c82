#include "tests/support/attack_cases.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace warder::testing {
namespace {

constexpr const char* kFolder = WARDER_SOURCE_DIR "/tests/attacks";
const std::map<std::string, Control> kControls = {{"", Control::kOutside},
                                                  {"root", Control::kRoot},
                                                  {"routed", Control::kRouted},
                                                  {"absent", Control::kAbsent},
                                                  {"same", Control::kSame}};

std::string Trimmed(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

// Says what proves the case, or why nothing does.
bool IsExplanation(absl::string_view text) {
  return absl::StartsWith(text, "tested by ") || absl::StartsWith(text, "open: ") ||
         absl::StartsWith(text, "no boundary: ") || absl::StartsWith(text, "not here: ");
}

[[noreturn]] void Fail(const std::string& place, const std::string& what) {
  throw std::runtime_error(place + ": " + what);
}

AttackCase Heading(const std::string& place, const std::string& line) {
  const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits('|', 2));
  if (parts.size() != 3) Fail(place, "expected `ID | layer | title`");
  AttackCase entry;
  entry.id = Trimmed(parts[0]);
  entry.policy = "default";
  return entry;
}

AttackProbe Probe(const std::string& place, const std::string& line) {
  const std::vector<std::string> sides = absl::StrSplit(line, absl::MaxSplits(" -> ", 1));
  if (sides.size() != 2) Fail(place, "expected `probe -> result`");
  const std::vector<std::string> parts = absl::StrSplit(sides[1], absl::MaxSplits(';', 1));
  const auto control = kControls.find(parts.size() == 2 ? Trimmed(parts[1]) : "");
  if (control == kControls.end()) Fail(place, "unknown control: " + Trimmed(parts[1]));
  return {.place = place,
          .line = Trimmed(sides[0]),
          .expected = absl::StrSplit(Trimmed(parts[0]), " or "),
          .control = control->second};
}

}  // namespace

void PrintTo(const AttackCase& entry, std::ostream* out) { *out << entry.id; }

std::vector<AttackCase> ReadAttackCases(std::istream& stream, std::string_view file) {
  std::vector<AttackCase> cases;
  bool explained = true;
  std::string line, place;
  const auto finish = [&] {
    if (!explained) Fail(place, cases.back().id + ": no probe, no `tested by`, no reason");
  };
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string text = Trimmed(line.substr(0, line.find('#')));
    if (text.empty()) continue;
    const std::string here = absl::StrCat(std::string(file), ":", number);
    const bool heading = line.front() != ' ';
    if (heading) finish();
    place = here;
    if (heading) {
      cases.push_back(Heading(place, text));
      explained = false;
      continue;
    }
    if (cases.empty()) Fail(place, "no case above");
    absl::string_view rest = text;
    if (absl::ConsumePrefix(&rest, "under: ")) {
      cases.back().policy = std::string(rest);
      continue;
    }
    explained = true;
    if (IsExplanation(text)) continue;
    cases.back().probes.push_back(Probe(place, text));
  }
  finish();
  return cases;
}

std::vector<std::string> AttackGroupNames() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cases") names.insert(entry.path().stem());
  }
  return {names.begin(), names.end()};
}

std::vector<AttackCase> AttackGroup(const std::string& group) {
  const std::string file = group + ".cases";
  std::ifstream stream(std::filesystem::path(kFolder) / file);
  std::vector<AttackCase> cases = ReadAttackCases(stream, file);
  std::erase_if(cases, [](const AttackCase& entry) { return entry.probes.empty(); });
  return cases;
}

}  // namespace warder::testing
