// The packets of the launch protocol: {kind, call, size}, then the body, or the body in a sealed
// memory file as the first descriptor.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "supervisor/launch_protocol.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;

struct Header {
  std::uint64_t kind = 0;
  std::uint64_t call = 0;
  std::uint64_t body_in_file = 0;  // 0 or 1
};

// Larger bodies travel in a memory file: well below the smallest socket buffer that an
// administrator may have set.
constexpr std::size_t kMaxInlineBytes = 16u << 10;

constexpr int kBodySeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::StatusOr<UniqueFd> MakeBody(const std::string& body) {
  UniqueFd fd(memfd_create("warder-message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok())
    return absl::InternalError(absl::StrFormat("message: memfd_create: %s", strerror(errno)));
  for (std::size_t done = 0; done < body.size();) {
    const ssize_t size = write(fd.get(), body.data() + done, body.size() - done);
    if (size <= 0)
      return absl::InternalError(absl::StrFormat("message: write: %s", strerror(errno)));
    done += static_cast<std::size_t>(size);
  }
  if (fcntl(fd.get(), F_ADD_SEALS, kBodySeals) != 0) {
    return absl::InternalError(absl::StrFormat("message: seal: %s", strerror(errno)));
  }
  return fd;
}

// Sealed: a peer that keeps a descriptor to it cannot change what we are about to read.
absl::StatusOr<std::string> ReadBody(int fd) {
  struct stat status = {};
  if (fcntl(fd, F_GET_SEALS) != kBodySeals || fstat(fd, &status) != 0) {
    return absl::InvalidArgumentError("launch protocol: the body is not sealed");
  }
  if (static_cast<std::uint64_t>(status.st_size) > kMaxBodyBytes) {
    return absl::InvalidArgumentError("launch protocol: the body is too large");
  }
  std::string body(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < body.size();) {
    const ssize_t size =
        pread(fd, body.data() + done, body.size() - done, static_cast<off_t>(done));
    if (size <= 0) return absl::InvalidArgumentError("launch protocol: the body cannot be read");
    done += static_cast<std::size_t>(size);
  }
  return body;
}

std::vector<UniqueFd> TakeDescriptors(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

namespace {

absl::Status SendPacket(int socket, Header header, std::string_view inline_body,
                        const std::vector<int>& fds) {
  iovec data[] = {{&header, sizeof header},
                  {const_cast<char*>(inline_body.data()), inline_body.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr packet = {};
  packet.msg_iov = data;
  packet.msg_iovlen = 2;
  if (!fds.empty()) {
    packet.msg_control = control;
    packet.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&packet);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size() * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &packet, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(sizeof header + inline_body.size())) return absl::OkStatus();
  if (errno == EPIPE || errno == ECONNRESET)
    return absl::UnavailableError("the launcher process is gone");
  return absl::InternalError(absl::StrFormat("launch protocol: send: %s", strerror(errno)));
}

}  // namespace

absl::Status SendMessage(int socket, const Message& message) {
  if (message.fds.size() + 1 > kMaxDescriptors || message.body.size() > kMaxBodyBytes) {
    return absl::InternalError("launch protocol: message too large; shorten argv or environment");
  }
  Header header{static_cast<std::uint64_t>(message.kind), message.call, 0};
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  if (message.body.size() <= kMaxInlineBytes) return SendPacket(socket, header, message.body, fds);
  auto body = MakeBody(message.body);
  if (!body.ok()) return body.status();
  header.body_in_file = 1;
  fds.insert(fds.begin(), body->get());
  return SendPacket(socket, header, "", fds);
}

absl::StatusOr<Message> ReceiveMessage(int socket) {
  Header header;
  char body[kMaxInlineBytes];
  iovec data[] = {{&header, sizeof header}, {body, sizeof body}};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr packet = {};
  packet.msg_iov = data;
  packet.msg_iovlen = 2;
  packet.msg_control = control;
  packet.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return absl::AbortedError("no message yet");
  if (size <= 0) return absl::UnavailableError("the other process is gone");
  Message message;
  message.fds = TakeDescriptors(packet);
  const bool whole = static_cast<std::size_t>(size) >= sizeof header &&
                     (packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  if (!whole || header.body_in_file > 1 || (header.body_in_file == 1 && message.fds.empty())) {
    return absl::InvalidArgumentError("launch protocol: malformed packet");
  }
  message.kind = static_cast<MessageKind>(header.kind);
  message.call = header.call;
  message.body.assign(body, static_cast<std::size_t>(size) - sizeof header);
  if (header.body_in_file == 0) return message;
  auto file = ReadBody(message.fds.front().get());
  if (!file.ok()) return file.status();
  message.body = std::move(*file);
  message.fds.erase(message.fds.begin());
  return message;
}

}  // namespace warder::supervisor
