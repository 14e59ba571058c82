// InChild: runs code in a forked process of its own, for what would change this one for good.
#ifndef WARDER_TESTS_SUPPORT_IN_CHILD_H_
#define WARDER_TESTS_SUPPORT_IN_CHILD_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace warder::testing {

// Starts `body` in a child that ends with what it returns. Whoever calls waits for it.
pid_t StartChild(const std::function<int()>& body);
// The exit code of `pid`, or 128 + the signal that ended it.
int ExitCodeOf(pid_t pid);
// Both.
int InChild(const std::function<int()>& body);

// In a child: mounts a fresh file system of `bytes` at `directory`, which only this child sees.
// Works as root, and in a user namespace of its own otherwise. False when the kernel refuses.
bool MountPrivateTmpfs(const std::string& directory, std::size_t bytes);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_IN_CHILD_H_
