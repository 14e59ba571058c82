// PseudoTerminal: a terminal whose keyboard and screen are in the test's hands.
#ifndef WARDER_TESTS_SUPPORT_PSEUDO_TERMINAL_H_
#define WARDER_TESTS_SUPPORT_PSEUDO_TERMINAL_H_

#include <termios.h>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <string>
#include <string_view>

#include "sandbox/unique_fd.h"

namespace warder::testing {

class PseudoTerminal {
 public:
  PseudoTerminal(asio::io_context& loop, int rows, int columns);

  // Device that a program opens as its terminal.
  const std::string& path() const { return path_; }
  void Type(std::string_view keys);
  // Waits until `text` is on the screen that was drawn since the last Forget; false at end of file
  // or after 30 s.
  asio::awaitable<bool> Until(std::string text);
  // Everything that was written to the screen since the last Forget and read by Until.
  const std::string& screen() const { return screen_; }
  // Everything that was ever read.
  const std::string& history() const { return history_; }
  void Forget() { screen_.clear(); }
  void Resize(int rows, int columns);
  // Reads what is there without waiting.
  void Drain();
  // The line goes dead.
  void HangUp();
  termios Modes() const;

 private:
  asio::posix::stream_descriptor master_;
  sandbox::UniqueFd slave_;  // keeps the terminal alive between two users
  std::string path_, screen_, history_;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_PSEUDO_TERMINAL_H_
