// ToolSpec: one entry of a manifest, as values.
#ifndef WARDER_MANIFEST_TOOL_SPEC_H_
#define WARDER_MANIFEST_TOOL_SPEC_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warder::manifest {

class InputSchema;

// What a tool claims to touch. There is deliberately no way to say "read-only".
enum class SideEffect : std::uint8_t { kProcess, kExternal };
const char* SideEffectName(SideEffect effect);

inline constexpr std::int64_t kDefaultTimeoutMs = 120'000;

using Sha256 = std::array<std::uint8_t, 32>;

// Immutable once parsed. Text fields are as written: nothing is expanded here, so a secret is never
// in a ToolSpec unless someone committed it.
struct ToolSpec {
  std::string name;
  std::string description;
  std::string input_schema_text;                         // compact; members and values as written
  std::shared_ptr<const InputSchema> input_schema;       // compiled when the manifest was loaded
  std::vector<std::string> command;                      // argv, unexpanded
  std::optional<std::string> cwd;                        // unexpanded
  std::vector<std::pair<std::string, std::string>> env;  // in written order, unexpanded
  std::int64_t timeout_ms = kDefaultTimeoutMs;
  SideEffect side_effect = SideEffect::kProcess;
  std::string source;     // the manifest's path
  Sha256 entry_digest{};  // over name and entry, as written
};

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_TOOL_SPEC_H_
