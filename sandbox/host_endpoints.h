// HostEndpoints: sockets and FIFOs of the host that lie in a workspace. A mount of a tree brings
// them along, and neither a mount nor Landlock (up to ABI 7) can refuse a socket's path.
#ifndef WARDER_SANDBOX_HOST_ENDPOINTS_H_
#define WARDER_SANDBOX_HOST_ENDPOINTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/tree_walk.h"

namespace warder::sandbox {

// Each becomes a mount. A workspace has a few services at most.
inline constexpr std::size_t kMaxEndpoints = 64;
// A look at the names alone; what lies beyond is not found.
inline constexpr WalkLimits kEndpointLimits = {.time_us = 200'000, .kinds_only = true};

// Paths below `root` (O_PATH), relative to it, of every socket that somebody has bound, also from
// another network namespace, and with `fifos` of every FIFO. A socket that nobody has bound any
// more leads nowhere, and is left for the tool to replace. The question does not reach whoever
// listens. Errors: kResourceExhausted (more than kMaxEndpoints: names one).
absl::StatusOr<std::vector<std::string>> FindHostEndpoints(int root, bool fifos);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_HOST_ENDPOINTS_H_
