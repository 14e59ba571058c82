// Preview: the rendering of a ticket for people. A pure function of the ticket.
#ifndef WARDER_APPROVAL_PREVIEW_H_
#define WARDER_APPROVAL_PREVIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "approval/ticket.h"
#include "manifest/json.h"

namespace warder::approval {

// What the reader can show. kAscii is for terminals that do not say that they read UTF-8: there, a
// byte of a harmless character can be a control byte.
enum class Charset : std::uint8_t { kUtf8, kAscii };

// Makes every byte of `text` that a terminal could act on, or an eye could miss, visible: controls,
// DEL, C1, bidi and other format characters, right-to-left letters, unassigned and private-use code
// points, tags, lone or stacked combining marks, second spellings of one character, non-ASCII
// spaces, blanks, invalid UTF-8; "\" becomes "\\". Runs of two or more spaces are counted: "a[3
// spaces]b". Different texts give different results. The one function that every surface uses.
std::string Visible(std::string_view text, Charset charset = Charset::kUtf8);
// Visible, between double quotes, with '"' escaped: one word of an argv.
std::string Quoted(std::string_view text, Charset charset = Charset::kUtf8);
// How many terminal columns Visible text takes.
std::size_t DisplayWidth(std::string_view visible);

// Which form of the command's words is given out. What ${...} put into them may be a secret.
enum class Words : std::uint8_t {
  kStored,    // as the manifest writes them, with ${...}: for logs, pipes and whatever lasts
  kExpanded,  // as they run: for whoever decides, and nobody else
};

struct Style {
  int columns = 80;  // below 20 counts as 20
  bool color = false;
  Words words = Words::kStored;
  Charset charset = Charset::kUtf8;
};

// Lines without newline bytes; never an escape that `style` did not ask for. Nothing of the ticket
// is left out or cut: long values wrap. Environment values and their fingerprints are never in it.
std::vector<std::string> RenderPreview(const Ticket& ticket, const Style& style);

// The same for machines. Field names are documented in approval/README.md.
// Strings that are not UTF-8 become {"base64": "..."}; print with WriteJson's `ascii`.
manifest::Json PreviewJson(const Ticket& ticket, Words words = Words::kStored);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_PREVIEW_H_
