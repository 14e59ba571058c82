// TerminalDialogue: shows one ticket on a terminal and reads one person's answer.
#ifndef WARDER_APPROVAL_TERMINAL_DIALOGUE_H_
#define WARDER_APPROVAL_TERMINAL_DIALOGUE_H_

#include <array>
#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "approval/decision.h"
#include "approval/terminal.h"
#include "approval/ticket.h"

namespace warder::approval {

// The preview, a page at a time; after the last page a delay in which keys are thrown away; then a
// random code to type, and Enter, to allow. Enter alone, `d` and every key without a meaning deny.
// Borrows `terminal` and `ticket`.
class TerminalDialogue {
 public:
  TerminalDialogue(const asio::any_io_executor& executor, const Terminal& terminal,
                   const TerminalTraits& traits, const Ticket& ticket);
  // Ends with an answer, also at the ticket's deadline, at end of file, and at SIGHUP, SIGINT and
  // SIGTERM.
  asio::awaitable<Decision> Run();

 private:
  enum class Happened : std::uint8_t { kKey, kTime, kResized, kGone, kStopped };
  struct Event {
    Happened what = Happened::kGone;
    char key = 0;
  };
  enum class Step : std::uint8_t { kForward, kBack, kRedraw };

  // Each returns the answer, or where to go on.
  struct Next {
    std::optional<Decision> answer;
    Step step = Step::kRedraw;
  };
  asio::awaitable<Next> Page();
  asio::awaitable<Next> Arm();
  asio::awaitable<Next> AskForCode();
  std::optional<Next> Typed(char key, const std::string& code, std::string& typed);
  // What ends a wait in every state; nullopt for a key, and for time that is not yet over.
  std::optional<Next> Ending(const Event& event) const;

  asio::awaitable<Event> Wait(std::int64_t until_boottime_ms);
  asio::awaitable<char> ReadKey();
  asio::awaitable<int> ReadSignal();
  asio::awaitable<void> Write(std::string bytes);
  // `wide` is the prompt where there is room for it. Both outlive the call.
  asio::awaitable<void> Draw(std::string_view wide, std::string_view narrow);
  // `wide` is the prompt where there is room for it. Both outlive the call.
  asio::awaitable<void> DrawStatus();
  void Measure();
  void DropTyped();
  std::string Status() const;
  std::size_t PageCount() const;
  Next Deny(std::string reason) const;
  Next Fail(RefusalCode code, std::string reason) const;

  const Terminal& terminal_;
  TerminalTraits traits_;
  const Ticket& ticket_;
  asio::posix::stream_descriptor stream_;
  asio::signal_set signals_;
  std::vector<std::string> lines_;
  ScreenSize size_;
  std::size_t page_rows_ = 1;
  std::size_t page_ = 0;
  std::array<char, 64> buffer_{};  // keys read and not used yet
  std::size_t buffered_ = 0, used_ = 0;
  bool gone_ = false;
};

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_TERMINAL_DIALOGUE_H_
