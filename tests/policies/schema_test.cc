// policies/policy.schema.json describes the format that manifest/policy_parser.cc reads.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "manifest/input_schema.h"
#include "manifest/json.h"
#include "manifest/policy_fragment.h"

namespace warder::testing {
namespace {

using manifest::InputSchema;
using manifest::Json;

const std::filesystem::path kFolder = std::filesystem::path(WARDER_SOURCE_DIR) / "policies";

std::string Bytes(const std::filesystem::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream.is_open()) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

Json Parsed(const std::string& bytes, const std::string& source) {
  auto json = manifest::ParseStrictJson(bytes, source);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *std::move(json) : Json();
}

const InputSchema& Schema() {
  static const std::shared_ptr<const InputSchema> kSchema = [] {
    auto schema = InputSchema::Compile(Parsed(Bytes(kFolder / "policy.schema.json"), "schema"));
    EXPECT_TRUE(schema.ok()) << schema.status();
    return *std::move(schema);
  }();
  return *kSchema;
}

const manifest::SyscallGroups& Groups() {
  static const manifest::SyscallGroups kGroups =
      *manifest::ParseSyscallGroups(Bytes(kFolder / "syscall_groups.json"), "syscall_groups.json");
  return kGroups;
}

std::vector<std::filesystem::path> PolicyFiles() {
  const std::set<std::string> others = {"bindings", "syscall_groups", "policy.schema"};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".json" || others.contains(entry.path().stem())) continue;
    files.push_back(entry.path());
  }
  return files;
}

TEST(PolicySchema, EveryShippedPolicyIsValid) {
  ASSERT_EQ(PolicyFiles().size(), 8u);
  for (const std::filesystem::path& file : PolicyFiles()) {
    const absl::Status valid = Schema().Check(Parsed(Bytes(file), file.string()));
    EXPECT_TRUE(valid.ok()) << file << ": " << valid;
  }
}

TEST(PolicySchema, EverythingInItIsEnforced) { EXPECT_TRUE(Schema().Unenforced().empty()); }

// Policies that both the schema and the parser accept, or that both refuse.
struct Sample {
  const char* members;
  bool valid;
};

