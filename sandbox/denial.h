// Denial: one operation that the kernel refused to a cell, as the kernel reported it.
#ifndef WARDER_SANDBOX_DENIAL_H_
#define WARDER_SANDBOX_DENIAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warder::sandbox {

// The same operation on the same object, refused by the same rule, is one denial with a count.
struct Denial {
  std::string layer;      // "seccomp"
  std::string operation;  // name of the system call; "" when the kernel does not tell
  // What it was asked to act on, as "path=/etc, mode=04755": read from the caller's memory while
  // the kernel held the call, and so what the caller showed, which another thread may have changed.
  std::string object;
  int error = 0;              // errno that the caller got; 0 when it was killed
  std::string place, group;   // of the rule, as in SyscallRule
  std::string reason;         // the rule's
  std::int64_t first_ms = 0;  // from the start of the program, CLOCK_MONOTONIC
  std::uint64_t count = 0;

  bool SameAs(const Denial& other) const {
    return operation == other.operation && object == other.object && layer == other.layer &&
           error == other.error && place == other.place;
  }
};

struct DenialReport {
  bool watched = false;         // whether the kernel told us of refused system calls at all
  bool stopped = false;         // there were too many: later ones were refused and not counted
  std::uint64_t unlisted = 0;   // refused operations of kinds beyond kMaxDenials
  std::vector<Denial> denials;  // oldest first
};

// Kinds of refused operations that one call's report lists: more than a person reads.
inline constexpr std::size_t kMaxDenials = 64;

// Adds one refused operation to `report`, within kMaxDenials.
void AddDenial(Denial denial, DenialReport& report);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_DENIAL_H_
