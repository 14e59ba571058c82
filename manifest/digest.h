// SHA-256, behind one .cc (OpenSSL libcrypto).
#ifndef WARDER_MANIFEST_DIGEST_H_
#define WARDER_MANIFEST_DIGEST_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "manifest/tool_spec.h"

namespace warder::manifest {

Sha256 Digest(std::string_view bytes);
// Reads `fd` from offset 0 to its end with pread. Errors: kInternal (read error),
// kResourceExhausted (above `limit_bytes`).
absl::StatusOr<Sha256> DigestFile(int fd, std::uint64_t limit_bytes);
// Lower-case hexadecimal.
std::string Hex(std::span<const std::uint8_t> bytes);
// `count` bytes from the kernel's generator (getrandom(2)). Aborts if the kernel has none: no call
// is safe without.
std::string RandomBytes(std::size_t count);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_DIGEST_H_
