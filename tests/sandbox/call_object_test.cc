#include "sandbox/call_object.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "sandbox/unique_fd.h"

namespace warder::sandbox {
namespace {

std::uint64_t At(const void* place) { return reinterpret_cast<std::uint64_t>(place); }

// What this process would be asking for with `arguments`.
std::string Object(const std::string& name, std::initializer_list<std::uint64_t> arguments) {
  seccomp_data call = {};
  int index = 0;
  for (const std::uint64_t argument : arguments) call.args[index++] = argument;
  return DescribeObject(name, call, getpid());
}

TEST(DescribeObject, PathsAreAbsoluteAndNotResolved) {
  const std::string here = std::filesystem::current_path().string();
  const UniqueFd directory(open("/usr", O_PATH | O_CLOEXEC));
  const auto fd = static_cast<std::uint64_t>(directory.get());
  const std::uint64_t cwd = 0xffffffffffffff9c;  // AT_FDCWD
  EXPECT_EQ(Object("chroot", {At("/a/../b")}), "path=/a/../b");
  EXPECT_EQ(Object("chroot", {At("x")}), "path=" + here + "/x");
  EXPECT_EQ(Object("fchmodat", {cwd, At("x"), 04755}), "path=" + here + "/x, mode=04755");
  EXPECT_EQ(Object("fchmodat", {fd, At("x"), 04755}), "path=/usr/x, mode=04755");
  EXPECT_EQ(Object("open_tree", {fd, At("")}), "path=/usr");
  EXPECT_EQ(Object("fchmodat", {99, At("x"), 0}), "path=?/x, mode=0");
}

TEST(DescribeObject, FlagsFamiliesAndRequestsHaveNames) {
  EXPECT_EQ(Object("unshare", {CLONE_NEWUSER | CLONE_NEWNS}), "flags=CLONE_NEWNS|CLONE_NEWUSER");
  EXPECT_EQ(Object("clone", {CLONE_NEWPID | 17}), "flags=CLONE_NEWPID|0x11");
  EXPECT_EQ(Object("socket", {AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 3}),
            "family=AF_PACKET, type=SOCK_RAW, protocol=3");
  EXPECT_EQ(Object("socket", {44, 1, 0}), "family=AF_XDP, type=SOCK_STREAM, protocol=0");
  EXPECT_EQ(Object("socket", {99, 9, 0}), "family=0x63, type=0x9, protocol=0");
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(Object("ioctl", {static_cast<std::uint64_t>(null.get()), 0xffffffff00005412}),
            "request=TIOCSTI, fd=" + std::to_string(null.get()) + " (/dev/null)");
}

TEST(DescribeObject, SocketAddressesAreRead) {
  sockaddr_in ip = {};
  ip.sin_family = AF_INET;
  ip.sin_port = htons(80);
  ip.sin_addr.s_addr = htonl(0x7f000001);
  EXPECT_EQ(Object("connect", {1000, At(&ip), sizeof ip}), "address=127.0.0.1:80, fd=1000 (?)");
  EXPECT_EQ(Object("connect", {1000, At(&ip), 1}), "address=?, fd=1000 (?)");
  const char unix[] = "\1\0/run/socket";
  EXPECT_EQ(Object("bind", {1000, At(unix), sizeof unix}), "address=/run/socket, fd=1000 (?)");
  EXPECT_EQ(Object("bind", {1000, 0, 0}), "address=?, fd=1000 (?)");
}

TEST(DescribeObject, WhatCannotBeReadOrIsLongIsSaidSo) {
  EXPECT_EQ(Object("chroot", {0}), "path=NULL");
  EXPECT_EQ(Object("chroot", {16}), "path=?");
  const std::string longest(kMaxObjectWord, 'x');
  EXPECT_EQ(Object("fsopen", {At(longest.c_str())}), "type=" + longest);
  const std::string longer(kMaxObjectWord + 1, 'x');
  EXPECT_EQ(Object("fsopen", {At(longer.c_str())}), "type=" + longest + "...");
  EXPECT_EQ(Object("getpid", {}), "");
}

TEST(DescribeObject, NothingIsReadOfNobody) {
  seccomp_data call = {};
  call.args[0] = At("/etc");
  call.args[1] = 0644;
  EXPECT_EQ(DescribeObject("chmod", call, 0), "path=?, mode=0644");
}

TEST(DescribeObject, TextThatEndsAtTheLastMappedPageIsRead) {
  const long page = sysconf(_SC_PAGESIZE);
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * static_cast<std::size_t>(page), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  mprotect(memory + page, static_cast<std::size_t>(page), PROT_NONE);
  char* text = memory + page - 5;
  std::memcpy(text, "/etc", 5);
  EXPECT_EQ(Object("chroot", {At(text)}), "path=/etc");
  munmap(memory, 2 * static_cast<std::size_t>(page));
}

}  // namespace
}  // namespace warder::sandbox
