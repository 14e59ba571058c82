#include "supervisor/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "approval/preview.h"

namespace warder::supervisor {
namespace {

constexpr int kDefaultColumns = 80;
constexpr std::size_t kGap = 2;             // spaces between two columns of a table
constexpr std::size_t kNarrowestLast = 20;  // columns that a table's wrapped column always has

absl::Status WriteError(int error) {
  if (error == EPIPE) return absl::CancelledError("output: its reader is gone");
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return absl::ResourceExhaustedError("output: no space is left where it goes");
  }
  return absl::InternalError(absl::StrFormat("output: write failed with errno %d", error));
}

// "\\" back to "\": a backslash alone does nothing to a terminal.
std::string WithSingleBackslashes(std::string_view visible) {
  std::string text;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    text += visible[i];
    if (visible[i] == '\\' && i + 1 < visible.size() && visible[i + 1] == '\\') ++i;
  }
  return text;
}

void AppendSafeWord(std::string_view word, std::string* text) {
  if (word.empty()) return;
  const std::string visible = approval::Visible(word);
  *text += WithSingleBackslashes(visible) == word ? std::string(word) : visible;
}

// Keeps the characters of `layout`, and makes what lies between them safe.
std::string SafeBetween(std::string_view bytes, std::string_view layout) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find_first_of(layout), bytes.size());
    AppendSafeWord(bytes.substr(0, end), &text);
    if (end < bytes.size()) text += bytes[end];
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return text;
}

// `word` in pieces of at most `columns` columns. A terminal that breaks a long word itself goes on
// at its left edge, where the text could pass for a row of the table.
std::vector<std::string> Parts(std::string_view word, std::size_t columns) {
  std::vector<std::string> parts(1);
  std::size_t used = 0;
  while (!word.empty()) {
    std::size_t bytes = 1;
    while (bytes < word.size() && (word[bytes] & 0xc0) == 0x80) ++bytes;  // UTF-8 continuation
    const std::size_t width = approval::DisplayWidth(word.substr(0, bytes));
    if (used > 0 && used + width > columns) {
      parts.emplace_back();
      used = 0;
    }
    parts.back() += word.substr(0, bytes);
    used += width;
    word.remove_prefix(bytes);
  }
  return parts;
}

std::vector<std::size_t> ColumnWidths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], approval::DisplayWidth(row[i]));
    }
  }
  return widths;
}

}  // namespace

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    const int error = errno;
    if (error == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (error != EINTR) {
      return WriteError(error);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadUpTo(int fd, std::size_t limit_bytes) {
  std::string bytes;
  std::array<char, 65536> buffer;
  while (bytes.size() <= limit_bytes) {
    const std::size_t wanted = std::min(buffer.size(), limit_bytes + 1 - bytes.size());
    const ssize_t count = ::read(fd, buffer.data(), wanted);
    if (count == 0) break;
    if (count > 0) {
      bytes.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    const int error = errno;
    if (error == EAGAIN) {
      pollfd ready{fd, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (error != EINTR) {
      return absl::ErrnoToStatus(error, "read");
    }
  }
  return bytes;
}

int TerminalColumns(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultColumns;
  return size.ws_col;
}

bool WantsColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

std::string SafeText(std::string_view bytes) { return SafeBetween(bytes, " \n\t"); }

std::string SafeLine(std::string_view bytes) { return SafeBetween(bytes, " "); }

std::vector<std::string> Wrap(std::string_view visible, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  while (!visible.empty()) {
    const std::size_t space = visible.find(' ');
    for (const std::string& part : Parts(visible.substr(0, space), columns)) {
      const std::size_t width = approval::DisplayWidth(part);
      if (used > 0 && used + 1 + width > columns) {
        lines.emplace_back();
        used = 0;
      }
      if (used > 0) {
        lines.back() += ' ';
        ++used;
      }
      lines.back() += part;
      used += width;
    }
    visible.remove_prefix(space == std::string_view::npos ? visible.size() : space + 1);
  }
  return lines;
}

std::string Table::Render(int columns) const {
  std::vector<std::vector<std::string>> rows = rows_;
  for (std::vector<std::string>& row : rows) {
    for (std::string& cell : row) cell = approval::Visible(cell);
  }
  const std::vector<std::size_t> widths = ColumnWidths(rows);
  std::size_t indent = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) indent += widths[i] + kGap;
  const auto all = static_cast<std::size_t>(std::max(columns, 1));
  const std::size_t last = all > indent + kNarrowestLast ? all - indent : kNarrowestLast;

  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += row[i];
      text.append(widths[i] + kGap - approval::DisplayWidth(row[i]), ' ');
    }
    const std::vector<std::string> lines = Wrap(row.back(), last);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) text.append(indent, ' ');
      text += lines[i] + "\n";
    }
  }
  return text;
}

}  // namespace warder::supervisor
