#include "sandbox/policy.h"

namespace warder::sandbox {

const char* TierName(Tier tier) {
  switch (tier) {
    case Tier::kLandlock:
      return "landlock";
    case Tier::kUserns:
      return "userns";
    case Tier::kRoot:
      return "root";
  }
  return "invalid";
}

const char* WorkspaceModeName(WorkspaceMode mode) {
  switch (mode) {
    case WorkspaceMode::kReadOnly:
      return "read-only";
    case WorkspaceMode::kReadWrite:
      return "read-write";
    case WorkspaceMode::kOverlay:
      return "overlay";
  }
  return "invalid";
}

const char* NetworkModeName(NetworkMode mode) {
  switch (mode) {
    case NetworkMode::kNone:
      return "none";
    case NetworkMode::kHost:
      return "host";
  }
  return "invalid";
}

}  // namespace warder::sandbox
