// Attacks on what listens outside. No probe sends a packet to anything but loopback.
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/attacks/programs/probe.h"

namespace attack {
namespace {

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  int family = AF_INET;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// A numeric address, or "localhost" as the C library resolves it from /etc/hosts.
bool Parse(const std::string& host, const std::string& port, int type, Address* address) {
  addrinfo hints = {};
  hints.ai_socktype = type;
  if (host != "localhost") hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  std::memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
  address->size = found->ai_addrlen;
  address->family = found->ai_family;
  freeaddrinfo(found);
  return true;
}

std::string ConnectTo(const Arguments& arguments, int type) {
  Address address;
  if (!Parse(arguments.Text(0), arguments.Text(1), type, &address)) return "no address";
  const int fd = socket(address.family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return Result(fd);
  return Result(connect(fd, address.get(), address.size));
}

std::string Tcp(const Arguments& arguments) { return ConnectTo(arguments, SOCK_STREAM); }

// Connecting a datagram socket asks for the route and sends nothing.
std::string Route(const Arguments& arguments) { return ConnectTo(arguments, SOCK_DGRAM); }

std::string FastOpen(const Arguments& arguments) {
  Address address;
  if (!Parse(arguments.Text(0), arguments.Text(1), SOCK_STREAM, &address)) return "no address";
  const int fd = socket(address.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Result(fd);
  return Result(sendto(fd, "x", 1, MSG_FASTOPEN, address.get(), address.size));
}

// Loopback refuses at once what nobody receives.
std::string Udp(const Arguments& arguments) {
  Address address;
  if (!Parse(arguments.Text(0), arguments.Text(1), SOCK_DGRAM, &address)) return "no address";
  const int fd = socket(address.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Result(fd);
  if (connect(fd, address.get(), address.size) != 0) return Result(-1);
  if (send(fd, "x", 1, 0) != 1) return Result(-1);
  pollfd ready{fd, POLLIN, 0};
  if (poll(&ready, 1, 100) == 0) return "done";
  char answer = 0;
  return Result(recv(fd, &answer, 1, 0));
}

std::string ConnectUnix(const std::string& name, bool abstract) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Result(fd);
  const std::size_t size = offsetof(sockaddr_un, sun_path) + name.size() + 1;
  return Result(connect(fd, reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(size)));
}

std::string Unix(const Arguments& arguments) { return ConnectUnix(arguments.Text(0), false); }
std::string Abstract(const Arguments& arguments) { return ConnectUnix(arguments.Text(0), true); }

std::string Interfaces(const Arguments&) {
  struct if_nameindex* names = if_nameindex();
  if (names == nullptr) return Result(-1);
  std::string list;
  for (const struct if_nameindex* name = names; name->if_index != 0; ++name) {
    list += (list.empty() ? "" : ",") + std::string(name->if_name);
  }
  if_freenameindex(names);
  return list;
}

// What code that runs before main() got: no filter comes too late for it.
int early_errno = 0;
__attribute__((constructor)) void OpenEarly() {
  const int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
  early_errno = fd < 0 ? errno : 0;
  if (fd >= 0) close(fd);
}
std::string EarlySocket(const Arguments&) {
  errno = early_errno;
  return Result(early_errno == 0 ? 0 : -1);
}

// Listens on PORT of loopback and on the abstract NAME, makes the queue KEY, and says so on stdout;
// ends once FILE exists.
std::string Serve(const Arguments& arguments) {
  Address address;
  if (!Parse("127.0.0.1", arguments.Text(0), SOCK_STREAM, &address)) return "no address";
  const int tcp = socket(address.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(tcp, address.get(), address.size) != 0 || listen(tcp, 8) != 0) return Result(-1);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, arguments.Text(1).data(), arguments.Text(1).size());
  const std::size_t size = offsetof(sockaddr_un, sun_path) + arguments.Text(1).size() + 1;
  const int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(local, reinterpret_cast<sockaddr*>(&name), static_cast<socklen_t>(size)) != 0 ||
      listen(local, 8) != 0)
    return Result(-1);
  const int queue = msgget(static_cast<key_t>(arguments.Number(2)), IPC_CREAT | IPC_EXCL | 0600);
  if (queue < 0) return Result(-1);
  printf("ready\n");
  fflush(stdout);
  for (int i = 0; i < 3000 && access(arguments.Text(3).c_str(), F_OK) != 0; ++i) usleep(10000);
  return Result(msgctl(queue, IPC_RMID, nullptr));
}

std::string Queue(const Arguments& arguments) {
  return Result(msgget(static_cast<key_t>(arguments.Number(0)), 0));
}

constexpr Probe kProbes[] = {
    {"tcp", Tcp},
    {"route", Route},
    {"fast-open", FastOpen},
    {"udp", Udp},
    {"unix", Unix},
    {"abstract", Abstract},
    {"interfaces", Interfaces},
    {"early-socket", EarlySocket},
    {"serve", Serve},
    {"queue", Queue},
};

}  // namespace

std::span<const Probe> NetworkProbes() { return kProbes; }

}  // namespace attack
