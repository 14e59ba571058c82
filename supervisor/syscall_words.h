// SyscallWords: a system call as a person writes it on the command line.
#ifndef WARDER_SUPERVISOR_SYSCALL_WORDS_H_
#define WARDER_SUPERVISOR_SYSCALL_WORDS_H_

#include <linux/seccomp.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/bpf_evaluator.h"

namespace warder::supervisor {

// One argument: a number in C notation (15, -1, 0x1f, 0755), a constant that records of denials
// name (AF_INET, SOCK_STREAM, TIOCSTI, CLONE_NEWUSER), or several of these joined by "|".
// Errors: kInvalidArgument.
absl::StatusOr<std::uint64_t> ParseArgument(const std::string& word);

// "x86_64" (the native one), "x32" or "i386". Errors: kInvalidArgument.
absl::StatusOr<sandbox::Abi> ParseAbi(const std::string& word);

// The call of `abi` with this name, or number in C notation, and these arguments (at most 6; those
// that are not given are 0). Errors: kInvalidArgument, with the nearest name for an unknown one.
absl::StatusOr<seccomp_data> ParseCall(sandbox::Abi abi, const std::string& call,
                                       const std::vector<std::string>& arguments);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_SYSCALL_WORDS_H_
