// JsonObjectReader: reads the members of one JSON object into values, strictly, and tells the first
// fault with its place.
//
// Manifest, policy files, bindings and rules are all read with it, so that all of them refuse
// unknown keys in the same words.
#ifndef WARDER_MANIFEST_JSON_READER_H_
#define WARDER_MANIFEST_JSON_READER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "manifest/json.h"

namespace warder::manifest {

// Every read names a member and thereby makes it a known key; Finish() refuses the others. The
// first fault is kept and later reads return empty values, so a caller reads everything and asks
// Finish() once, at the end.
//
//   JsonObjectReader reader(json, positions, "policy.json");
//   policy.name = reader.String("name");
//   reader.Object("limits", [&](JsonObjectReader& limits) {
//     policy.wall_ms = limits.Integer("wall_ms", 1, kMaxWallMs);
//   });
//   if (absl::Status read = reader.Finish(); !read.ok()) return read;
//
// Borrows `value`, `positions` and whatever the callbacks hold; they must outlive it.
// Messages: "SOURCE:LINE:COLUMN: LABEL: PATH: what". Keys are named, values never.
class JsonObjectReader {
 public:
  using Body = std::function<void(JsonObjectReader&)>;

  // `pointer` is where `value` stands in the document; `label` and `path` go in front of names in
  // messages ("tool `fetch`", "limits"). A `value` that is not an object is a fault.
  JsonObjectReader(const Json& value, const JsonPositions& positions, std::string source,
                   std::string pointer = "", std::string label = "", std::string path = "");

  // A fault when the member is not there. Before Value(), Object(), EachObject() and EachNamed().
  void Require(std::string_view name);

  // True when the member is there. Makes the key known.
  bool Has(std::string_view name);

  // A member without "Optional" is required. The others are nullopt when absent; a null is not
  // absent.
  std::string String(std::string_view name);
  std::optional<std::string> OptionalString(std::string_view name);
  // Whole numbers, bounds included. 3.0 is not a whole number.
  std::int64_t Integer(std::string_view name, std::int64_t min, std::int64_t max);
  std::optional<std::int64_t> OptionalInteger(std::string_view name, std::int64_t min,
                                              std::int64_t max);
  std::optional<bool> OptionalBool(std::string_view name);
  // Arrays of strings; may be empty.
  std::vector<std::string> Strings(std::string_view name);
  std::optional<std::vector<std::string>> OptionalStrings(std::string_view name);
  // Object of strings, in written order; empty when absent.
  std::vector<std::pair<std::string, std::string>> OptionalStringMap(std::string_view name);
  // Index in `choices` of the string, a fault that lists them when it is none; nullopt when absent.
  std::optional<std::size_t> OptionalChoice(std::string_view name,
                                            const std::vector<std::string>& choices);

  // The value as it is, nullptr when absent.
  const Json* Value(std::string_view name);

  // Reads an optional nested object: calls `body` when it is there, then finishes its reader.
  void Object(std::string_view name, const Body& body);
  // Reads an optional array of objects: `body` for each element.
  void EachObject(std::string_view name, const Body& body);
  // Reads an optional object whose keys are names and whose values are objects: `body` for each, in
  // written order. `what` makes the label of each: "tool" gives "tool `NAME`".
  void EachNamed(std::string_view name, std::string_view what,
                 const std::function<void(const std::string& key, JsonObjectReader&)>& body);

  // Records a fault of member `name` ("" is this object itself), unless there is one already.
  void Fail(std::string_view name, std::string_view what);
  // The same for one element of an array or one member of an object.
  void FailElement(std::string_view name, std::size_t index, std::string_view what);
  void FailMember(std::string_view name, std::string_view key, std::string_view what);
  // The same with the code and the text of `fault`. A text that starts with "at POINTER: " (as of
  // InputSchema::Compile) gets the line and column of that place within the member.
  void Fail(std::string_view name, const absl::Status& fault);
  // Records a fault that has its place in its text already, unless there is one already.
  void Fail(absl::Status fault);
  bool ok() const { return fault_.ok(); }

  // Where member `name` ("" is this object itself) stands: JSON pointer.
  std::string Pointer(std::string_view name) const;
  const JsonPositions& positions() const { return positions_; }
  // "SOURCE:LINE" of this object.
  std::string Line() const;

  // An unknown key (with the known ones and the nearest of them), else the first fault, else OK.
  absl::Status Finish();

 private:
  const Json* Find(std::string_view name);
  const Json* Required(std::string_view name);
  std::optional<std::string> AsString(const Json* value, std::string_view name);
  std::optional<std::vector<std::string>> AsStrings(const Json* value, std::string_view name);
  std::optional<std::int64_t> AsInteger(const Json* value, std::string_view name, std::int64_t min,
                                        std::int64_t max);
  void Nested(const Json& value, std::string pointer, std::string label, std::string path,
              const Body& body);
  std::string Path(std::string_view name) const;
  absl::Status Message(const std::string& place, const std::string& path,
                       std::string_view what) const;
  absl::Status UnknownKey() const;

  const Json& value_;
  const JsonPositions& positions_;
  std::string source_;
  std::string pointer_;
  std::string label_;
  std::string path_;  // of this object below the label: "filesystem.read[2]"
  std::vector<std::string> known_;
  absl::Status fault_;
};

// The entry of `known` that is at most two edits (insert, delete, replace, swap) away from `word`,
// or "".
std::string NearestWord(std::string_view word, const std::vector<std::string>& known);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_JSON_READER_H_
