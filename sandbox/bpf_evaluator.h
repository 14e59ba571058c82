// An interpreter for the classic BPF of seccomp(2), independent of libseccomp and of the kernel.
#ifndef WARDER_SANDBOX_BPF_EVALUATOR_H_
#define WARDER_SANDBOX_BPF_EVALUATOR_H_

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace warder::sandbox {

using BpfProgram = std::span<const sock_filter>;

// Runs `program` on `data` and gives its SECCOMP_RET_* value.
//
// Errors: kInvalidArgument for what the kernel would not load (unknown instruction, load outside
//   seccomp_data or not aligned, jump outside the program, no return at the end).
// Source: Linux Documentation/networking/filter.rst, kernel/seccomp.c (seccomp_check_filter).
absl::StatusOr<std::uint32_t> RunBpf(BpfProgram program, const seccomp_data& data);

// What the kernel does with the values of several filters, oldest first: the strictest action wins,
// and among values of the same action the one of the newest filter. Source: kernel/seccomp.c
// (seccomp_run_filters).
std::uint32_t CombineVerdicts(std::span<const std::uint32_t> oldest_first);

// Both at once.
absl::StatusOr<std::uint32_t> RunFilters(std::initializer_list<BpfProgram> oldest_first,
                                         const seccomp_data& data);

// "allow", "errno EPERM", "kill", "notify", or the value in hexadecimal.
std::string VerdictText(std::uint32_t verdict);

// Who can call the kernel, each with numbers of its own. A cell lets only kNative do so.
enum class Abi : std::uint8_t { kNative, kX32, kI386 };

// Call number `nr` of `abi` as the kernel shows it to a filter. For kX32 `nr` is with or without
// the bit that marks its numbers; a seventh argument and later ones are dropped.
seccomp_data CallBy(Abi abi, int nr, const std::vector<std::uint64_t>& arguments = {});
seccomp_data NativeCall(int nr, const std::vector<std::uint64_t>& arguments = {});
// Whether `call` is by another ABI than the one that filters are compiled for.
bool IsForeign(const seccomp_data& call);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_BPF_EVALUATOR_H_
