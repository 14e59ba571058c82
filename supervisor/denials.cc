#include "supervisor/denials.h"

#include <string.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "sandbox/listener.h"
#include "supervisor/console.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using sandbox::Denial;

// Lines in a text for people and models; of one object in such a line, bytes.
constexpr std::size_t kTextDenials = 10;
constexpr std::size_t kTextObjectBytes = 300;

std::string ErrnoName(int error) {
  const char* name = strerrorname_np(error);
  return name != nullptr ? name : absl::StrFormat("errno %d", error);
}

std::string ShortObject(const std::string& object) {
  if (object.size() <= kTextObjectBytes) return SafeLine(object);
  return SafeLine(std::string_view(object).substr(0, kTextObjectBytes)) + "...";
}

// "/usr/share/warder/policies/base.json:83, group `mount`: Would take ...".
std::string RuleText(const Denial& denial) {
  std::string text = SafeLine(denial.place);
  if (!denial.group.empty()) absl::StrAppend(&text, ", group `", SafeLine(denial.group), "`");
  absl::StrAppend(&text, text.empty() ? "" : ": ", SafeLine(denial.reason));
  return text;
}

std::string Line(const Denial& denial) {
  std::string text = denial.operation.empty() ? "a system call" : SafeLine(denial.operation);
  if (!denial.object.empty()) absl::StrAppend(&text, " ", ShortObject(denial.object));
  absl::StrAppend(&text, ": ", denial.error == 0 ? "killed" : ErrnoName(denial.error), " from ",
                  SafeLine(denial.layer));
  if (denial.count > 1) absl::StrAppend(&text, ", ", denial.count, " times");
  return absl::StrCat(text, " [", RuleText(denial), "]");
}

}  // namespace

std::string DenialText(const sandbox::DenialReport& report) {
  if (report.denials.empty()) return "";
  std::string text = "The cell denied:";
  const std::size_t shown = std::min(report.denials.size(), kTextDenials);
  for (std::size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, "\n  ", Line(report.denials[i]));
  }
  const std::uint64_t more = report.denials.size() - shown;
  if (more > 0) absl::StrAppend(&text, "\n  and ", more, " other kinds of operation");
  if (report.unlisted > 0) {
    absl::StrAppend(&text, "\n  and ", report.unlisted, " operations of kinds beyond the first ",
                    sandbox::kMaxDenials);
  }
  if (report.stopped) {
    absl::StrAppend(&text, "\n  and then more, which were not counted after ",
                    sandbox::kMaxAnswers);
  }
  return text;
}

Json DenialJson(const Denial& denial, const std::string& policy) {
  Json json;
  json["layer"] = SafeLine(denial.layer);
  json["operation"] = denial.operation.empty() ? Json() : Json(SafeLine(denial.operation));
  json["object"] = SafeLine(denial.object);
  json["errno"] = denial.error == 0
                      ? Json()
                      : Json{{"number", denial.error}, {"name", ErrnoName(denial.error)}};
  json["killed"] = denial.error == 0;
  json["rule"] = {{"policy", SafeLine(policy)},
                  {"place", denial.place.empty() ? Json() : Json(SafeLine(denial.place))},
                  {"group", denial.group.empty() ? Json() : Json(SafeLine(denial.group))},
                  {"reason", SafeLine(denial.reason)}};
  json["first_ms"] = denial.first_ms;
  json["count"] = denial.count;
  return json;
}

void RedactObjects(const std::vector<manifest::Variable>& environment,
                   sandbox::DenialReport& report) {
  constexpr std::size_t kShortestSecret = 4;
  std::vector<const manifest::Variable*> longest_first;
  for (const manifest::Variable& variable : environment) {
    if (variable.value.size() >= kShortestSecret) longest_first.push_back(&variable);
  }
  std::sort(longest_first.begin(), longest_first.end(),
            [](const auto* a, const auto* b) { return a->value.size() > b->value.size(); });
  for (Denial& denial : report.denials) {
    for (const manifest::Variable* variable : longest_first) {
      denial.object = absl::StrReplaceAll(
          denial.object, {{variable->value, absl::StrCat("[value of ", variable->name, "]")}});
    }
  }
}

}  // namespace warder::supervisor
