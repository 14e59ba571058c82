#include "tests/support/pseudo_terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <cstdlib>

namespace warder::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

int OpenMaster() {
  const int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0) std::abort();
  return fd;
}

}  // namespace

PseudoTerminal::PseudoTerminal(asio::io_context& loop, int rows, int columns)
    : master_(loop, OpenMaster()) {
  std::array<char, 64> name{};
  if (ptsname_r(master_.native_handle(), name.data(), name.size()) != 0) std::abort();
  path_ = name.data();
  slave_.Reset(open(path_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave_.ok()) std::abort();
  master_.native_non_blocking(true);
  Resize(rows, columns);
}

void PseudoTerminal::Type(std::string_view keys) {
  if (write(master_.native_handle(), keys.data(), keys.size()) !=
      static_cast<ssize_t>(keys.size())) {
    std::abort();
  }
}

asio::awaitable<bool> PseudoTerminal::Until(std::string text) {
  using asio::experimental::awaitable_operators::operator||;
  asio::steady_timer timer(co_await asio::this_coro::executor, kPatience);
  while (screen_.find(text) == std::string::npos) {
    std::array<char, 4096> bytes{};
    const auto first =
        co_await (master_.async_read_some(asio::buffer(bytes), asio::use_awaitable) ||
                  timer.async_wait(asio::use_awaitable));
    if (first.index() == 1) co_return false;
    const std::string_view read(bytes.data(), std::get<0>(first));
    screen_ += read;
    history_ += read;
  }
  co_return true;
}

void PseudoTerminal::Drain() {
  std::array<char, 4096> bytes{};
  ssize_t size = 0;
  while ((size = read(master_.native_handle(), bytes.data(), bytes.size())) > 0) {
    screen_.append(bytes.data(), static_cast<std::size_t>(size));
    history_.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

void PseudoTerminal::Resize(int rows, int columns) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  if (ioctl(master_.native_handle(), TIOCSWINSZ, &size) != 0) std::abort();
}

void PseudoTerminal::HangUp() { master_.close(); }

termios PseudoTerminal::Modes() const {
  termios modes{};
  if (tcgetattr(slave_.get(), &modes) != 0) std::abort();
  return modes;
}

}  // namespace warder::testing
