#include "supervisor/syscall_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/syscall.h>

namespace warder::supervisor {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

std::string Mistake(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(SyscallWords, NumbersAreInCNotation) {
  EXPECT_EQ(*ParseArgument("15"), 15u);
  EXPECT_EQ(*ParseArgument("0x1F"), 0x1fu);
  EXPECT_EQ(*ParseArgument("0755"), 0755u);
  EXPECT_EQ(*ParseArgument("-1"), kAllBits);
  EXPECT_EQ(*ParseArgument("-100"), kAllBits - 99);
  EXPECT_EQ(*ParseArgument("0xffffffffffffffff"), kAllBits);
}

TEST(SyscallWords, ConstantsHaveNamesAndJoin) {
  EXPECT_EQ(*ParseArgument("AF_ALG"), 38u);
  EXPECT_EQ(*ParseArgument("TIOCSTI"), 0x5412u);
  EXPECT_EQ(*ParseArgument("CLONE_NEWUSER|CLONE_NEWNS|17"), 0x10020011u);
}

TEST(SyscallWords, WhatIsNoArgumentIsNamed) {
  for (const char* word : {"", " 1", "+1", "1x", "-", "0x", "18446744073709551616", "AF_NONE", "|",
                           "1|", "--1", "1.5"}) {
    EXPECT_THAT(Mistake(ParseArgument(word).status()), HasSubstr("neither a 64-bit number"))
        << word;
  }
  EXPECT_THAT(Mistake(ParseArgument("1|AF_NONE").status()), HasSubstr("`AF_NONE`"));
}

TEST(SyscallWords, CallsGoByNameOrNumberInTheTableOfTheirAbi) {
  const seccomp_data native = *ParseCall(sandbox::Abi::kNative, "openat", {"-100", "0"});
  EXPECT_EQ(native.nr, SYS_openat);
  EXPECT_EQ(native.args[0], kAllBits - 99);
  EXPECT_EQ(native.args[5], 0u);
  EXPECT_EQ(ParseCall(sandbox::Abi::kNative, "999", {})->nr, 999);
  EXPECT_EQ(ParseCall(sandbox::Abi::kNative, "-1", {})->nr, -1);
#if defined(__x86_64__)
  EXPECT_EQ(ParseCall(sandbox::Abi::kI386, "getpid", {})->nr, 20);
  EXPECT_EQ(ParseCall(sandbox::Abi::kI386, "getpid", {})->arch,
            static_cast<unsigned>(AUDIT_ARCH_I386));
  EXPECT_EQ(ParseCall(sandbox::Abi::kX32, "getpid", {})->nr, 0x40000027);
  EXPECT_EQ(ParseCall(sandbox::Abi::kX32, "execve", {})->nr, 0x40000000 + 520);
  EXPECT_EQ(ParseCall(sandbox::Abi::kX32, "39", {})->nr, 0x40000027);
#endif
}

TEST(SyscallWords, UnknownCallsAreMistakesWithTheNearestName) {
  const auto mistake = [](const char* name) {
    return Mistake(ParseCall(sandbox::Abi::kNative, name, {}).status());
  };
  EXPECT_THAT(mistake("opneat"), HasSubstr("did you mean `openat`?"));
  EXPECT_THAT(mistake("io_uring_setupp"), HasSubstr("did you mean `io_uring_setup`?"));
  EXPECT_THAT(mistake("entirely_new"), HasSubstr("by its number"));
  EXPECT_THAT(mistake("s390_runtime_instr"), HasSubstr("this ABI does not have"));
}

TEST(SyscallWords, ACallHasAtMostSixArguments) {
  const std::vector<std::string> seven(7, "0");
  EXPECT_THAT(Mistake(ParseCall(sandbox::Abi::kNative, "mmap", seven).status()),
              HasSubstr("at most 6"));
}

TEST(SyscallWords, AbisHaveTheNamesOfTheKernel) {
  EXPECT_EQ(*ParseAbi("x86_64"), sandbox::Abi::kNative);
  EXPECT_EQ(*ParseAbi("x32"), sandbox::Abi::kX32);
  EXPECT_EQ(*ParseAbi("i386"), sandbox::Abi::kI386);
  EXPECT_THAT(Mistake(ParseAbi("arm").status()), HasSubstr("use x86_64, x32 or i386"));
}

}  // namespace
}  // namespace warder::supervisor
