#include "supervisor/launcher_settings.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "manifest/json_reader.h"
#include "manifest/policy_fragment.h"

namespace warder::supervisor {
namespace {

// Ids below are the system's and people's; those above end before the overflow ids of 32 bits.
constexpr std::int64_t kFirstUid = 65'536;
constexpr std::int64_t kLastUid = 4'294'900'000;
constexpr std::int64_t kMaxUids = 1 << 20;

}  // namespace

absl::StatusOr<LauncherSettings> ReadLauncherSettings(const manifest::Config& config) {
  LauncherSettings settings;
  const auto file = manifest::ReadTrustedFile(config, config.config_dir + "/config.json");
  if (absl::IsNotFound(file.status())) return settings;
  if (!file.ok()) return file.status();
  manifest::JsonPositions positions;
  const auto json = manifest::ParseStrictJson(file->bytes, file->path, {}, &positions);
  if (!json.ok()) return json.status();
  manifest::JsonObjectReader reader(*json, positions, file->path);
  reader.Integer("schema", 1, 1);
  reader.Object("uid_range", [&](manifest::JsonObjectReader& range) {
    settings.uids.first = static_cast<std::uint32_t>(range.Integer("first", kFirstUid, kLastUid));
    settings.uids.count = static_cast<std::uint32_t>(range.Integer("count", 1, kMaxUids));
    if (settings.uids.first + std::int64_t{settings.uids.count} > kLastUid) {
      range.Fail("count", "the range ends above the last id");
    }
  });
  settings.cgroup_parent = reader.OptionalString("cgroup_parent");
  if (settings.cgroup_parent.has_value()) {
    const std::string fault = manifest::PathFault(*settings.cgroup_parent, /*absolute=*/true);
    if (!fault.empty()) reader.Fail("cgroup_parent", fault);
  }
  if (absl::Status read = reader.Finish(); !read.ok()) return read;
  return settings;
}

}  // namespace warder::supervisor
