#include "approval/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace warder::approval {
namespace {

// SGR reset, ASCII in G0 and shifted in, autowrap on, cursor shown, no mouse reports, no bracketed
// paste.
constexpr std::string_view kReset = "\x1b[0m\x1b(B\x0f\x1b[?7h\x1b[?25h\x1b[?1000l\x1b[?2004l";
constexpr std::string_view kOwnScreen = "\x1b[?1049h";
constexpr std::string_view kFormerScreen = "\x1b[?1049l";
constexpr std::string_view kClear = "\x1b[2J\x1b[H";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool NamesUtf8(std::string locale) {
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

absl::Status Unavailable(const std::string& path, const std::string& what) {
  return absl::UnavailableError(absl::StrCat(path, ": ", what));
}

// For leaving: best effort, because a terminal that is gone cannot be put back.
void WriteNow(int fd, std::string_view bytes) {
  const ssize_t written = write(fd, bytes.data(), bytes.size());
  static_cast<void>(written);
}

}  // namespace

TerminalTraits ReadTerminalTraits() {
  TerminalTraits traits;
  const std::string term = Variable("TERM");
  traits.escapes = !term.empty() && term != "dumb";
  traits.color = traits.escapes && Variable("NO_COLOR").empty();
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = Variable(name);
    if (locale.empty()) continue;
    traits.charset = NamesUtf8(locale) ? Charset::kUtf8 : Charset::kAscii;
    break;
  }
  return traits;
}

absl::StatusOr<sandbox::UniqueFd> OpenTerminal(const std::string& path) {
  sandbox::UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.ok()) return Unavailable(path, absl::StrCat("cannot be opened: ", strerror(errno)));
  if (isatty(fd.get()) == 0) return Unavailable(path, "is not a terminal");
  // Fails with ENOTTY when this is not the controlling terminal: then there is no background.
  const pid_t foreground = tcgetpgrp(fd.get());
  if (foreground >= 0 && foreground != getpgrp()) {
    return Unavailable(path, "another job has the terminal; bring this one to the foreground (fg)");
  }
  return fd;
}

std::string ClearScreen(const TerminalTraits& traits) {
  return traits.escapes ? absl::StrCat(std::string(kReset), std::string(kClear)) : "\r\n";
}

absl::StatusOr<Terminal> Terminal::Take(sandbox::UniqueFd fd, const TerminalTraits& traits) {
  termios before{};
  if (tcgetattr(fd.get(), &before) != 0) {
    return absl::UnavailableError(absl::StrCat("terminal modes: ", strerror(errno)));
  }
  termios raw = before;
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | IXOFF | ICRNL | INLCR | IGNCR | ISTRIP | PARMRK);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL | ISIG | IEXTEN);
  raw.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  // From here on the destructor puts things back.
  Terminal terminal(std::move(fd), before, traits);
  if (tcsetattr(terminal.fd(), TCSANOW, &raw) != 0) {
    return absl::UnavailableError(absl::StrCat("terminal modes: ", strerror(errno)));
  }
  terminal.Flush();
  if (traits.escapes) WriteNow(terminal.fd(), kOwnScreen);
  return terminal;
}

Terminal::~Terminal() {
  if (!fd_.ok()) return;
  if (traits_.escapes)
    WriteNow(fd_.get(), absl::StrCat(std::string(kReset), std::string(kFormerScreen)));
  Flush();
  tcsetattr(fd_.get(), TCSANOW, &before_);
}

ScreenSize Terminal::Size() const {
  // Bounds for what a terminal may claim: a page has to hold something, and a line is not to be
  // endless.
  constexpr int kMaxRows = 1000;
  constexpr int kMaxColumns = 400;
  ScreenSize size;
  winsize window{};
  if (ioctl(fd_.get(), TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_row > 0) size.rows = std::min<int>(window.ws_row, kMaxRows);
  if (window.ws_col > 0) size.columns = std::clamp<int>(window.ws_col, 20, kMaxColumns);
  return size;
}

void Terminal::Flush() const { tcflush(fd_.get(), TCIFLUSH); }

}  // namespace warder::approval
