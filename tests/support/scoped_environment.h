// ScopedEnvironment: one environment variable set, or unset, for the time of a test.
#ifndef WARDER_TESTS_SUPPORT_SCOPED_ENVIRONMENT_H_
#define WARDER_TESTS_SUPPORT_SCOPED_ENVIRONMENT_H_

#include <cstdlib>
#include <optional>
#include <string>

namespace warder::testing {

class ScopedEnvironment {
 public:
  // A null `value` unsets.
  ScopedEnvironment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    Put(value);
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment() { Put(before_ ? before_->c_str() : nullptr); }

 private:
  void Put(const char* value) {
    if (value == nullptr) {
      unsetenv(name_.c_str());
    } else {
      setenv(name_.c_str(), value, 1);
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_SCOPED_ENVIRONMENT_H_
