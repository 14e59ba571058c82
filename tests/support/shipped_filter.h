// ShippedFilter: a shipped policy and its filter, compiled as a cell would have it.
#ifndef WARDER_TESTS_SUPPORT_SHIPPED_FILTER_H_
#define WARDER_TESTS_SUPPORT_SHIPPED_FILTER_H_

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <string>
#include <vector>

#include "manifest/policy_file.h"
#include "sandbox/filter_answer.h"
#include "sandbox/syscall_filter.h"

namespace warder::testing {

// The names of every shipped policy, the abstract one too.
std::vector<std::string> ShippedPolicies();
// The name of a test that has a policy's name as its parameter.
std::string PolicyTestName(const ::testing::TestParamInfo<std::string>& parameter);

class ShippedFilter {
 public:
  // Throws std::runtime_error when `policy` cannot be loaded or compiled.
  explicit ShippedFilter(const std::string& policy);
  ShippedFilter(const ShippedFilter&) = delete;
  ShippedFilter& operator=(const ShippedFilter&) = delete;

  const sandbox::SyscallPolicy& rules() const { return policy_.confinement.syscalls; }
  // What the programs answer, if the policy's rules agree; otherwise the fault.
  // "allow", "notify EPERM", "errno ENOSYS", "kill".
  std::string Answer(const seccomp_data& call) const;

 private:
  manifest::NamedPolicy policy_;
  sandbox::SyscallFilter filter_;
  sandbox::FilterAnswers answers_;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_SHIPPED_FILTER_H_
