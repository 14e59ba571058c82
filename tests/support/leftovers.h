// Leftovers: what a call must not leave on the machine.
#ifndef WARDER_TESTS_SUPPORT_LEFTOVERS_H_
#define WARDER_TESTS_SUPPORT_LEFTOVERS_H_

#include <set>
#include <string>

namespace warder::testing {

// Warder's control groups whose launcher is gone: their lock is free. The machine's own groups come
// and go, and other tests may run beside.
std::set<std::string> DeadGroups();

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_LEFTOVERS_H_
