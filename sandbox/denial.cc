#include "sandbox/denial.h"

#include <algorithm>
#include <utility>

namespace warder::sandbox {

void AddDenial(Denial denial, DenialReport& report) {
  const auto known = std::find_if(report.denials.begin(), report.denials.end(),
                                  [&](const Denial& other) { return other.SameAs(denial); });
  if (known != report.denials.end()) {
    ++known->count;
    return;
  }
  if (report.denials.size() == kMaxDenials) {
    ++report.unlisted;
    return;
  }
  denial.count = 1;
  report.denials.push_back(std::move(denial));
}

}  // namespace warder::sandbox
