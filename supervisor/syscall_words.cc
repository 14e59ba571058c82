#include "supervisor/syscall_words.h"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "manifest/json_reader.h"
#include "sandbox/call_shapes.h"
#include "sandbox/syscall_filter.h"

namespace warder::supervisor {
namespace {

using sandbox::Abi;

constexpr std::size_t kArguments = 6;   // of any system call
constexpr int kNumbersSearched = 1024;  // the tables of today end at 470

std::optional<std::uint64_t> Number(const std::string& word) {
  // strtoull would skip spaces and take a plus sign.
  const std::size_t digit = word.starts_with('-') ? 1 : 0;
  if (word.size() <= digit || word[digit] < '0' || word[digit] > '9') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t value = std::strtoull(word.c_str(), &end, 0);
  if (errno != 0 || *end != '\0') return std::nullopt;
  return value;
}

absl::Status UnknownCall(const std::string& name) {
  std::vector<std::string> known;
  for (int number = 0; number < kNumbersSearched; ++number) {
    std::string other = sandbox::SyscallName(number);
    if (!other.empty()) known.push_back(std::move(other));
  }
  const std::string nearest = manifest::NearestWord(name, known);
  return absl::InvalidArgumentError(
      absl::StrFormat("`%s` is no system call that libseccomp knows%s", name,
                      nearest.empty() ? "; a newer one can be given by its number"
                                      : absl::StrFormat("; did you mean `%s`?", nearest)));
}

absl::StatusOr<int> NumberOfCall(Abi abi, const std::string& call) {
  if (const auto number = Number(call)) {
    // As the kernel does: it looks at the lower half of the register.
    return static_cast<int>(static_cast<std::uint32_t>(*number));
  }
  const int number = sandbox::SyscallNumber(call, abi);
  if (number >= 0) return number;
  if (sandbox::SyscallNumber(call) == sandbox::kUnknownSyscall) return UnknownCall(call);
  return absl::InvalidArgumentError(
      absl::StrFormat("`%s` is a system call that this ABI does not have", call));
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseArgument(const std::string& word) {
  std::uint64_t value = 0;
  for (const absl::string_view part : absl::StrSplit(word, '|')) {
    const std::string text(part);
    if (const auto number = Number(text)) {
      value |= *number;
    } else if (const auto constant = sandbox::NumberOf(text)) {
      value |= *constant;
    } else {
      return absl::InvalidArgumentError(absl::StrFormat(
          "argument `%s`: `%s` is neither a 64-bit number (15, -1, 0x1f, 0755) nor a known AF_, "
          "SOCK_, CLONE_NEW or ioctl constant: write its number",
          word, text));
    }
  }
  return value;
}

absl::StatusOr<Abi> ParseAbi(const std::string& word) {
  if (word == "x86_64") return Abi::kNative;
  if (word == "x32") return Abi::kX32;
  if (word == "i386") return Abi::kI386;
  return absl::InvalidArgumentError(
      absl::StrFormat("`%s` is no ABI: use x86_64, x32 or i386", word));
}

absl::StatusOr<seccomp_data> ParseCall(Abi abi, const std::string& call,
                                       const std::vector<std::string>& arguments) {
  const auto number = NumberOfCall(abi, call);
  if (!number.ok()) return number.status();
  if (arguments.size() > kArguments) {
    return absl::InvalidArgumentError(absl::StrFormat("%d arguments: a system call has at most %d",
                                                      arguments.size(), kArguments));
  }
  std::vector<std::uint64_t> values;
  for (const std::string& word : arguments) {
    const auto value = ParseArgument(word);
    if (!value.ok()) return value.status();
    values.push_back(*value);
  }
  return sandbox::CallBy(abi, *number, values);
}

}  // namespace warder::supervisor
