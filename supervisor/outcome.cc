#include "supervisor/outcome.h"

#include <string.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "manifest/digest.h"
#include "supervisor/capture.h"
#include "supervisor/console.h"
#include "supervisor/denials.h"

namespace warder::supervisor {
namespace {

// Of one stream in the text form: what fits a message. The JSON form holds all that was kept.
constexpr std::size_t kTextBytes = 64u << 10;
// Of a name or reason that a stranger chose.
constexpr std::size_t kWordsBytes = 4096;

// Sensitive changes in the text form; the JSON form has all that were kept.
constexpr std::size_t kShownChanges = 20;

// Exit codes, DESIGN 7.6.
constexpr int kSignalBase = 128;
constexpr int kTimedOutCode = 124;
constexpr int kRefusedCode = 126;
constexpr int kCouldNotStartCode = 127;

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

bool Blank(const Captured& stream) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  return stream.head.find_first_not_of(kBlank) == std::string::npos &&
         stream.tail.find_first_not_of(kBlank) == std::string::npos;
}

std::string Words(std::string_view text) { return SafeText(text.substr(0, kWordsBytes)); }

// What was kept of `stream`, printable, with its middle left out where it is long or was never
// kept.
std::string StreamText(const Captured& stream) {
  constexpr std::size_t kHalf = kTextBytes / 2;
  const std::string whole = stream.head + stream.tail;
  if (!stream.truncated() && whole.size() <= kTextBytes) return SafeText(whole);

  const std::size_t cut = stream.truncated() ? stream.head.size() : kHalf;
  std::string_view head = std::string_view(whole).substr(0, std::min(cut, kHalf));
  std::string_view tail = std::string_view(whole).substr(cut);
  tail.remove_prefix(tail.size() - std::min(tail.size(), kHalf));
  TrimToCharacters(head, tail);
  return absl::StrCat(SafeText(head), "\n[", stream.total_bytes - head.size() - tail.size(),
                      " bytes left out]\n", SafeText(tail));
}

std::string Succeeded(const std::string& tool, const Captured& out) {
  if (out.total_bytes == 0) return tool + " succeeded and printed nothing.";
  std::string text = absl::StrFormat("%s succeeded and printed %d byte%s", tool, out.total_bytes,
                                     out.total_bytes == 1 ? "" : "s");
  if (out.truncated()) {
    absl::StrAppend(&text, ", of which the first ", out.head.size(), " and the last ",
                    out.tail.size(), " were kept");
  }
  return text + ".";
}

std::string CouldNotStartSentence(const std::string& tool, const CouldNotStart& failure) {
  std::string text = absl::StrFormat("%s could not start: %s", tool, Words(failure.step));
  if (failure.error != 0) absl::StrAppend(&text, ": ", strerrordesc_np(failure.error));
  return text + (failure.detail.empty() ? "." : ": " + Words(failure.detail));
}

std::string RefusedSentence(const std::string& tool, const Refused& refused) {
  const std::string text =
      absl::StrFormat("%s was refused (%s)", tool, approval::RefusalCodeName(refused.code));
  return text + (refused.reason.empty() ? "." : ": " + Words(refused.reason));
}

// What the kernel sends this signal for, when that says more than its name. Any program can send it
// to itself, too.
const char* SignalHint(int signal) {
  switch (signal) {
    case SIGXFSZ:
      return ", which says that a file would outgrow its limit";
    case SIGSYS:
      return ", which is what a system call that the cell kills for looks like";
    default:
      return "";
  }
}

std::string Sentence(const Outcome& outcome) {
  const std::string tool = "`" + Words(outcome.tool) + "`";
  return std::visit(
      Overloaded{
          [&](const Exited& exited) {
            if (exited.code == 0) return Succeeded(tool, outcome.out);
            return absl::StrFormat("%s exited with code %d.", tool, exited.code);
          },
          [&](const Signaled& signaled) {
            return absl::StrFormat("%s was ended by signal %d (%s)%s.", tool, signaled.signal,
                                   SignalName(signaled.signal), SignalHint(signaled.signal));
          },
          [&](const TimedOut& timed_out) {
            return absl::StrFormat("%s was stopped after %d ms, its time limit.", tool,
                                   timed_out.limit_ms);
          },
          [&](const CpuLimit&) { return tool + " was stopped at its limit of processor time."; },
          [&](const MemoryLimit&) { return tool + " was stopped at its memory limit."; },
          [&](const ProcessLimit&) { return tool + " was stopped at its limit of processes."; },
          [&](const OutputLimit&) { return tool + " was stopped at its limit of output."; },
          [&](const Cancelled&) { return tool + " was cancelled before it finished."; },
          [&](const CouldNotStart& failure) { return CouldNotStartSentence(tool, failure); },
          [&](const Refused& refused) { return RefusedSentence(tool, refused); },
      },
      outcome.ending);
}

std::string ChangeLine(const SensitiveChange& change) {
  std::string line = absl::StrCat("\n  ", change.kind, " `", SafeLine(change.path), "`");
  if (change.sha256) absl::StrAppend(&line, " (sha256 ", manifest::Hex(*change.sha256), ")");
  if (!change.moved_to.empty()) {
    absl::StrAppend(&line, ", moved to `", SafeLine(change.moved_to), "`");
  }
  if (change.removed) absl::StrAppend(&line, ", removed");
  if (!change.fault.empty()) {
    absl::StrAppend(&line, change.moved_to.empty() ? ", still there, remove it by hand: " : ": ",
                    Words(change.fault));
  }
  return line;
}

// Whether the tool itself ran and did not succeed: then what it printed explains why.
bool RanAndFailed(const Ending& ending) {
  if (const auto* exited = std::get_if<Exited>(&ending)) return exited->code != 0;
  return !std::holds_alternative<CouldNotStart>(ending) && !std::holds_alternative<Refused>(ending);
}

// The sentence, and what the tool itself had to say when it failed.
std::string ResultText(const Outcome& outcome) {
  std::string text = Sentence(outcome);
  if (!RanAndFailed(outcome.ending)) return text;
  const Captured& shown = Blank(outcome.err) ? outcome.out : outcome.err;
  if (shown.total_bytes == 0) return text + " It printed nothing.";
  if (Blank(shown)) return text + " It printed only blanks.";
  return text + "\n" + StreamText(shown);
}

}  // namespace

