#include <algorithm>
#include <charconv>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "manifest/json.h"
#include "manifest/json_scan.h"

namespace warder::manifest {
namespace {

constexpr std::size_t kShownKeyBytes = 64;  // as long as the longest tool name

}  // namespace

std::string QuoteKey(std::string_view key) {
  const bool cut = key.size() > kShownKeyBytes;
  key = key.substr(0, kShownKeyBytes);
  // Control bytes would reach a terminal, other scripts can be made to look like a known key.
  return absl::StrFormat("`%s%s`", absl::CHexEscape({key.data(), key.size()}), cut ? "..." : "");
}

const JsonPositions::Node* JsonPositions::Find(std::string_view pointer, bool nearest) const {
  if (nodes_.empty()) return nullptr;
  std::size_t at = 0;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // '/'
    const std::string_view segment = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(segment.size());
    const std::string key =
        absl::StrReplaceAll({segment.data(), segment.size()}, {{"~1", "/"}, {"~0", "~"}});
    std::size_t index = 0;
    if (nodes_[at].array) std::from_chars(key.data(), key.data() + key.size(), index);
    std::size_t child = at + 1;
    while (child < nodes_[at].next &&
           (nodes_[at].array ? index-- != 0 : nodes_[child].key != key)) {
      child = nodes_[child].next;
    }
    if (child >= nodes_[at].next) return nearest ? &nodes_[at] : nullptr;
    at = child;
  }
  return &nodes_[at];
}

std::string JsonPositions::At(std::string_view pointer) const {
  const Node* node = Find(pointer, /*nearest=*/true);
  return LineColumn(document_, node == nullptr ? 0 : node->begin);
}

std::string JsonPositions::KeyAt(std::string_view pointer) const {
  const Node* node = Find(pointer, /*nearest=*/true);
  return LineColumn(document_, node == nullptr ? 0 : node->key_begin);
}

std::string_view JsonPositions::Written(std::string_view pointer) const {
  const Node* node = Find(pointer, /*nearest=*/false);
  if (node == nullptr) return {};
  return std::string_view(document_).substr(node->begin, node->end - node->begin);
}

}  // namespace warder::manifest
