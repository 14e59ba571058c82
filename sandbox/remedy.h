// Remedy: which layer of a cell a step serves, and what mends a host that has no such layer.
#ifndef WARDER_SANDBOX_REMEDY_H_
#define WARDER_SANDBOX_REMEDY_H_

#include <string>
#include <string_view>

#include "sandbox/child_main.h"

namespace warder::sandbox {

// What the operator does about a layer (its name in the attestation) that the host refuses.
std::string LayerRemedy(std::string_view layer);

// "; layer `landlock`: REMEDY" for a step (StepName, or another step of a SetupFailure) that ended
// with `error`, when the error says that the host does not let us; "" otherwise: what is short or
// broken (ENOMEM, EIO) is no question of layers.
std::string StepRemedy(std::string_view step, int error);
// The same, in the words that this very step allows.
std::string StepRemedy(const Step& step, int error);

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_REMEDY_H_
