#include "sandbox/call_shapes.h"

#include <gtest/gtest.h>

#include "sandbox/syscall_filter.h"

namespace warder::sandbox {
namespace {

TEST(CallShapes, EveryEntryIsARealCallWithArgumentsInRange) {
  for (const char* name : {"mount", "openat", "socket", "ptrace", "pidfd_send_signal"}) {
    const CallShape* shape = ShapeOf(name);
    ASSERT_NE(shape, nullptr) << name;
    EXPECT_GE(SyscallNumber(name), 0) << name;
    for (const CallPart& part : shape->parts) {
      EXPECT_LT(part.index, part.kind == PartKind::kAddress ? 5u : 6u) << name;
      EXPECT_TRUE(part.kind != PartKind::kPathAt || part.index > 0) << name;
    }
  }
  EXPECT_EQ(ShapeOf("getpid"), nullptr);
}

TEST(CallShapes, NumbersWithoutANameStayNumbers) {
  EXPECT_EQ(NameOf(kFamilies, 17), "AF_PACKET");
  EXPECT_EQ(NameOf(kSocketTypes, 3), "SOCK_RAW");
  EXPECT_EQ(NameOf(kRequests, 0x40086602), "FS_IOC_SETFLAGS");
  EXPECT_EQ(NameOf(kRequests, 0x1234), "0x1234");
}

TEST(CallShapes, NamesHaveTheirNumbers) {
  EXPECT_EQ(NumberOf("AF_PACKET"), 17u);
  EXPECT_EQ(NumberOf("SOCK_SEQPACKET"), 5u);
  EXPECT_EQ(NumberOf("TIOCSTI"), 0x5412u);
  EXPECT_EQ(NumberOf("CLONE_NEWUSER"), 0x10000000u);
  EXPECT_EQ(NumberOf("AF_NONE_SUCH"), std::nullopt);
}

}  // namespace
}  // namespace warder::sandbox
