// Terminal: the approver's own screen on a terminal device, put back as it was when destroyed.
#ifndef WARDER_APPROVAL_TERMINAL_H_
#define WARDER_APPROVAL_TERMINAL_H_

#include <termios.h>

#include <string>

#include "absl/status/statusor.h"
#include "approval/preview.h"
#include "sandbox/unique_fd.h"

namespace warder::approval {

// What the environment says of the terminal (NO_COLOR, TERM, LC_ALL, LC_CTYPE, LANG).
struct TerminalTraits {
  bool escapes = false;  // TERM names a terminal that reads escape sequences
  bool color = false;
  Charset charset = Charset::kAscii;
};
TerminalTraits ReadTerminalTraits();

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};

// Opens `path` for reading and writing, without making it a controlling terminal. Errors:
// kUnavailable (none, not a terminal, or this process is in its background, where it would be
// stopped).
absl::StatusOr<sandbox::UniqueFd> OpenTerminal(const std::string& path);

// Takes over a terminal: keys arrive one by one, unechoed, and none makes a signal; what was typed
// before is thrown away; the screen is cleared and its attributes reset. The destructor undoes it
// and throws away what is still unread.
class Terminal {
 public:
  // Errors: kUnavailable (the terminal refuses).
  static absl::StatusOr<Terminal> Take(sandbox::UniqueFd fd, const TerminalTraits& traits);
  Terminal(Terminal&& other) noexcept = default;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  int fd() const { return fd_.get(); }
  ScreenSize Size() const;
  // Throws away what was typed and not read.
  void Flush() const;

 private:
  Terminal(sandbox::UniqueFd fd, const termios& before, const TerminalTraits& traits)
      : fd_(std::move(fd)), before_(before), traits_(traits) {}
  sandbox::UniqueFd fd_;
  termios before_{};
  TerminalTraits traits_;
};

// Bytes that make a screen of Warder's own: attributes, character set, wrapping and cursor reset,
// cleared.
std::string ClearScreen(const TerminalTraits& traits);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_TERMINAL_H_
