// UniqueFd: owns one file descriptor.
#ifndef WARDER_SANDBOX_UNIQUE_FD_H_
#define WARDER_SANDBOX_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace warder::sandbox {

// Owns a descriptor and closes it when destroyed. Whoever creates a descriptor creates it
// close-on-exec. close(2) is never retried: on Linux the descriptor is gone even after EINTR.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // Gives the descriptor away; the caller closes it.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_UNIQUE_FD_H_