std::string SignalName(int signal) {
  if (const char* name = sigabbrev_np(signal)) return absl::StrCat("SIG", name);
  if (signal >= SIGRTMIN && signal <= SIGRTMAX) return absl::StrCat("SIGRTMIN+", signal - SIGRTMIN);
  return absl::StrCat("signal ", signal);
}

const char* EndingName(const Ending& ending) {
  return std::visit(Overloaded{
                        [](const Exited&) { return "exited"; },
                        [](const Signaled&) { return "signaled"; },
                        [](const TimedOut&) { return "timed_out"; },
                        [](const CpuLimit&) { return "cpu_limit"; },
                        [](const MemoryLimit&) { return "memory_limit"; },
                        [](const ProcessLimit&) { return "process_limit"; },
                        [](const OutputLimit&) { return "output_limit"; },
                        [](const Cancelled&) { return "cancelled"; },
                        [](const CouldNotStart&) { return "could_not_start"; },
                        [](const Refused&) { return "refused"; },
                    },
                    ending);
}

int ExitCode(const Ending& ending) {
  return std::visit(Overloaded{
                        [](const Exited& exited) { return exited.code; },
                        [](const Signaled& signaled) { return kSignalBase + signaled.signal; },
                        [](const TimedOut&) { return kTimedOutCode; },
                        [](const Cancelled&) { return kSignalBase + SIGINT; },
                        [](const CouldNotStart&) { return kCouldNotStartCode; },
                        [](const Refused&) { return kRefusedCode; },
                        [](const CpuLimit&) { return kSignalBase + SIGKILL; },
                        [](const MemoryLimit&) { return kSignalBase + SIGKILL; },
                        [](const ProcessLimit&) { return kSignalBase + SIGKILL; },
                        [](const OutputLimit&) { return kSignalBase + SIGKILL; },
                    },
                    ending);
}

std::string SensitiveText(const Outcome& outcome) {
  if (!outcome.sensitive) return "";
  const SensitiveChanges& found = *outcome.sensitive;
  std::string text;
  if (!found.changes.empty()) {
    text = "Changed in the workspace, and may act later outside a cell:";
    const std::size_t shown = std::min(found.changes.size(), kShownChanges);
    for (std::size_t i = 0; i < shown; ++i) text += ChangeLine(found.changes[i]);
    const std::size_t more = found.changes.size() - shown + found.left_out;
    if (more > 0) absl::StrAppend(&text, "\n  and ", more, " more");
  }
  if (found.unseen_count > 0) {
    if (!text.empty()) text += "\n";
    text += "Not all of the workspace was looked at:";
    for (const sandbox::WalkGap& gap : found.unseen) {
      absl::StrAppend(&text, "\n  `", SafeLine(gap.path.empty() ? "." : gap.path), "`: ", gap.why);
    }
    if (const std::size_t more = found.unseen_count - found.unseen.size(); more > 0) {
      absl::StrAppend(&text, "\n  and ", more, " more");
    }
  }
  return text;
}

std::string OutcomeText(const Outcome& outcome) {
  std::string text = ResultText(outcome);
  for (const std::string& part : {DenialText(outcome.denials), SensitiveText(outcome)}) {
    if (!part.empty()) absl::StrAppend(&text, text.ends_with('\n') ? "" : "\n", part);
  }
  return text;
}

}  // namespace warder::supervisor
