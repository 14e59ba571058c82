#include "sandbox/attestation.h"

namespace warder::sandbox {

const char* LayerStateName(LayerState state) {
  switch (state) {
    case LayerState::kEnforced:
      return "enforced";
    case LayerState::kDegraded:
      return "degraded";
    case LayerState::kAbsent:
      return "absent";
    case LayerState::kNotRequired:
      return "not required";
  }
  return "invalid";
}

const Layer* FirstUnprovenLayer(const Attestation& attestation) {
  for (const Layer& layer : attestation.layers) {
    if (layer.required && layer.state == LayerState::kAbsent) return &layer;
  }
  return nullptr;
}

}  // namespace warder::sandbox
