#include "approval/preview_words.h"

namespace warder::approval {
namespace {

bool HoldsVariable(const std::string& text) { return text.find("${") != std::string::npos; }

}  // namespace

bool HidesWords(const Ticket& ticket, Words words) {
  return words != Words::kExpanded && ticket.argv_holds_variables;
}

std::vector<std::string> CommandWords(const Ticket& ticket, Words words) {
  return HidesWords(ticket, words) ? ticket.stored_argv : ticket.shown_argv;
}

std::string WorkingDirectory(const Ticket& ticket, Words words) {
  const bool hidden = HidesWords(ticket, words) && HoldsVariable(ticket.stored_cwd);
  return hidden ? ticket.stored_cwd : ticket.cwd_path;
}

std::string FilePath(const Ticket& ticket, const TicketFile& file, Words words) {
  const bool hidden = HidesWords(ticket, words) && file.role == "program" &&
                      !ticket.stored_argv.empty() && HoldsVariable(ticket.stored_argv.front());
  return hidden ? ticket.stored_argv.front() : file.path;
}

}  // namespace warder::approval
