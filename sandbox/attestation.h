// Attestation: for each layer of a cell, what was required and what was really enforced.
#ifndef WARDER_SANDBOX_ATTESTATION_H_
#define WARDER_SANDBOX_ATTESTATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace warder::sandbox {

enum class LayerState : std::uint8_t {
  kEnforced,     // proven from outside the cell before the program was started
  kDegraded,     // weaker than asked, and the policy accepts that
  kAbsent,       // required, not there: the call is refused
  kNotRequired,  // the policy does not ask for it
};
const char* LayerStateName(LayerState state);

struct Layer {
  std::string name;  // "user namespace", "seccomp", "landlock", ...: stable, documented in README
  bool required = true;
  LayerState state = LayerState::kAbsent;
  std::string proof;  // what was read, e.g. "Seccomp: 2, 2 filters"
};

struct Attestation {
  Tier tier = Tier::kUserns;
  std::string policy;  // name
  std::vector<Layer> layers;
};

// The first layer that is required and neither enforced nor accepted as degraded; nullptr when
// there is none.
const Layer* FirstUnprovenLayer(const Attestation& attestation);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_ATTESTATION_H_
