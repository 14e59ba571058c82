// Console: how the command line reads and writes its streams.
#ifndef WARDER_SUPERVISOR_CONSOLE_H_
#define WARDER_SUPERVISOR_CONSOLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace warder::supervisor {

// Writes all of `bytes`, waiting for a slow or non-blocking reader as long as it takes.
// Errors: kCancelled (the reader is gone), kResourceExhausted (no space), kInternal.
absl::Status WriteAll(int fd, std::string_view bytes);

// Reads `fd` to its end, but no more than `limit_bytes` + 1 bytes, so that a caller can see that
// there was more. Errors: kInternal.
absl::StatusOr<std::string> ReadUpTo(int fd, std::size_t limit_bytes);

// The terminal's width, or 80 when `fd` is none or does not say.
int TerminalColumns(int fd);
// True when `fd` is a terminal that shows colours and NO_COLOR is not set.
bool WantsColor(int fd);

// A program's own words, made harmless for a terminal and a log: line ends, tabs and spaces stay,
// so the layout survives; every other run of bytes is shown as it is when approval::Visible finds
// nothing to escape in it, else as Visible has it.
std::string SafeText(std::string_view bytes);
// The same for what must stay one line: line ends and tabs are escaped too.
std::string SafeLine(std::string_view bytes);

// Breaks `visible` text at spaces into lines of at most `columns` terminal columns; a longer word
// has a line of its own.
std::vector<std::string> Wrap(std::string_view visible, std::size_t columns);

// Rows of cells with aligned columns. The last column wraps to `columns`; no cell is cut. Cells are
// made visible here.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string Render(int columns) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_CONSOLE_H_
