// NamespaceRemedy: which namespaces a machine refuses, and the switch that mends each.
#ifndef WARDER_SANDBOX_NAMESPACE_REMEDY_H_
#define WARDER_SANDBOX_NAMESPACE_REMEDY_H_

#include <cstdint>
#include <string>

namespace warder::sandbox {

// Which of the namespaces in `flags` (CLONE_NEW*; others are ignored) the kernel refuses, why, and
// what mends that: each is made alone, in a child that ends at once. "" when each could be made, or
// none was asked for. Source: namespaces(7), the sysctls of user namespaces(7) and of Debian and
// Ubuntu.
std::string NamespaceRemedy(std::uint64_t flags);

// What lets an ordinary user have a user namespace that is of use: the switch that is off, where
// there is one.
std::string UserNamespaceRemedy();

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_NAMESPACE_REMEDY_H_
