// CompileSyscallFilter: syscall rules to BPF programs. syscall_filter.cc is the only file that
// includes <seccomp.h>.
#ifndef WARDER_SANDBOX_SYSCALL_FILTER_H_
#define WARDER_SANDBOX_SYSCALL_FILTER_H_

#include <linux/filter.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/policy.h"

namespace warder::sandbox {

// Two programs, installed in this order. The kernel takes the strictest verdict, and on a tie the
// errno of the program installed last, so a known-denied call gets the errno of its deny rule. Two,
// because libseccomp drops the conditional rules of a call that also has an unconditional one.
struct SyscallFilter {
  std::vector<sock_filter> allow;  // default ENOSYS; foreign ABI kills
  std::vector<sock_filter> deny;   // default allow; foreign ABI kills
};

// Compiles `policy` for the native ABI.
//
// Errors: kInvalidArgument (unknown call name, bad argument index, value outside mask, conditions
//   that exclude each other, the same call on both lists with no condition, two deny rules that can
//   both match and differ in what they do), kInternal (libseccomp failed; text says where).
// Source: seccomp(2), seccomp_rule_add(3).
absl::StatusOr<SyscallFilter> CompileSyscallFilter(const SyscallPolicy& policy);

// The checks of CompileSyscallFilter without the compiling, for whoever loads a policy. Same
// kInvalidArgument errors.
absl::Status CheckSyscallPolicy(const SyscallPolicy& policy);

// What SyscallNumber says of a name that this libseccomp does not know.
inline constexpr int kUnknownSyscall = -1;

// The native number of `name`; kUnknownSyscall, or a number below it for a call that only other
// architectures have. Rules on the latter are valid and compile to nothing.
int SyscallNumber(const std::string& name);
// The name of native call `number`, or "" when unknown.
std::string SyscallName(int number);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_SYSCALL_FILTER_H_
