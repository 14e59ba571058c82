#include "manifest/schema_reference.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "manifest/schema_path.h"

namespace warder::manifest {
namespace {

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const char* const end = text.data() + i + 3;
    if (i + 2 >= text.size() || std::from_chars(text.data() + i + 1, end, value, 16).ptr != end) {
      return std::nullopt;
    }
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

const Json* Child(const Json& parent, const std::string& token) {
  if (parent.is_object()) {
    const auto found = parent.find(token);
    return found == parent.end() ? nullptr : &*found;
  }
  std::size_t index = 0;
  const char* const end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, index);
  const bool plain =
      read.ec == std::errc() && read.ptr == end && (token.size() == 1 || token.front() != '0');
  return parent.is_array() && plain && index < parent.size() ? &parent[index] : nullptr;
}

const Json* Follow(const Json& root, std::string_view pointer) {
  const Json* place = &root;
  while (place != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    // "~1" first: "~01" is the name "~1", not "/".
    std::string name = absl::StrReplaceAll(std::string(token), {{"~1", "/"}});
    name = absl::StrReplaceAll(name, {{"~0", "~"}});
    place = Child(*place, name);
  }
  return place;
}

}  // namespace

absl::StatusOr<SchemaId> ResolveReference(const Json& root, const LintedSchema& linted,
                                          const std::string& reference) {
  std::string_view fragment = reference;
  if (!linted.root_id.empty() && fragment.starts_with(linted.root_id)) {
    fragment.remove_prefix(linted.root_id.size());
  }
  const std::string shown = ShownName(reference);
  if (!fragment.empty() && fragment.front() != '#') {
    return absl::InvalidArgumentError(absl::StrFormat(
        "`$ref` to `%s` leaves the schema: only references that begin with `#` are followed, "
        "nothing is fetched",
        shown));
  }
  if (!fragment.empty()) fragment.remove_prefix(1);
  const auto decoded = PercentDecoded(fragment);
  if (!decoded) {
    return absl::InvalidArgumentError(
        absl::StrFormat("`$ref` to `%s` holds a `%%` without two hexadecimal digits", shown));
  }
  if (!decoded->empty() && decoded->front() != '/') {
    const auto anchor = linted.anchors.find(*decoded);
    if (anchor != linted.anchors.end()) return anchor->second;
    return absl::InvalidArgumentError(
        absl::StrFormat("`$ref` to `%s` finds no anchor of that name", shown));
  }
  const Json* place = Follow(root, *decoded);
  if (place == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat("`$ref` to `%s` finds nothing", shown));
  }
  const auto id = linted.ids.find(place);
  if (id == linted.ids.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("`$ref` to `%s` finds a value that is not a schema", shown));
  }
  return id->second;
}

}  // namespace warder::manifest
