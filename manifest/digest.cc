#include "manifest/digest.h"

#include <openssl/evp.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

namespace warder::manifest {
namespace {

constexpr std::size_t kReadBytes = 256u
                                   << 10;  // large enough that system calls cost less than hashing

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

// OpenSSL fails here only when memory is gone or the library is broken: nothing that is hashed
// could be trusted.
void Require(int result) {
  if (result != 1) std::abort();
}

// Looking the algorithm up costs more than hashing a short text, so it is done once. Never freed:
// it lives as long as the process.
const EVP_MD* Algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}

Context NewContext() {
  Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr) std::abort();
  Require(EVP_DigestInit_ex2(context.get(), Algorithm(), nullptr));
  return context;
}

Sha256 Finish(EVP_MD_CTX* context) {
  Sha256 digest;
  Require(EVP_DigestFinal_ex(context, digest.data(), nullptr));
  return digest;
}

}  // namespace

Sha256 Digest(std::string_view bytes) {
  const Context context = NewContext();
  Require(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()));
  return Finish(context.get());
}

absl::StatusOr<Sha256> DigestFile(int fd, std::uint64_t limit_bytes) {
  const Context context = NewContext();
  std::vector<char> buffer(kReadBytes);
  std::uint64_t total = 0;
  while (true) {
    const ssize_t count = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(total));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::InternalError(absl::StrFormat("read: %s", strerror(errno)));
    if (count == 0) return Finish(context.get());
    total += static_cast<std::uint64_t>(count);
    if (total > limit_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("file is larger than the limit of %d bytes", limit_bytes));
    }
    Require(EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(count)));
  }
}

std::string Hex(std::span<const std::uint8_t> bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t got = ::getrandom(bytes.data() + have, count - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace warder::manifest
