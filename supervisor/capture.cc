#include "supervisor/capture.h"

#include <algorithm>
#include <utility>

namespace warder::supervisor {
namespace {

// Appends as much of `bytes` as `limit` leaves room for and returns the rest. Grows by doubling,
// but never past the limit.
std::string_view Fill(std::string& kept, std::uint64_t limit, std::string_view bytes) {
  const std::size_t room =
      static_cast<std::size_t>(std::min<std::uint64_t>(limit - kept.size(), bytes.size()));
  const std::size_t needed = kept.size() + room;
  if (needed > kept.capacity()) {
    // A new string, because reserve() on an old one doubles it whatever is asked.
    std::string grown;
    grown.reserve(static_cast<std::size_t>(
        std::min<std::uint64_t>(limit, std::max(needed, 2 * kept.capacity()))));
    kept = std::move(grown.append(kept));
  }
  kept.append(bytes.substr(0, room));
  return bytes.substr(room);
}

}  // namespace

void HeadTail::Add(std::string_view bytes) {
  total_bytes_ += bytes.size();
  bytes = Fill(head_, head_limit_, bytes);
  bytes = Fill(tail_, tail_limit_, bytes);
  if (bytes.empty() || tail_.empty()) return;
  // The ring is full: only the last tail_.size() of the new bytes can stay.
  if (bytes.size() > tail_.size()) bytes.remove_prefix(bytes.size() - tail_.size());
  const std::size_t until_end = std::min(bytes.size(), tail_.size() - tail_start_);
  bytes.copy(tail_.data() + tail_start_, until_end);
  bytes.substr(until_end).copy(tail_.data(), std::string_view::npos);
  tail_start_ = (tail_start_ + bytes.size()) % tail_.size();
}

Captured HeadTail::Take() {
  std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_), tail_.end());
  Captured captured{std::exchange(head_, {}), std::exchange(tail_, {}),
                    std::exchange(total_bytes_, 0)};
  tail_start_ = 0;
  return captured;
}

void TrimToCharacters(std::string_view& head, std::string_view& tail) {
  constexpr std::size_t kLongest = 4;  // bytes of one character
  const auto byte = [](char c) { return static_cast<unsigned char>(c); };
  const auto continues = [&](char c) { return (byte(c) & 0xc0) == 0x80; };
  for (std::size_t i = 1; i < kLongest && !tail.empty() && continues(tail.front()); ++i) {
    tail.remove_prefix(1);
  }
  for (std::size_t back = 1; back < kLongest && back <= head.size(); ++back) {
    const char last = head[head.size() - back];
    if (continues(last)) continue;
    const std::size_t length = byte(last) >= 0xf0   ? 4
                               : byte(last) >= 0xe0 ? 3
                               : byte(last) >= 0xc0 ? 2
                                                    : 1;
    if (length > back) head.remove_suffix(back);
    return;
  }
}

}  // namespace warder::supervisor
