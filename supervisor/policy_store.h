// PolicyStore: the launcher's own copies of the operator's policies.
#ifndef WARDER_SUPERVISOR_POLICY_STORE_H_
#define WARDER_SUPERVISOR_POLICY_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/config.h"
#include "manifest/policy_file.h"
#include "sandbox/syscall_filter.h"

namespace warder::supervisor {

struct CompiledPolicy {
  manifest::NamedPolicy policy;
  sandbox::SyscallFilter filter;
};

class PolicyStore {
 public:
  explicit PolicyStore(manifest::Config config) : config_(std::move(config)) {}

  // Reads every policy now and no file ever after. For a launcher that is about to enter a user
  // namespace: from inside, files of root look like those of nobody, and are not trusted.
  // Errors: those of ListPolicies and LoadPolicy.
  absl::Status LoadAll();

  // How the filters that Get compiles from now on answer a denied call. Before the first Get.
  void AnswerDenials(sandbox::DenialAnswer answer) { answer_ = answer; }

  // Loads and compiles policy `name`, once. Errors: those of LoadPolicy and CompileSyscallFilter;
  // kInvalidArgument for an abstract one.
  absl::StatusOr<std::shared_ptr<const CompiledPolicy>> Get(const std::string& name);

 private:
  absl::StatusOr<manifest::NamedPolicy> Load(const std::string& name);

  manifest::Config config_;
  bool sealed_ = false;
  sandbox::DenialAnswer answer_ = sandbox::DenialAnswer::kNotify;
  std::map<std::string, manifest::NamedPolicy> loaded_;
  std::map<std::string, std::shared_ptr<const CompiledPolicy>> compiled_;
};

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_POLICY_STORE_H_
