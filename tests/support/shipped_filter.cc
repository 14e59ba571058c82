#include "tests/support/shipped_filter.h"

#include <stdexcept>
#include <utility>

namespace warder::testing {
namespace {

manifest::Config ShippedOnly() {
  manifest::Config config;
  config.config_dir = "/nonexistent/warder";
  config.share_dir = WARDER_SHARE_DIR;
  return config;
}

template <typename T>
T OrThrow(absl::StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

}  // namespace

std::vector<std::string> ShippedPolicies() {
  std::vector<std::string> names = OrThrow(manifest::ListPolicies(ShippedOnly()));
  names.emplace_back("base");
  return names;
}

std::string PolicyTestName(const ::testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  std::erase(name, '-');
  return name;
}

ShippedFilter::ShippedFilter(const std::string& policy)
    : policy_(OrThrow(manifest::LoadPolicy(ShippedOnly(), policy))),
      filter_(OrThrow(sandbox::CompileSyscallFilter(rules()))),
      answers_(rules(), filter_) {}

std::string ShippedFilter::Answer(const seccomp_data& call) const {
  const auto answer = answers_.To(call);
  return answer.ok() ? sandbox::AnswerText(*answer) : answer.status().ToString();
}

}  // namespace warder::testing
