// CompileSyscallFilter: syscall rules to BPF programs. syscall_filter.cc is the only file that
// includes <seccomp.h>.
#ifndef WARDER_SANDBOX_SYSCALL_FILTER_H_
#define WARDER_SANDBOX_SYSCALL_FILTER_H_

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/bpf_evaluator.h"
#include "sandbox/policy.h"

namespace warder::sandbox {

// How the kernel answers a deny rule's errno.
enum class DenialAnswer : std::uint8_t {
  kNotify,  // by asking a listener, which answers with the errno and keeps a record. ENOSYS, the
            // answer to a probe, is given at once and leaves none
  kErrno,   // at once; for where there can be no listener
};

// Two programs, installed in this order, both or none. The kernel takes the strictest verdict, and
// on a tie the one of the program installed last, so a known-denied call gets the answer of its
// deny rule. Two, because libseccomp drops the conditional rules of a call that also has an
// unconditional one. An errno is stricter than a notification, so what the second notifies of
// passes the first.
struct SyscallFilter {
  std::vector<sock_filter> allow;  // default ENOSYS; foreign ABI kills
  std::vector<sock_filter> deny;   // default allow; foreign ABI kills
  // What a listener must answer: the rules that notify by call number, in the policy's order.
  std::map<int, std::vector<SyscallRule>> notifying;
  // Reading a caller's memory returns at once: with userfaultfd it could stop the reader for ever.
  bool memory_is_prompt = false;
};

// Whether the arguments of `call` meet every condition of `rule`; its number is not looked at.
bool ConditionsHold(const SyscallRule& rule, const seccomp_data& call);
// The first rule of `filter` that notifies of this call; nullptr when none does.
const SyscallRule* NotifyingRule(const SyscallFilter& filter, const seccomp_data& call);

// Compiles `policy` for the native ABI.
//
// Errors: kInvalidArgument (unknown call name, bad argument index, value outside mask, conditions
//   that exclude each other, the same call on both lists with no condition, two deny rules that can
//   both match and differ in what they do), kInternal (libseccomp failed; text says where).
// Source: seccomp(2), seccomp_rule_add(3).
absl::StatusOr<SyscallFilter> CompileSyscallFilter(const SyscallPolicy& policy,
                                                   DenialAnswer answer = DenialAnswer::kNotify);

// The checks of CompileSyscallFilter without the compiling, for whoever loads a policy. Same
// kInvalidArgument errors.
absl::Status CheckSyscallPolicy(const SyscallPolicy& policy);

// What SyscallNumber says of a name that this libseccomp does not know.
inline constexpr int kUnknownSyscall = -1;

// The native number of `name`; kUnknownSyscall, or a number below it for a call that only other
// architectures have. Rules on the latter are valid and compile to nothing.
int SyscallNumber(const std::string& name);
// The same in the table of `abi`.
int SyscallNumber(const std::string& name, Abi abi);
// The name of native call `number`, or "" when unknown.
std::string SyscallName(int number);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_SYSCALL_FILTER_H_
