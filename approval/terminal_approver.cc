#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <list>
#include <utility>

#include "approval/approvers.h"
#include "approval/terminal.h"
#include "approval/terminal_dialogue.h"

namespace warder::approval {
namespace {

// One person reads one ticket at a time: tickets queue for the terminal in the order in which they
// came.
class Turns {
 public:
  class Turn {
   public:
    explicit Turn(Turns* turns) : turns_(turns) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->Release();
    }

   private:
    Turns* turns_;
  };

  asio::awaitable<Turn> Take() {
    if (busy_ || !queue_.empty()) {
      asio::steady_timer turn(co_await asio::this_coro::executor,
                              asio::steady_timer::time_point::max());
      const Place place(queue_, &turn);
      // Cancelled by Release when it is our turn; by the gate when the ticket's time is over, and
      // then the next co_await throws.
      while (busy_ || queue_.front() != &turn) {
        asio::error_code woken;
        co_await turn.async_wait(asio::redirect_error(asio::use_awaitable, woken));
      }
      busy_ = true;
    }
    busy_ = true;
    co_return Turn(this);
  }

 private:
  using Queue = std::list<asio::steady_timer*>;
  // A place in the queue, given up however the wait ends.
  class Place {
   public:
    Place(Queue& queue, asio::steady_timer* turn)
        : queue_(queue), at_(queue.insert(queue.end(), turn)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { queue_.erase(at_); }

   private:
    Queue& queue_;
    Queue::iterator at_;
  };

  void Release() {
    busy_ = false;
    if (!queue_.empty()) queue_.front()->cancel();
  }

  bool busy_ = false;
  Queue queue_;
};

class TerminalApprover : public Approver {
 public:
  explicit TerminalApprover(std::string path) : path_(std::move(path)) {}

  asio::awaitable<Decision> Ask(const Ticket& ticket) override {
    const auto turn = co_await turns_.Take();
    absl::StatusOr<sandbox::UniqueFd> fd = OpenTerminal(path_);
    if (!fd.ok()) co_return Unavailable(fd.status());
    const TerminalTraits traits = ReadTerminalTraits();
    absl::StatusOr<Terminal> terminal = Terminal::Take(*std::move(fd), traits);
    if (!terminal.ok()) co_return Unavailable(terminal.status());
    const auto executor = co_await asio::this_coro::executor;
    TerminalDialogue dialogue(executor, *terminal, traits, ticket);
    co_return co_await dialogue.Run();
  }
  std::string Name() const override { return "terminal " + path_; }

 private:
  Decision Unavailable(const absl::Status& status) const {
    return FailedDecision(RefusalCode::kNoApprover, Name(), std::string(status.message()));
  }

  std::string path_;
  Turns turns_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Approver>> MakeTerminalApprover(const std::string& tty_path) {
  const absl::StatusOr<sandbox::UniqueFd> fd = OpenTerminal(tty_path);
  if (!fd.ok()) return fd.status();
  return std::make_unique<TerminalApprover>(tty_path);
}

}  // namespace warder::approval
