#include "sandbox/host_endpoints.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/unique_fd.h"
#include "tests/support/temp_tree.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::TempTree;
using Paths = std::vector<std::string>;

UniqueFd Bind(const std::string& path, int type) {
  UniqueFd bound(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  EXPECT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(bind(bound.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(type == SOCK_DGRAM || listen(bound.get(), 1) == 0);
  return bound;
}

absl::StatusOr<Paths> Find(const TempTree& tree, bool fifos) {
  const UniqueFd root(open(tree.At("ws").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto found = FindHostEndpoints(root.get(), fifos);
  if (found.ok()) std::sort(found->begin(), found->end());
  return found;
}

TEST(FindHostEndpoints, BoundSocketsAreFoundAndAbandonedOnesAreNot) {
  const TempTree tree;
  tree.Directory("ws/a/b");
  const UniqueFd stream = Bind(tree.At("ws/a/b/stream"), SOCK_STREAM);
  const UniqueFd packets = Bind(tree.At("ws/packets"), SOCK_SEQPACKET);
  const UniqueFd datagrams = Bind(tree.At("ws/datagrams"), SOCK_DGRAM);
  Bind(tree.At("ws/abandoned"), SOCK_STREAM);
  tree.Link("ws/link", tree.At("ws/packets"));
  tree.Write("ws/file", "x");
  const auto found = Find(tree, false);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, (Paths{"a/b/stream", "datagrams", "packets"}));
  for (const UniqueFd* asked : {&stream, &packets, &datagrams}) {
    pollfd ready = {asked->get(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 0), 0) << "the question reached whoever listens";
  }
}

TEST(FindHostEndpoints, NameThatIsTooLongToAskForCounts) {
  const TempTree tree;
  tree.Directory("ws");
  const UniqueFd bound = Bind(tree.At("ws/s"), SOCK_STREAM);
  const std::string name(200, 'n');
  ASSERT_EQ(rename(tree.At("ws/s").c_str(), tree.At("ws/" + name).c_str()), 0);
  EXPECT_EQ(*Find(tree, false), Paths{name});
}

TEST(FindHostEndpoints, FifosCountWhereTheyAreAskedFor) {
  const TempTree tree;
  tree.Directory("ws/d");
  ASSERT_EQ(mkfifo(tree.At("ws/d/pipe").c_str(), 0600), 0);
  EXPECT_EQ(*Find(tree, false), Paths{});
  EXPECT_EQ(*Find(tree, true), Paths{"d/pipe"});
}

TEST(FindHostEndpoints, TooManyAreAnErrorThatNamesOne) {
  const TempTree tree;
  tree.Directory("ws");
  for (std::size_t i = 0; i <= kMaxEndpoints; ++i) {
    ASSERT_EQ(mkfifo(tree.At("ws/" + std::to_string(i)).c_str(), 0600), 0);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(Find(tree, true).status()));
}

}  // namespace
}  // namespace warder::sandbox
