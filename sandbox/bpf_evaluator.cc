#include "sandbox/bpf_evaluator.h"

#include <linux/audit.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>

#include "absl/strings/str_format.h"

namespace warder::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kNativeArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kNativeArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name the AUDIT_ARCH_* of this architecture"
#endif
constexpr std::uint32_t kX32Bit = 0x40000000;  // __X32_SYSCALL_BIT of <asm/unistd.h>

class Machine {
 public:
  Machine(BpfProgram program, const seccomp_data& data) : program_(program) {
    std::memcpy(words_.data(), &data, sizeof(data));
  }

  absl::StatusOr<std::uint32_t> Run() {
    // Jumps only go forward, so each instruction runs at most once.
    while (position_ < program_.size()) {
      const sock_filter& step = program_[position_++];
      switch (BPF_CLASS(step.code)) {
        case BPF_RET:
          if (BPF_RVAL(step.code) == BPF_K) return step.k;
          if (BPF_RVAL(step.code) == BPF_A) return accumulator_;
          return Fault("return");
        case BPF_LD:
          if (!Load(step)) return Fault("load");
          break;
        case BPF_ALU:
          if (!Calculate(step)) return Fault("arithmetic");
          break;
        case BPF_JMP:
          if (!Jump(step)) return Fault("jump");
          break;
        case BPF_ST:
          if (step.k >= scratch_.size()) return Fault("store");
          scratch_[step.k] = accumulator_;
          break;
        case BPF_LDX:
          if (!LoadIndex(step)) return Fault("index load");
          break;
        case BPF_MISC:
          if (BPF_MISCOP(step.code) == BPF_TAX) {
            index_ = accumulator_;
          } else {
            accumulator_ = index_;
          }
          break;
        default:
          return Fault("instruction");
      }
    }
    return absl::InvalidArgumentError("the program ends without a return");
  }

 private:
  absl::Status Fault(const char* what) const {
    return absl::InvalidArgumentError(
        absl::StrFormat("instruction %d: not a valid %s", position_ - 1, what));
  }

  bool Load(const sock_filter& step) {
    if (BPF_SIZE(step.code) != BPF_W) return false;
    switch (BPF_MODE(step.code)) {
      case BPF_ABS:
        if (step.k % sizeof(std::uint32_t) != 0 || step.k >= sizeof(seccomp_data)) return false;
        accumulator_ = words_[step.k / sizeof(std::uint32_t)];
        return true;
      case BPF_IMM:
        accumulator_ = step.k;
        return true;
      case BPF_MEM:
        if (step.k >= scratch_.size()) return false;
        accumulator_ = scratch_[step.k];
        return true;
      default:
        return false;
    }
  }

  bool LoadIndex(const sock_filter& step) {
    if (BPF_SIZE(step.code) != BPF_W) return false;
    if (BPF_MODE(step.code) == BPF_IMM) {
      index_ = step.k;
      return true;
    }
    if (BPF_MODE(step.code) != BPF_MEM || step.k >= scratch_.size()) return false;
    index_ = scratch_[step.k];
    return true;
  }

  bool Calculate(const sock_filter& step) {
    const std::uint32_t operand = BPF_SRC(step.code) == BPF_X ? index_ : step.k;
    switch (BPF_OP(step.code)) {
      case BPF_AND:
        accumulator_ &= operand;
        return true;
      case BPF_OR:
        accumulator_ |= operand;
        return true;
      case BPF_XOR:
        accumulator_ ^= operand;
        return true;
      case BPF_ADD:
        accumulator_ += operand;
        return true;
      case BPF_SUB:
        accumulator_ -= operand;
        return true;
      case BPF_NEG:
        accumulator_ = 0 - accumulator_;
        return true;
      case BPF_LSH:
        if (operand >= 32) return false;
        accumulator_ <<= operand;
        return true;
      case BPF_RSH:
        if (operand >= 32) return false;
        accumulator_ >>= operand;
        return true;
      default:
        return false;  // libseccomp emits no multiplication or division
    }
  }

