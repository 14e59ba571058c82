#include "approval/preview.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "approval/input_tree.h"
#include "approval/preview_words.h"
#include "approval/visible_units.h"
#include "manifest/digest.h"

namespace warder::approval {
namespace {

constexpr int kMinColumns = 20;
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kReset = "\x1b[0m";

std::string Count(std::size_t number, const char* singular) {
  return absl::StrCat(number, " ", singular, number == 1 ? "" : "s");
}

std::string Place(std::uint64_t device, std::uint64_t inode) {
  return absl::StrCat(" (device ", device, ", inode ", inode, ")");
}

class Renderer {
 public:
  Renderer(const Ticket& ticket, const Style& style)
      : ticket_(ticket),
        style_(style),
        columns_(static_cast<std::size_t>(std::max(style.columns, kMinColumns))) {}

  std::vector<std::string> Render() && {
    Origin();
    Command();
    Files();
    Field("cwd: ", Quote(WorkingDirectory(ticket_, style_.words)) +
                       Place(ticket_.cwd_device, ticket_.cwd_inode));
    Input();
    Environment();
    Confinement();
    Limits();
    Claims();
    Ask();
    return std::move(lines_);
  }

 private:
  std::string Quote(std::string_view text) const { return Quoted(text, style_.charset); }
  std::string Show(std::string_view text) const { return Visible(text, style_.charset); }

  // A line of the first level: `label` is Warder's own.
  void Field(std::string_view label, const std::string& visible) {
    const std::size_t first = lines_.size();
    Line(label, visible);
    if (style_.color) {
      const std::size_t size = std::min(label.size(), lines_[first].size());
      lines_[first].insert(size, kReset);
      lines_[first].insert(0, kBold);
    }
  }
  void Line(std::string_view prefix, const std::string& visible) {
    for (std::string& line : Wrap(prefix, visible, columns_)) lines_.push_back(std::move(line));
  }
  void Warning(std::string_view prefix, const std::string& visible) {
    for (const std::string& line : Wrap(prefix, visible, columns_)) {
      lines_.push_back(style_.color ? absl::StrCat(std::string(kYellow), line, std::string(kReset))
                                    : line);
    }
  }
  void Words(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      Line(absl::StrCat("  [", i, "] "), Quote(words[i]));
    }
  }

  void Origin() {
    Field("tool: ", Quote(ticket_.tool));
    Field("declared in: ",
          ticket_.tool_source.empty() ? "no manifest" : Quote(ticket_.tool_source));
    Line("  entry sha256 ", manifest::Hex(ticket_.manifest_entry));
    Field("workspace: ",
          Quote(ticket_.workspace_path) + Place(ticket_.workspace_device, ticket_.workspace_inode));
  }

  void Command() {
    const std::vector<std::string> words = CommandWords(ticket_, style_.words);
    Field("command: ", Count(words.size(), "word"));
    Words(words);
    if (HidesWords(ticket_, style_.words)) {
      Line("  ", "${...} may hold secrets and is filled in only for whoever decides");
    } else {
      if (ticket_.argv != ticket_.shown_argv) {
        Field("run as: ", Count(ticket_.argv.size(), "word"));
        Words(ticket_.argv);
      }
      if (ticket_.argv_holds_variables) {
        Warning("  ", "values of variables are in these words; logs keep:");
        Words(ticket_.stored_argv);
        if (!ticket_.stored_cwd.empty()) Line("  cwd ", Quote(ticket_.stored_cwd));
      }
    }
    std::vector<std::string> names;
    for (const std::string& name : ticket_.variables_read) names.push_back(Quote(name));
    if (!names.empty()) Line("  ", "reads the variables " + absl::StrJoin(names, ", "));
  }

  void Files() {
    Field("program: ", Count(ticket_.files.size(), "file") + ", in the order of their start");
    for (std::size_t i = 0; i < ticket_.files.size(); ++i) {
      const TicketFile& file = ticket_.files[i];
      Line(absl::StrCat("  [", i, "] "),
           absl::StrCat(Show(file.role), " ", Quote(FilePath(ticket_, file, style_.words))));
      Line("  sha256 ", manifest::Hex(file.digest));
      Line("  ", absl::StrFormat("owner uid %d, mode %04o, %d bytes", file.owner,
                                 file.mode & 07777u, file.size) +
                     Place(file.device, file.inode));
      if (file.copied) {
        Line("  ", "others than root can change this file: a copy with this sha256 runs");
      } else {
        Line("  ", "only root can change this file: checked again before the start");
      }
    }
  }

  void Input() {
    Field("input: ", Count(ticket_.input.size(), "byte"));
    Line("  sha256 ", manifest::Hex(ticket_.input_digest));
    DescribeInput(
        ticket_.input, style_.charset,
        [this](std::string_view prefix, const std::string& visible) { Line(prefix, visible); });
  }

  void Environment() {
    Field("environment: ",
          Count(ticket_.environment.size(), "variable") + ", by name; values are not shown");
    for (const TicketVariable& variable : ticket_.environment) {
      const std::string text =
          absl::StrCat(Show(variable.name), " (", Show(variable.origin), ")",
                       variable.changes_loading ? " CHANGES WHICH CODE IS LOADED" : "");
      variable.changes_loading ? Warning("  ", text) : Line("  ", text);
    }
  }

  void Confinement() {
    Field("policy: ", Quote(ticket_.policy));
    Line("  from ", Quote(ticket_.policy_source));
    Line("  sha256 ", manifest::Hex(ticket_.policy_digest));
    for (const std::string& sentence : ticket_.confinement) Line("  - ", Show(sentence));
  }

  void Limits() {
    Field("limits: ", absl::StrCat("at most ", ticket_.timeout_ms, " ms"));
    Bound("standard output kept: ", ticket_.stdout_bytes, " bytes");
    Bound("standard error kept: ", ticket_.stderr_bytes, " bytes");
    Bound("memory: ", ticket_.memory_bytes, " bytes");
    Bound("processes: ", ticket_.processes, "");
  }
  void Bound(const char* what, std::uint64_t limit, const char* unit) {
    Line("  ",
         absl::StrCat(what, limit == 0 ? "no limit of the policy" : absl::StrCat(limit, unit)));
  }

  // What the manifest says of itself stands below the facts, and is named for what it is.
  void Claims() {
    if (ticket_.tool_source.empty() && ticket_.description.empty()) return;
    Field("claims: ", "the manifest's own words, not checked by Warder");
    Line("  > description ", Quote(ticket_.description));
    Line("  > side effect ", Quote(ticket_.side_effect));
  }

  void Ask() {
    const Requester& by = ticket_.requester;
    Field("requester: ", absl::StrCat("uid ", by.uid, ", gid ", by.gid, ", pid ", by.pid,
                                      " (start ", by.start_ticks, "), via ", Quote(by.via)));
    Field("answer: ", absl::StrCat("within ", ticket_.ask_deadline_ms - ticket_.asked_at_ms,
                                   " ms of the ask, else deny"));
    Field("ticket: ", manifest::Hex({reinterpret_cast<const std::uint8_t*>(ticket_.id.data()),
                                     ticket_.id.size()}));
    Field("digest: ", TicketDigestHex(ticket_));
  }

  const Ticket& ticket_;
  Style style_;
  std::size_t columns_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> RenderPreview(const Ticket& ticket, const Style& style) {
  return Renderer(ticket, style).Render();
}

}  // namespace warder::approval
