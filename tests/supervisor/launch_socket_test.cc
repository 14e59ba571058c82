// The packets of supervisor/launch_socket.cc.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "supervisor/launch_protocol.h"

namespace warder::supervisor {
namespace {

using sandbox::UniqueFd;

class LaunchSocket : public ::testing::Test {
 protected:
  LaunchSocket() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_.Reset(ends[0]);
    theirs_.Reset(ends[1]);
  }
  UniqueFd ours_, theirs_;
};

TEST_F(LaunchSocket, BodyAndDescriptorsArriveSmallOrLarge) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{100}, std::size_t{16} << 10, std::size_t{3} << 20}) {
    Message message;
    message.kind = MessageKind::kLaunch;
    message.call = 42;
    message.body.assign(size, 'x');
    message.fds.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(SendMessage(ours_.get(), message).ok());
    auto got = ReceiveMessage(theirs_.get());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->call, 42u);
    EXPECT_EQ(got->body, message.body);
    ASSERT_EQ(got->fds.size(), 1u);
    EXPECT_NE(fcntl(got->fds.front().get(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST_F(LaunchSocket, NothingThereIsNotAnEnd) {
  EXPECT_EQ(ReceiveMessage(theirs_.get()).status().code(), absl::StatusCode::kAborted);
  ours_.Reset();
  EXPECT_EQ(ReceiveMessage(theirs_.get()).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(LaunchSocket, PeerThatIsGoneIsUnavailableAndNoSignal) {
  theirs_.Reset();
  EXPECT_EQ(SendMessage(ours_.get(), Message()).code(), absl::StatusCode::kUnavailable);
}

TEST_F(LaunchSocket, TooLargeABodyIsNotSent) {
  Message message;
  message.body.assign(kMaxBodyBytes + 1, 'x');
  EXPECT_EQ(SendMessage(ours_.get(), message).code(), absl::StatusCode::kInternal);
}

// A packet as a hostile peer would make it: header words, and a descriptor as the body.
void SendRaw(int socket, const std::string& bytes, int fd) {
  iovec data = {const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr packet = {};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control;
  packet.msg_controllen = sizeof control;
  cmsghdr* part = CMSG_FIRSTHDR(&packet);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  ASSERT_EQ(sendmsg(socket, &packet, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

TEST_F(LaunchSocket, BodyThatItsSenderCouldStillChangeIsRefused) {
  const UniqueFd body(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(write(body.get(), "abc", 3), 3);
  const std::uint64_t header[] = {2, 1, 1};
  SendRaw(ours_.get(), std::string(reinterpret_cast<const char*>(header), sizeof header),
          body.get());
  EXPECT_EQ(ReceiveMessage(theirs_.get()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(LaunchSocket, ShortHeaderIsRefused) {
  SendRaw(ours_.get(), "short", 0);
  EXPECT_EQ(ReceiveMessage(theirs_.get()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace warder::supervisor
