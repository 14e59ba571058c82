#include "approval/input_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "manifest/json.h"

namespace warder::approval {
namespace {

using manifest::Json;

// Deeper values are not indented further, so that they fit a terminal of 20 columns; they tell
// their depth instead.
constexpr std::size_t kMaxIndent = 5;

class Tree {
 public:
  Tree(Charset charset, const TreeLine& line) : charset_(charset), line_(line) {}

  void Value(const std::string& label, const Json& value, std::size_t depth) const {
    const std::string prefix = Prefix(depth);
    if (value.is_object()) {
      line_(prefix,
            absl::StrCat(label, "{", value.size(), value.size() == 1 ? " member}" : " members}"));
      for (const auto& [key, member] : value.items()) {
        Value(Quoted(key, charset_) + ": ", member, depth + 1);
      }
    } else if (value.is_array()) {
      line_(prefix,
            absl::StrCat(label, "[", value.size(), value.size() == 1 ? " value]" : " values]"));
      std::size_t index = 0;
      for (const Json& element : value) Value(absl::StrCat("#", index++, ": "), element, depth + 1);
    } else if (value.is_string()) {
      line_(prefix, label + Quoted(value.get_ref<const std::string&>(), charset_));
    } else {
      line_(prefix, label + value.dump());
    }
  }

 private:
  static std::string Prefix(std::size_t depth) {
    const std::string indent(2 + 2 * std::min(depth, kMaxIndent), ' ');
    return depth <= kMaxIndent ? indent : absl::StrCat("  (depth ", depth, ") ");
  }

  Charset charset_;
  const TreeLine& line_;
};

// `json` without the white space between its tokens.
std::string Compact(std::string_view json) {
  std::string compact;
  compact.reserve(json.size());
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      compact += c;
      compact += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (in_string || !blank) compact += c;
  }
  return compact;
}

}  // namespace

void DescribeInput(std::string_view input, Charset charset, const TreeLine& line) {
  if (input.empty()) return;
  const absl::StatusOr<Json> json = manifest::ParseStrictJson(input, "input");
  if (!json.ok()) {
    line("  ", "not one JSON document; the exact bytes are:");
    line("  ", Quoted(input, charset));
    return;
  }
  Tree(charset, line).Value("", *json, 0);
  const std::string canonical = manifest::WriteJson(*json);
  if (canonical == input) return;
  const std::string compact = Compact(input);
  if (compact == canonical) {
    line("  ", absl::StrCat("and ", input.size() - compact.size(),
                            " bytes of white space between the values"));
    return;
  }
  line("  ", "numbers or strings are spelled otherwise; the exact bytes are:");
  line("  ", Quoted(input, charset));
}

}  // namespace warder::approval
