// FilterAnswers: what the filter of a cell answers to a system call, from its bytes, and the rule
// that makes it answer so.
#ifndef WARDER_SANDBOX_FILTER_ANSWER_H_
#define WARDER_SANDBOX_FILTER_ANSWER_H_

#include <linux/seccomp.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/policy.h"
#include "sandbox/syscall_filter.h"

namespace warder::sandbox {

enum class Verdict : std::uint8_t {
  kAllow,
  kErrno,   // refused at once, without a record
  kNotify,  // refused by the listener, with a record
  kKill,
};

enum class Cause : std::uint8_t { kAllowRule, kDenyRule, kNoRule, kForeignAbi };

struct FilterAnswer {
  Verdict verdict = Verdict::kKill;
  int error = 0;  // what the caller gets with kErrno and kNotify
  Cause cause = Cause::kNoRule;
  const SyscallRule* rule = nullptr;  // with kAllowRule and kDenyRule: the policy's
};

// "allow", "kill", "errno", "notify".
const char* VerdictName(Verdict verdict);
// The same with the errno's name: "notify EPERM".
std::string AnswerText(const FilterAnswer& answer);

class FilterAnswers {
 public:
  // `filter` is what CompileSyscallFilter made of `policy`. Both must outlive this.
  FilterAnswers(const SyscallPolicy& policy, const SyscallFilter& filter);

  // Runs both programs on `call`; the rules only explain the verdict.
  // Errors: kInvalidArgument (a program is none), kInternal (the programs do not do what the rules
  //   say; text has both).
  absl::StatusOr<FilterAnswer> To(const seccomp_data& call) const;

  // Indices of the arguments that rules on native call `number` look at, ascending.
  std::vector<unsigned> DecidingArguments(int number) const;

 private:
  using Rules = std::map<int, std::vector<const SyscallRule*>>;
  static Rules ByNumber(const std::vector<SyscallRule>& rules);
  static const SyscallRule* FirstMatch(const Rules& rules, const seccomp_data& call);
  FilterAnswer FromRules(const seccomp_data& call) const;

  const SyscallFilter& filter_;
  Rules allow_, deny_;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_FILTER_ANSWER_H_
