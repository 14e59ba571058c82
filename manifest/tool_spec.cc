#include "manifest/tool_spec.h"

#include <cstdlib>

namespace warder::manifest {

const char* SideEffectName(SideEffect effect) {
  switch (effect) {
    case SideEffect::kProcess:
      return "process";
    case SideEffect::kExternal:
      return "external";
  }
  std::abort();
}

}  // namespace warder::manifest
