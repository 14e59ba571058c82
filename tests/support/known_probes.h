// KnownProbes: what ordinary programs try although they can do without; see
// tests/end_to_end/known_probes.txt.
#ifndef WARDER_TESTS_SUPPORT_KNOWN_PROBES_H_
#define WARDER_TESTS_SUPPORT_KNOWN_PROBES_H_

#include <nlohmann/json_fwd.hpp>

namespace warder::testing {

// Whether `denial`, one record of an outcome, is in the list.
bool IsKnownProbe(const nlohmann::json& denial);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_KNOWN_PROBES_H_