  bool Jump(const sock_filter& step) {
    std::size_t distance = step.k;
    if (BPF_OP(step.code) != BPF_JA) {
      const std::optional<bool> holds = Holds(step);
      if (!holds.has_value()) return false;
      distance = *holds ? step.jt : step.jf;
    }
    if (distance >= program_.size() - position_) return false;
    position_ += distance;
    return true;
  }

  std::optional<bool> Holds(const sock_filter& step) const {
    const std::uint32_t operand = BPF_SRC(step.code) == BPF_X ? index_ : step.k;
    switch (BPF_OP(step.code)) {
      case BPF_JEQ:
        return accumulator_ == operand;
      case BPF_JGT:
        return accumulator_ > operand;
      case BPF_JGE:
        return accumulator_ >= operand;
      case BPF_JSET:
        return (accumulator_ & operand) != 0;
      default:
        return std::nullopt;
    }
  }

  BpfProgram program_;
  std::array<std::uint32_t, sizeof(seccomp_data) / sizeof(std::uint32_t)> words_ = {};
  std::array<std::uint32_t, BPF_MEMWORDS> scratch_ = {};
  std::size_t position_ = 0;
  std::uint32_t accumulator_ = 0;
  std::uint32_t index_ = 0;
};

// Kill comes first because its number is negative; this is the kernel's own comparison.
std::int32_t Strictness(std::uint32_t verdict) {
  return static_cast<std::int32_t>(verdict & SECCOMP_RET_ACTION_FULL);
}

}  // namespace

absl::StatusOr<std::uint32_t> RunBpf(BpfProgram program, const seccomp_data& data) {
  return Machine(program, data).Run();
}

std::uint32_t CombineVerdicts(std::span<const std::uint32_t> oldest_first) {
  std::uint32_t result = SECCOMP_RET_ALLOW;
  for (const std::uint32_t verdict : oldest_first) {
    // "<=": the kernel asks the newest first and replaces only by something stricter.
    if (Strictness(verdict) <= Strictness(result)) result = verdict;
  }
  return result;
}

absl::StatusOr<std::uint32_t> RunFilters(std::initializer_list<BpfProgram> oldest_first,
                                         const seccomp_data& data) {
  std::vector<std::uint32_t> verdicts;
  for (const BpfProgram program : oldest_first) {
    const absl::StatusOr<std::uint32_t> verdict = RunBpf(program, data);
    if (!verdict.ok()) return verdict.status();
    verdicts.push_back(*verdict);
  }
  return CombineVerdicts(verdicts);
}

std::string VerdictText(std::uint32_t verdict) {
  switch (verdict & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return "allow";
    case SECCOMP_RET_KILL_PROCESS:
      return "kill";
    case SECCOMP_RET_USER_NOTIF:
      return "notify";
    case SECCOMP_RET_ERRNO: {
      const char* name = ::strerrorname_np(static_cast<int>(verdict & SECCOMP_RET_DATA));
      if (name != nullptr) return absl::StrFormat("errno %s", name);
      break;
    }
    default:
      break;
  }
  return absl::StrFormat("%#x", verdict);
}

seccomp_data CallBy(Abi abi, int nr, const std::vector<std::uint64_t>& arguments) {
  seccomp_data data = {};
  data.nr = abi == Abi::kX32 ? nr | static_cast<int>(kX32Bit) : nr;
  data.arch = abi == Abi::kI386 ? AUDIT_ARCH_I386 : kNativeArchitecture;
  for (std::size_t i = 0; i < arguments.size() && i < std::size(data.args); ++i) {
    data.args[i] = arguments[i];
  }
  return data;
}

seccomp_data NativeCall(int nr, const std::vector<std::uint64_t>& arguments) {
  return CallBy(Abi::kNative, nr, arguments);
}

bool IsForeign(const seccomp_data& call) {
  if (call.arch != kNativeArchitecture) return true;
  // -1 is no number of x32: the kernel has it for a call that a tracer took away.
  return kNativeArchitecture == AUDIT_ARCH_X86_64 && call.nr != -1 &&
         (static_cast<std::uint32_t>(call.nr) & kX32Bit) != 0;
}

}  // namespace warder::sandbox