TEST(PolicySchema, SchemaAndParserAgree) {
  const std::vector<Sample> samples = {
      {R"("abstract": true)", true},
      {R"("abstract": 1)", false},
      {R"("extends": "base")", true},
      {R"("filesystem": {})", true},
      {R"("filesystem": {"read": [{"paths": ["/a/..b/.c/...", "/x"], "optional": true, "reason": "r"}]})",
       true},
      {R"("filesystem": {"read": [{"paths": ["/"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a/"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a/../b"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a/./b"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a//b"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["a"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a\nb"], "reason": "r"}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a"], "reason": " "}]})", false},
      {R"("filesystem": {"read": [{"paths": ["/a"]}]})", false},
      {R"("filesystem": {"read": [{"paths": [], "reason": "r"}]})", false},
      {R"("filesystem": {"protect": [{"paths": [".git/hooks"], "reason": "r"}]})", true},
      {R"("filesystem": {"protect": [{"paths": ["/a"], "reason": "r"}]})", false},
      {R"("filesystem": {"protect": [{"paths": [".."], "reason": "r"}]})", false},
      {R"("filesystem": {"workspace": {"mode": "overlay", "reason": "r"}})", true},
      {R"("filesystem": {"workspace": {"mode": "none", "reason": "r"}})", false},
      {R"("network": {"mode": "host", "reason": "r"})", true},
      {R"("network": {"reason": "r"})", false},
      {R"("syscalls": {"groups": [{"effect": "deny", "groups": ["mount"], "error": "EPERM", "reason": "r"}]})",
       true},
      {R"("syscalls": {"groups": [{"effect": "ask", "groups": ["mount"], "reason": "r"}]})", false},
      {R"("syscalls": {"allow": [{"calls": ["read"], "when": [{"arg": 0, "any_bit": "0x1F"}], "reason": "r"}]})",
       true},
      {R"("syscalls": {"allow": [{"calls": ["read"], "when": [{"arg": 0, "mask": 3, "values": [1]}], "reason": "r"}]})",
       true},
      {R"("syscalls": {"allow": [{"calls": ["read"], "when": [{"arg": 6, "any_bit": 1}], "reason": "r"}]})",
       false},
      {R"("syscalls": {"allow": [{"calls": ["read"], "when": [{"arg": 0, "values": [1]}], "reason": "r"}]})",
       false},
      {R"("syscalls": {"allow": [{"calls": ["read"], "when": [], "reason": "r"}]})", false},
      {R"("syscalls": {"allow": [{"calls": ["read"], "when": [{"arg": 0, "any_bit": "31"}], "reason": "r"}]})",
       false},
      {R"("syscalls": {"allow": [{"calls": ["read"], "error": "EPERM", "reason": "r"}]})", false},
      {R"("syscalls": {"deny": [{"calls": ["acct"], "action": "kill", "reason": "r"}]})", true},
      {R"("syscalls": {"deny": [{"calls": ["acct"], "action": "errno", "error": "EPERM", "reason": "r"}]})",
       true},
      {R"("syscalls": {"deny": [{"calls": ["acct"], "action": "kill", "error": "EPERM", "reason": "r"}]})",
       false},
      {R"("syscalls": {"deny": [{"calls": [], "reason": "r"}]})", false},
      {R"("capabilities": [{"capability": "CAP_CHOWN", "reason": "r"}])", true},
      {R"("capabilities": [{"capability": "chown", "reason": "r"}])", false},
      {R"("environment": {"baseline": [{"names": ["LC_*"], "reason": "r"}]})", true},
      {R"("environment": {"baseline": [{"names": ["A=B"], "reason": "r"}]})", false},
      {R"("environment": {"baseline": [{"names": [], "reason": "r"}]})", false},
      {R"("environment": {"readable": {"names": [], "reason": "r"}})", true},
      {R"("environment": {"fixed": [{"name": "A", "value": "", "reason": "r"}]})", true},
      {R"("environment": {"fixed": [{"name": "A*", "value": "", "reason": "r"}]})", false},
      {R"("environment": {"trusted_path_only": {"value": "yes", "reason": "r"}})", false},
      {R"("minimum_tier": {"tier": "root", "reason": "r"})", true},
      {R"("minimum_tier": {"tier": "vm", "reason": "r"})", false},
      {R"("on_missing_cgroup": {"action": "refuse", "reason": "r"})", true},
      {R"("on_missing_landlock": {"action": "degrade", "reason": "r"})", true},
      {R"("on_missing_landlock": {"action": "ignore", "reason": "r"})", false},
      {R"("approval": {"approver": "program", "program": ["/a"], "reason": "r"})", true},
      {R"("approval": {"approver": "program", "reason": "r"})", false},
      {R"("approval": {"approver": "ask", "program": ["/a"], "reason": "r"})", false},
      {R"("approval": {"approver": "ask", "ask_timeout_ms": 999, "reason": "r"})", false},
      {R"("approval": {"approver": "ask", "use_by_ms": 3600000, "reason": "r"})", true},
      {R"("approval": {"approver": "ask", "use_by_ms": 3600001, "reason": "r"})", false},
      {R"("tools": {})", false},
  };
  for (const Sample& sample : samples) {
    const std::string text =
        std::string(R"({"schema": 1, "description": "d", )") + sample.members + "}";
    EXPECT_EQ(manifest::ParsePolicy(text, "p.json", Groups()).ok(), sample.valid) << text;
    EXPECT_EQ(Schema().Check(Parsed(text, "p.json")).ok(), sample.valid) << text;
  }
}

TEST(PolicySchema, SchemaAndParserHaveTheSameLimits) {
  for (const manifest::LimitField& field : manifest::LimitFields()) {
    for (const std::int64_t value : {field.least - 1, field.least, field.most, field.most + 1}) {
      const std::string text = std::string(R"({"schema": 1, "description": "d", "limits": {")") +
                               field.key + R"(": {"reason": "r", "max": )" + std::to_string(value) +
                               "}}}";
      const bool valid = value >= field.least && value <= field.most;
      EXPECT_EQ(manifest::ParsePolicy(text, "p.json", Groups()).ok(), valid) << text;
      EXPECT_EQ(Schema().Check(Parsed(text, "p.json")).ok(), valid) << text;
    }
  }
}

}  // namespace
}  // namespace warder::testing
