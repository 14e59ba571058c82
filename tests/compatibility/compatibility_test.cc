// Ordinary programs under a shipped policy: each script of cases/ prints the same inside a cell as
// outside, or fails as it says.
//
// A case is a bash script with "# title:", "# needs:" (programs), "# policy:" (default) and the
// lines that it prints as "#=> LINE"; "#free=> LINE" where it prints something else unconfined.
// "# control: named user" when it only does outside for a user with a name. "# denied:" names the
// system calls that the case is refused on purpose; no other record of a denial may be left.
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/known_probes.h"
#include "tests/support/run_warder.h"

namespace warder {
namespace {

using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;
using ::warder::testing::WarderSetting;

const std::filesystem::path kCases = WARDER_SOURCE_DIR "/tests/compatibility/cases";

struct Case {
  std::string script;
  std::map<std::string, std::string> fields;  // "title", "needs", "policy"
  std::string confined, free;                 // what it prints
};

Case ReadCase(const std::string& name) {
  Case read;
  read.fields["policy"] = "default";
  std::ifstream file(kCases / (name + ".sh"));
  for (std::string line; std::getline(file, line);) {
    read.script += line + "\n";
    for (const auto& [prefix, text] :
         {std::pair{"#=> ", &read.confined}, {"#free=> ", &read.free}}) {
      if (line.rfind(prefix, 0) == 0) *text += line.substr(std::string(prefix).size()) + "\n";
    }
    const std::size_t colon = line.find(": ");
    if (line.rfind("# ", 0) == 0 && colon != std::string::npos) {
      read.fields[line.substr(2, colon - 2)] = line.substr(colon + 2);
    }
  }
  return read;
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Installed(const std::string& program) {
  for (const char* folder : {"/usr/bin/", "/bin/"}) {
    if (access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

class Compatibility : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    case_ = ReadCase(GetParam());
    ASSERT_FALSE(case_.fields["title"].empty());
    ASSERT_FALSE(case_.confined.empty());
    std::istringstream needs(case_.fields["needs"]);
    for (std::string program; needs >> program;) {
      ASSERT_TRUE(Installed(program)) << program << " is missing: run ./dev setup";
    }
    host_.tree().Write("workspace/case.sh", case_.script);
  }
  // A terminal's and a locale's settings would change what programs print.
  WarderSetting Setting() const {
    return {.environment = {{"LC_ALL", "C.UTF-8"}, {"XDG_CACHE_HOME", ""}}};
  }
  // The records of denials are those that the case is about and known probes, no false ones.
  void ExpectDenials(const std::string& outcome_file) {
    std::ifstream file(outcome_file);
    const nlohmann::json outcome = nlohmann::json::parse(file, nullptr, false);
    ASSERT_TRUE(outcome.is_object());
    ASSERT_TRUE(outcome["denials"].is_array()) << "the kernel told nobody of denials";
    EXPECT_EQ(outcome["denials_unlisted"], 0);
    std::istringstream words(case_.fields["denied"]);
    const std::set<std::string> meant{std::istream_iterator<std::string>(words), {}};
    std::set<std::string> seen;
    for (const nlohmann::json& denial : outcome["denials"]) {
      const std::string operation = denial["operation"];
      if (meant.contains(operation)) seen.insert(operation);
      EXPECT_TRUE(meant.contains(operation) || testing::IsKnownProbe(denial)) << denial;
    }
    EXPECT_EQ(seen, meant) << "each call of `# denied:` must be refused and recorded";
  }
  Case case_;
  WarderHost host_;
};

TEST_P(Compatibility, WorksInACell) {
  const std::string outcome = host_.tree().At("outcome.json");
  WarderSetting setting = Setting();
  setting.prefix = {"/bin/sh", "-c", "exec \"$@\" 7>" + outcome, "sh"};
  const WarderRun run =
      host_.Run({"exec", "--json-fd", "7", "-w", host_.Workspace(), "-p", case_.fields["policy"],
                 "--approve", "allow-all", "--", "bash", "case.sh"},
                setting);
  EXPECT_EQ(run.out, case_.confined) << run.err;
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectDenials(outcome);
}

// The control: what the script expects is what the programs do by themselves.
TEST_P(Compatibility, WorksWithoutOne) {
  // A cell names its user; the account that tests run under may have no name.
  if (case_.fields.contains("control") && getpwuid(geteuid()) == nullptr) return;
  WarderSetting setting = Setting();
  setting.prefix = {"/usr/bin/env", "--default-signal", "setsid", "-w", "bash", "case.sh"};
  const WarderRun run = host_.Run({}, setting);
  EXPECT_EQ(run.out, case_.free.empty() ? case_.confined : case_.free) << run.err;
}

INSTANTIATE_TEST_SUITE_P(Cases, Compatibility, ::testing::ValuesIn(CaseNames()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace warder
