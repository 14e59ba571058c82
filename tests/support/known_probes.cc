#include "tests/support/known_probes.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

namespace warder::testing {

bool IsKnownProbe(const nlohmann::json& denial) {
  std::ifstream file(WARDER_SOURCE_DIR "/tests/end_to_end/known_probes.txt");
  if (!file) throw std::runtime_error("known_probes.txt cannot be read");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string operation, object;  // and how the object begins
    if (!(words >> operation)) continue;
    words >> object;
    if (denial["operation"] == operation &&
        denial["object"].get<std::string>().starts_with(object)) {
      return true;
    }
  }
  return false;
}

}  // namespace warder::testing
