// OwnGroup: the control group that the tests themselves run in.
#ifndef WARDER_TESTS_SUPPORT_OWN_GROUP_H_
#define WARDER_TESTS_SUPPORT_OWN_GROUP_H_

#include <string>

#include "sandbox/unique_fd.h"

namespace warder::testing {

// The directory of this process's group in the tree of `controller` ("": v2), when we may make
// groups there; no descriptor otherwise.
sandbox::UniqueFd OwnGroup(const std::string& controller);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_OWN_GROUP_H_
