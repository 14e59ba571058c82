#include "sandbox/bpf_evaluator.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <vector>

namespace warder::sandbox {
namespace {

using Program = std::vector<sock_filter>;

sock_filter Return(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }
sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

std::uint32_t Result(const Program& program, const seccomp_data& data) {
  const auto result = RunBpf(program, data);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(0xdead);
}

std::string Fault(const Program& program) {
  return std::string(RunBpf(program, NativeCall(0)).status().message());
}

TEST(BpfEvaluator, LoadsEachWordOfTheCall) {
  seccomp_data data = NativeCall(7, {0x1122334455667788});
  data.instruction_pointer = 0x99;
  const Program load_only = {Load(offsetof(seccomp_data, nr)), BPF_STMT(BPF_RET | BPF_A, 0)};
  EXPECT_EQ(Result(load_only, data), 7u);
  const auto word = [&](std::size_t offset) {
    return Result({Load(offset), BPF_STMT(BPF_RET | BPF_A, 0)}, data);
  };
  EXPECT_EQ(word(offsetof(seccomp_data, arch)), data.arch);
  EXPECT_EQ(word(offsetof(seccomp_data, instruction_pointer)), 0x99u);
  EXPECT_EQ(word(offsetof(seccomp_data, args)), 0x55667788u);
  EXPECT_EQ(word(offsetof(seccomp_data, args) + 4), 0x11223344u);
}

TEST(BpfEvaluator, JumpsCompareWithoutSign) {
  struct Jump {
    unsigned operation;
    std::uint32_t operand;
    bool holds;
  };
  for (const auto& [operation, operand, holds] : {Jump{BPF_JEQ, 0x80000000, true},
                                                  {BPF_JEQ, 1, false},
                                                  {BPF_JGT, 1, true},
                                                  {BPF_JGT, 0x80000000, false},
                                                  {BPF_JGE, 0x80000000, true},
                                                  {BPF_JGE, 0x80000001, false},
                                                  {BPF_JSET, 0xc0000000, true},
                                                  {BPF_JSET, 0x7fffffff, false}}) {
    const Program program = {
        Load(offsetof(seccomp_data, args)),
        BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | operation | BPF_K), operand, 0, 1), Return(1),
        Return(0)};
    EXPECT_EQ(Result(program, NativeCall(0, {0x80000000})), holds ? 1u : 0u)
        << operation << " " << operand;
  }
}

TEST(BpfEvaluator, MasksAndRemembers) {
  const Program program = {Load(offsetof(seccomp_data, args)),
                           BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
                           BPF_STMT(BPF_ST, 3),
                           BPF_STMT(BPF_LD | BPF_IMM, 1),
                           BPF_STMT(BPF_LDX | BPF_MEM, 3),
                           BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
                           BPF_STMT(BPF_RET | BPF_A, 0)};
  EXPECT_EQ(Result(program, NativeCall(0, {0xabcd})), 0xc1u);
}

TEST(BpfEvaluator, WhatTheKernelWouldNotLoadIsAFault) {
  EXPECT_EQ(Fault({}), "the program ends without a return");
  EXPECT_EQ(Fault({Load(0)}), "the program ends without a return");
  EXPECT_EQ(Fault({Load(2), Return(0)}), "instruction 0: not a valid load");
  EXPECT_EQ(Fault({Load(sizeof(seccomp_data)), Return(0)}), "instruction 0: not a valid load");
  EXPECT_EQ(Fault({BPF_STMT(BPF_JMP | BPF_JA, 1), Return(0)}), "instruction 0: not a valid jump");
  EXPECT_EQ(Fault({BPF_STMT(BPF_ST, BPF_MEMWORDS), Return(0)}), "instruction 0: not a valid store");
  EXPECT_EQ(Fault({BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 1), Return(0)}),
            "instruction 0: not a valid arithmetic");
}

TEST(BpfEvaluator, StrictestVerdictWinsAndOfEqualsTheNewest) {
  constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | 1, kEnosys = SECCOMP_RET_ERRNO | 38;
  const auto combined = [](std::array<std::uint32_t, 2> verdicts) {
    return CombineVerdicts(verdicts);
  };
  EXPECT_EQ(combined({SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(combined({SECCOMP_RET_ALLOW, kEperm}), kEperm);
  EXPECT_EQ(combined({kEperm, SECCOMP_RET_ALLOW}), kEperm);
  EXPECT_EQ(combined({kEnosys, kEperm}), kEperm);
  EXPECT_EQ(combined({kEnosys, SECCOMP_RET_USER_NOTIF}), kEnosys);
  EXPECT_EQ(combined({SECCOMP_RET_KILL_PROCESS, kEperm}), SECCOMP_RET_KILL_PROCESS);
}

TEST(BpfEvaluator, VerdictsHaveNames) {
  EXPECT_EQ(VerdictText(SECCOMP_RET_ALLOW), "allow");
  EXPECT_EQ(VerdictText(SECCOMP_RET_KILL_PROCESS), "kill");
  EXPECT_EQ(VerdictText(SECCOMP_RET_USER_NOTIF), "notify");
  EXPECT_EQ(VerdictText(SECCOMP_RET_ERRNO | 38), "errno ENOSYS");
  EXPECT_EQ(VerdictText(SECCOMP_RET_TRACE), "0x7ff00000");
}

TEST(BpfEvaluator, CallsOfEachAbiLookAsTheKernelShowsThem) {
  const seccomp_data native = NativeCall(SYS_getpid, {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(native.nr, SYS_getpid);
  EXPECT_EQ(native.args[5], 6u);
  EXPECT_FALSE(IsForeign(native));
  EXPECT_FALSE(IsForeign(NativeCall(-1)));
  const seccomp_data i386 = CallBy(Abi::kI386, 20);
  EXPECT_EQ(i386.arch, static_cast<unsigned>(AUDIT_ARCH_I386));
  EXPECT_TRUE(IsForeign(i386));
#if defined(__x86_64__)
  EXPECT_EQ(CallBy(Abi::kX32, 39).nr, 0x40000027);
  EXPECT_EQ(CallBy(Abi::kX32, 0x40000027).nr, 0x40000027);
  EXPECT_TRUE(IsForeign(CallBy(Abi::kX32, 39)));
#endif
}

}  // namespace
}  // namespace warder::sandbox
