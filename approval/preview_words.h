// The two forms of what ${...} may have put a secret into: the command's words, the working
// directory, the program's path.
#ifndef WARDER_APPROVAL_PREVIEW_WORDS_H_
#define WARDER_APPROVAL_PREVIEW_WORDS_H_

#include <string>
#include <vector>

#include "approval/preview.h"

namespace warder::approval {

// True when `words` asks for a form without secrets and this ticket has some to leave out.
bool HidesWords(const Ticket& ticket, Words words);

std::vector<std::string> CommandWords(const Ticket& ticket, Words words);
std::string WorkingDirectory(const Ticket& ticket, Words words);
std::string FilePath(const Ticket& ticket, const TicketFile& file, Words words);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_PREVIEW_WORDS_H_
