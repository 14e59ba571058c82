// StepList: a ChildPlan under construction, and the owner of every byte and descriptor that its
// steps name.
#ifndef WARDER_SANDBOX_STEP_LIST_H_
#define WARDER_SANDBOX_STEP_LIST_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "sandbox/child_main.h"
#include "sandbox/unique_fd.h"

namespace warder::sandbox {

// Descriptor numbers that the launcher reserves, so that a child can keep exactly these and close
// the rest.
inline constexpr int kReportFd = 60;  // child to launcher: ChildReport
inline constexpr int kGoFd = 61;      // launcher to child: one byte means "go on"
inline constexpr int kExecFd = 62;    // the program
// The lowest number that is free when a tool has its streams and nothing else: the kernel gives it
// to the filter's listener, close-on-exec.
inline constexpr int kListenerFd = 3;

// Every list begins with the death signal and with closing what no step names. Were a child to keep
// the launcher's ends of pipes and sockets, the death of the launcher would not be an end of file
// for anyone.
class StepList {
 public:
  StepList() {
    Add(StepKind::kDeathSignal);
    Add(StepKind::kCloseUnused);
  }

  // Appends a step; `what` is named in the message when it fails.
  Step& Add(StepKind kind, std::string what = "") {
    steps_.push_back(Step{.kind = kind});
    what_.push_back(std::move(what));
    return steps_.back();
  }
  const char* Keep(std::string text) { return text_.emplace_back(std::move(text)).c_str(); }
  int Keep(UniqueFd fd) { return fds_.emplace_back(std::move(fd)).get(); }
  // Keeps a copy of a plain value for the child to read.
  template <typename T>
  const T* KeepValue(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return reinterpret_cast<const T*>(KeepAligned(bytes));
  }

  // Valid while the list lives and is not added to.
  ChildPlan Plan() const {
    return ChildPlan{.steps = steps_.data(), .count = steps_.size(), .report_fd = kReportFd};
  }
  const std::vector<Step>& steps() const { return steps_; }
  const std::string& what(std::size_t index) const { return what_[index]; }

 private:
  const char* KeepAligned(const std::string& bytes) {
    auto& block = blocks_.emplace_back(std::make_unique<std::max_align_t[]>(
        (bytes.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)));
    std::memcpy(block.get(), bytes.data(), bytes.size());
    return reinterpret_cast<const char*>(block.get());
  }

  std::vector<Step> steps_;
  std::vector<std::string> what_;
  std::deque<std::string> text_;  // a deque: pointers to elements stay valid
  std::deque<UniqueFd> fds_;
  std::vector<std::unique_ptr<std::max_align_t[]>> blocks_;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_STEP_LIST_H_
