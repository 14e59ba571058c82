#include "sandbox/call_object.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sandbox/call_shapes.h"

namespace warder::sandbox {
namespace {

constexpr char kUnreadable[] = "?";

// Reads up to `size` bytes; stops at the first page that is not there.
std::string ReadMemory(pid_t pid, std::uint64_t address, std::size_t size) {
  if (pid == 0) return "";
  std::string bytes(size, '\0');
  // One piece to the end of the page and one behind it: a piece is copied whole or not at all.
  constexpr std::uint64_t kPage = 4096;
  const std::size_t first =
      std::min<std::uint64_t>(size, kPage - static_cast<std::size_t>(address % kPage));
  const iovec local = {bytes.data(), size};
  // NOLINTBEGIN(performance-no-int-to-ptr): addresses of another process
  const iovec remote[] = {{reinterpret_cast<void*>(address), first},
                          {reinterpret_cast<void*>(address + first), size - first}};
  // NOLINTEND(performance-no-int-to-ptr)
  const ssize_t got = process_vm_readv(pid, &local, 1, remote, size > first ? 2 : 1, 0);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

std::string ReadText(pid_t pid, std::uint64_t address) {
  if (address == 0) return "NULL";
  std::string text = ReadMemory(pid, address, kMaxObjectWord + 1);
  if (text.empty()) return kUnreadable;
  if (const std::size_t end = text.find('\0'); end != std::string::npos) {
    text.resize(end);
    return text;
  }
  text.resize(std::min(text.size(), kMaxObjectWord));
  return text + "...";
}

std::string ReadLink(const std::string& path) {
  std::array<char, PATH_MAX> target = {};
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return kUnreadable;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

std::string Descriptor(pid_t pid, int fd) {
  if (pid == 0) return kUnreadable;
  if (fd == AT_FDCWD) return ReadLink(absl::StrFormat("/proc/%d/cwd", pid));
  return ReadLink(absl::StrFormat("/proc/%d/fd/%d", pid, fd));
}

std::string Path(pid_t pid, int directory, std::uint64_t address) {
  std::string path = ReadText(pid, address);
  if (address == 0 || path == kUnreadable || path.starts_with('/')) return path;
  std::string base = Descriptor(pid, directory);
  if (path.empty()) return base;  // AT_EMPTY_PATH
  return base.ends_with('/') ? base + path : absl::StrCat(base, "/", path);
}

std::string Address(pid_t pid, std::uint64_t address, std::uint64_t size) {
  const std::size_t wanted = std::min<std::uint64_t>(size, sizeof(sockaddr_storage));
  const std::string bytes = ReadMemory(pid, address, wanted);
  sockaddr_storage storage = {};
  std::memcpy(&storage, bytes.data(), std::min(bytes.size(), sizeof storage));
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    sockaddr_in ip = {};
    std::memcpy(&ip, &storage, sizeof ip);
    inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text);
    return absl::StrFormat("%s:%d", text, ntohs(ip.sin_port));
  }
  if (storage.ss_family == AF_INET6 && bytes.size() >= sizeof(sockaddr_in6)) {
    sockaddr_in6 ip = {};
    std::memcpy(&ip, &storage, sizeof ip);
    inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text);
    return absl::StrFormat("[%s]:%d", text, ntohs(ip.sin6_port));
  }
  constexpr std::size_t kPathAt = offsetof(sockaddr_un, sun_path);
  if (storage.ss_family == AF_UNIX && bytes.size() > kPathAt) {
    const std::string path = bytes.substr(kPathAt);
    if (path.front() == '\0') return "@" + path.substr(1);
    return path.substr(0, path.find('\0'));
  }
  return bytes.size() < sizeof storage.ss_family ? std::string(kUnreadable)
                                                 : absl::StrFormat("family %d", storage.ss_family);
}

// The names of the bits that are set in `value`, then the rest as a number.
std::string CloneFlags(std::uint64_t value) {
  std::string text;
  for (const auto& [bit, name] : kCloneBits) {
    if ((value & bit) == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : "|", name);
    value &= ~std::uint64_t{bit};
  }
  if (value == 0 && !text.empty()) return text;
  return absl::StrFormat("%s%s%#x", text, text.empty() ? "" : "|", value);
}

std::string Describe(const CallPart& part, const seccomp_data& call, pid_t pid) {
  const std::uint64_t value = call.args[part.index];
  const auto number = static_cast<std::int32_t>(value);
  const auto directory = [&] { return static_cast<int>(call.args[part.index - 1]); };
  switch (part.kind) {
    case PartKind::kPath:
      return Path(pid, AT_FDCWD, value);
    case PartKind::kPathAt:
      return Path(pid, directory(), value);
    case PartKind::kText:
      return ReadText(pid, value);
    case PartKind::kNumber:
      return std::to_string(number);
    case PartKind::kHex:
      return absl::StrFormat("%#x", static_cast<std::uint32_t>(value));
    case PartKind::kMode:
      return absl::StrFormat("%#o", static_cast<std::uint32_t>(value) & 07777777u);
    case PartKind::kCloneFlags:
      return CloneFlags(value & 0xffffffffu);
    case PartKind::kDescriptor:
      return absl::StrFormat("%d (%s)", number, Descriptor(pid, number));
    case PartKind::kFamily:
      return NameOf(kFamilies, static_cast<std::uint32_t>(value));
    case PartKind::kSocketType:
      return NameOf(kSocketTypes, static_cast<std::uint32_t>(value) & 0xfu);
    case PartKind::kRequest:
      return NameOf(kRequests, static_cast<std::uint32_t>(value));
    case PartKind::kAddress:
      return Address(pid, value, call.args[part.index + 1] & 0xffffffffu);
    case PartKind::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string DescribeObject(const std::string& name, const seccomp_data& call, pid_t pid) {
  const CallShape* shape = ShapeOf(name);
  if (shape == nullptr) return "";
  std::string text;
  for (const CallPart& part : shape->parts) {
    if (part.kind == PartKind::kNone) break;
    absl::StrAppend(&text, text.empty() ? "" : ", ", part.label, "=", Describe(part, call, pid));
  }
  return text;
}

}  // namespace warder::sandbox
