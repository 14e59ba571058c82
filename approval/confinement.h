// Confinement in words: what a policy lets a cell read, write, reach and use.
#ifndef WARDER_APPROVAL_CONFINEMENT_H_
#define WARDER_APPROVAL_CONFINEMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "manifest/policy_file.h"

namespace warder::approval {

// One sentence for each thing that `policy` grants or withholds, always in the same order.
// `workspace` is its real path. Paths are in double quotes and visible.
std::vector<std::string> DescribeConfinement(const manifest::NamedPolicy& policy,
                                             std::string_view workspace);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_CONFINEMENT_H_
