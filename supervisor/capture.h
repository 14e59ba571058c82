// HeadTail: keeps the beginning and the end of a stream and counts all of it.
#ifndef WARDER_SUPERVISOR_CAPTURE_H_
#define WARDER_SUPERVISOR_CAPTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/outcome.h"

namespace warder::supervisor {

// Never holds more than `limit_bytes` of a stream, however long it is: the first half of the limit
// (and the odd byte) as head, the last half as tail. A stream that fits is kept whole. Memory grows
// with what arrives, not with the limit.
class HeadTail {
 public:
  explicit HeadTail(std::uint64_t limit_bytes)
      : head_limit_(limit_bytes - limit_bytes / 2), tail_limit_(limit_bytes / 2) {}

  void Add(std::string_view bytes);
  // Gives away what was kept; the object is as new afterwards.
  Captured Take();

 private:
  std::uint64_t head_limit_, tail_limit_;
  std::string head_;
  std::string tail_;            // a ring once it is full
  std::size_t tail_start_ = 0;  // the oldest byte of the ring
  std::uint64_t total_bytes_ = 0;
};

// `head` and `tail` are what is left of a text that was cut between them. Removes the pieces of a
// UTF-8 character that the cut split: at most 3 bytes of each.
void TrimToCharacters(std::string_view& head, std::string_view& tail);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_CAPTURE_H_
