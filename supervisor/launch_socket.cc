// The packets of the launch protocol. A packet is {kind, call} and descriptors; the first descriptor is the body.
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
};

constexpr int kBodySeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::StatusOr<UniqueFd> MakeBody(const std::string& body) {
  UniqueFd fd(memfd_create("warder-message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok()) return absl::InternalError(absl::StrFormat("message: memfd_create: %s", strerror(errno)));
  for (std::size_t done = 0; done < body.size();) {
    const ssize_t size = write(fd.get(), body.data() + done, body.size() - done);
    if (size <= 0) return absl::InternalError(absl::StrFormat("message: write: %s", strerror(errno)));
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
    const ssize_t size = pread(fd, body.data() + done, body.size() - done, static_cast<off_t>(done));
    if (size <= 0) return absl::InvalidArgumentError("launch protocol: the body cannot be read");
    done += static_cast<std::size_t>(size);
  }
  return body;
}

std::vector<UniqueFd> TakeDescriptors(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
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

absl::Status SendMessage(int socket, const Message& message) {
  if (message.fds.size() + 1 > kMaxDescriptors || message.body.size() > kMaxBodyBytes) {
    return absl::InternalError("launch protocol: message too large; shorten argv or environment");
  }
  auto body = MakeBody(message.body);
  if (!body.ok()) return body.status();
  Header header{static_cast<std::uint64_t>(message.kind), message.call};
  iovec data = {&header, sizeof header};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  const std::size_t count = message.fds.size() + 1;
  msghdr packet = {};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control;
  packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* part = CMSG_FIRSTHDR(&packet);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(count * sizeof(int));
  for (std::size_t i = 0; i < count; ++i) {
    const int fd = i == 0 ? body->get() : message.fds[i - 1].get();
    std::memcpy(CMSG_DATA(part) + i * sizeof fd, &fd, sizeof fd);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &packet, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(sizeof header)) return absl::OkStatus();
  if (errno == EPIPE || errno == ECONNRESET) return absl::UnavailableError("the launcher process is gone");
  return absl::InternalError(absl::StrFormat("launch protocol: send: %s", strerror(errno)));
}

absl::StatusOr<Message> ReceiveMessage(int socket) {
  Header header;
  iovec data = {&header, sizeof header};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr packet = {};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control;
  packet.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return absl::AbortedError("no message yet");
  if (size <= 0) return absl::UnavailableError("the other process is gone");
  std::vector<UniqueFd> fds = TakeDescriptors(packet);
  if (size != static_cast<ssize_t>(sizeof header) || fds.empty() || (packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return absl::InvalidArgumentError("launch protocol: malformed packet");
  }
  auto body = ReadBody(fds.front().get());
  if (!body.ok()) return body.status();
  Message message;
  message.kind = static_cast<MessageKind>(header.kind);
  message.call = header.call;
  message.body = std::move(*body);
  fds.erase(fds.begin());
  message.fds = std::move(fds);
  return message;
}

}  // namespace warder::supervisor
