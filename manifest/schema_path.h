// PathStep: the way from a JSON document's root to the value at hand, kept on the stack while a
// schema or an input is walked, and written out only for a message.
#ifndef WARDER_MANIFEST_SCHEMA_PATH_H_
#define WARDER_MANIFEST_SCHEMA_PATH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace warder::manifest {

// One step: into the member `key` of an object, or into the item `index` of an array when `key` has
// no data. Borrows `parent` and `key`. The root is a null pointer.
struct PathStep {
  const PathStep* parent = nullptr;
  std::string_view key;
  std::size_t index = 0;
};

// JSON pointer (RFC 6901) of `last`; "" for the root. Its names are shown as ShownName shows them.
std::string PointerText(const PathStep* last);

// `name` in one line of printable ASCII: other characters as \uXXXX, cut after 64 characters. A
// stranger chose it, and a terminal may show it.
std::string ShownName(std::string_view name);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_PATH_H_
