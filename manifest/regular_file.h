// Reading a small regular file whole, without side effects on what is no regular file.
#ifndef WARDER_MANIFEST_REGULAR_FILE_H_
#define WARDER_MANIFEST_REGULAR_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace warder::manifest {

// Reads all of the file that `fd` (O_PATH) names. It is opened for reading only once it is known to
// be a regular file: opening a device or a FIFO can do something. `name` is what to call it in
// messages.
//
// Errors: kInvalidArgument (no regular file: says what it is), kPermissionDenied,
//   kResourceExhausted (above `limit_bytes`, or no descriptors), kInternal (read error).
absl::StatusOr<std::string> ReadRegularFile(int fd, const std::string& name,
                                            std::size_t limit_bytes);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_REGULAR_FILE_H_
