// The input of a call as lines for people.
#ifndef WARDER_APPROVAL_INPUT_TREE_H_
#define WARDER_APPROVAL_INPUT_TREE_H_

#include <functional>
#include <string>
#include <string_view>

#include "approval/preview.h"

namespace warder::approval {

// Gets one line to be: an indentation of Warder's own, and visible text.
using TreeLine = std::function<void(std::string_view prefix, const std::string& visible)>;

// Calls `line` for each value of `input`, which is JSON, one value a line; then, where the tree
// does not tell every byte, for what it leaves out: the exact bytes, or the count of white space
// between values. Bytes that are not JSON are given exactly.
void DescribeInput(std::string_view input, Charset charset, const TreeLine& line);

}  // namespace warder::approval

#endif  // WARDER_APPROVAL_INPUT_TREE_H_
