// DescribeObject: what a system call was asked to act on, in words, for the record of a denial.
#ifndef WARDER_SANDBOX_CALL_OBJECT_H_
#define WARDER_SANDBOX_CALL_OBJECT_H_

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

namespace warder::sandbox {

// Bytes of one path or word in an object: enough to know it by.
inline constexpr std::size_t kMaxObjectWord = 512;

// "target=/mnt, type=tmpfs": the arguments of `call` that say what it acts on, from a table by the
// call's `name`; "" for a call that is not in it. Relative paths get the directory of process `pid`
// that they start from, symbolic links are not followed. A word that cannot be read is "?", and one
// that is longer ends with "...". Bytes are the caller's: make them visible before showing them.
//
// Reads the memory of `pid` (process_vm_readv, needs ptrace rights) while the kernel holds the
// call: another thread may change it, so this is a record and no ground for a verdict.
//
// With `pid` 0 nothing of the caller is read, and every word is "?".
std::string DescribeObject(const std::string& name, const seccomp_data& call, pid_t pid);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CALL_OBJECT_H_
