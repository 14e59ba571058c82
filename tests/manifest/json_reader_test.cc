#include "manifest/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warder::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// Parses `text`, lets `body` read its root, returns what Finish() says.
std::string Read(std::string_view text, const JsonObjectReader::Body& body) {
  JsonPositions positions;
  const absl::StatusOr<Json> json = ParseStrictJson(text, "f.json", {}, &positions);
  EXPECT_TRUE(json.ok()) << json.status();
  if (!json.ok()) return "";
  JsonObjectReader reader(*json, positions, "f.json");
  body(reader);
  const absl::Status finished = reader.Finish();
  return finished.ok() ? "ok" : std::string(finished.message());
}

TEST(JsonObjectReader, MembersAreReadIntoValues) {
  const std::string text =
      R"({"s":"x","i":-5,"b":true,"l":["a","b"],"m":{"k":"v"},"c":"two","raw":[1]})";
  EXPECT_EQ(Read(text,
                 [](JsonObjectReader& reader) {
                   EXPECT_EQ(reader.String("s"), "x");
                   EXPECT_EQ(reader.Integer("i", -5, 5), -5);
                   EXPECT_EQ(reader.OptionalBool("b"), true);
                   EXPECT_THAT(reader.Strings("l"), ElementsAre("a", "b"));
                   EXPECT_THAT(reader.OptionalStringMap("m"), ElementsAre(Pair("k", "v")));
                   EXPECT_EQ(reader.OptionalChoice("c", {"one", "two"}), 1u);
                   EXPECT_EQ(*reader.Value("raw"), Json({1}));
                   EXPECT_TRUE(reader.Has("s"));
                 }),
            "ok");
}

TEST(JsonObjectReader, AbsentOptionalMembersAreEmpty) {
  EXPECT_EQ(Read("{}",
                 [](JsonObjectReader& reader) {
                   EXPECT_EQ(reader.OptionalString("s"), std::nullopt);
                   EXPECT_EQ(reader.OptionalInteger("i", 0, 9), std::nullopt);
                   EXPECT_EQ(reader.OptionalBool("b"), std::nullopt);
                   EXPECT_EQ(reader.OptionalStrings("l"), std::nullopt);
                   EXPECT_TRUE(reader.OptionalStringMap("m").empty());
                   EXPECT_EQ(reader.OptionalChoice("c", {"one"}), std::nullopt);
                   EXPECT_EQ(reader.Value("raw"), nullptr);
                   EXPECT_FALSE(reader.Has("s"));
                   reader.Object("o", [](JsonObjectReader&) { ADD_FAILURE(); });
                   reader.EachObject("a", [](JsonObjectReader&) { ADD_FAILURE(); });
                   reader.EachNamed("n", "thing",
                                    [](const std::string&, JsonObjectReader&) { ADD_FAILURE(); });
                 }),
            "ok");
}

TEST(JsonObjectReader, AbsentRequiredMemberIsAFault) {
  EXPECT_EQ(Read("{}", [](JsonObjectReader& reader) { reader.String("s"); }),
            "f.json:1:1: s: is missing, and required");
  EXPECT_EQ(Read("{}", [](JsonObjectReader& reader) { reader.Integer("i", 0, 9); }),
            "f.json:1:1: i: is missing, and required");
  EXPECT_EQ(Read("{}", [](JsonObjectReader& reader) { reader.Strings("l"); }),
            "f.json:1:1: l: is missing, and required");
  EXPECT_EQ(Read("{}", [](JsonObjectReader& reader) { reader.Require("o"); }),
            "f.json:1:1: o: is missing, and required");
}

TEST(JsonObjectReader, WrongTypeIsAFaultAndNullIsNotAbsent) {
  const auto fault = [](const char* value, const JsonObjectReader::Body& body) {
    return Read(std::string("{\"k\": ") + value + "}", body);
  };
  for (const char* value : {"null", "7", "[]", "{}"}) {
    EXPECT_EQ(fault(value, [](JsonObjectReader& reader) { reader.OptionalString("k"); }),
              "f.json:1:7: k: must be a string");
    EXPECT_EQ(fault(value, [](JsonObjectReader& reader) { reader.OptionalBool("k"); }),
              "f.json:1:7: k: must be true or false");
    EXPECT_EQ(
        fault(value, [](JsonObjectReader& reader) { reader.OptionalChoice("k", {"a", "b"}); }),
        "f.json:1:7: k: must be one of \"a\", \"b\"");
  }
  EXPECT_EQ(fault("{}", [](JsonObjectReader& reader) { reader.OptionalStrings("k"); }),
            "f.json:1:7: k: must be an array of strings");
  EXPECT_EQ(fault("[\"a\", 2]", [](JsonObjectReader& reader) { reader.OptionalStrings("k"); }),
            "f.json:1:13: k[1]: must be a string");
  EXPECT_EQ(fault("[]", [](JsonObjectReader& reader) { reader.OptionalStringMap("k"); }),
            "f.json:1:7: k: must be an object of strings");
  EXPECT_EQ(fault("{\"a/b\": 1}", [](JsonObjectReader& reader) { reader.OptionalStringMap("k"); }),
            "f.json:1:8: k: `a/b`: must be a string");
}

TEST(JsonObjectReader, NumbersOutsideTheirBoundsAreFaults) {
  for (const char* value :
       {"0", "10", "18446744073709551615", "9223372036854775808", "1.5", "2.0", "\"3\"", "null"}) {
    EXPECT_EQ(Read(std::string("{\"k\":") + value + "}",
                   [](JsonObjectReader& reader) { reader.OptionalInteger("k", 1, 9); }),
              "f.json:1:6: k: must be a whole number from 1 to 9")
        << value;
  }
}

TEST(JsonObjectReader, NestedObjectsAreReadStrictlyWithTheirPath) {
  const auto body = [](JsonObjectReader& reader) {
    reader.Object("limits", [](JsonObjectReader& limits) {
      limits.EachObject("rules", [](JsonObjectReader& rule) { rule.String("reason"); });
    });
  };
  EXPECT_EQ(Read(R"({"limits":{"rules":[{"reason":"r"}]}})", body), "ok");
  EXPECT_EQ(Read(R"({"limits":{"rules":[{"reason":"r"},{"reason":1}]}})", body),
            "f.json:1:46: limits.rules[1].reason: must be a string");
  EXPECT_EQ(Read(R"({"limits":{"rules":[{"reason":"r","x":1}]}})", body),
            "f.json:1:35: limits.rules[0]: unknown key `x` (known: reason)");
  EXPECT_EQ(Read(R"({"limits":{"rules":[7]}})", body),
            "f.json:1:21: limits.rules[0]: must be an object");
  EXPECT_EQ(Read(R"({"limits":{"rules":{}}})", body),
            "f.json:1:20: limits.rules: must be an array of objects");
  EXPECT_EQ(Read(R"({"limits":[]})", body), "f.json:1:2: limits: must be an object");
}

TEST(JsonObjectReader, NamedObjectsAreLabelled) {
  std::vector<std::string> names;
  const auto body = [&](JsonObjectReader& reader) {
    reader.EachNamed("tools", "tool", [&](const std::string& name, JsonObjectReader& tool) {
      names.push_back(name);
      tool.OptionalString("cwd");
    });
  };
  EXPECT_EQ(Read(R"({"tools":{"b":{},"a":{"cwd":"x"}}})", body), "ok");
  EXPECT_THAT(names, ElementsAre("b", "a"));
  EXPECT_EQ(Read(R"({"tools":{"a/b":{"cwd":1}}})", body),
            "f.json:1:24: tool `a/b`: cwd: must be a string");
}

TEST(JsonObjectReader, UnknownKeyIsToldBeforeTheMissingOneAndWithTheNearest) {
  const auto body = [](JsonObjectReader& reader) {
    reader.String("command");
    reader.OptionalString("cwd");
  };
  EXPECT_EQ(Read("{\n \"comand\": \"x\"}", body),
            "f.json:2:2: unknown key `comand`; did you mean `command`? (known: command, cwd)");
  EXPECT_EQ(Read("{\"command\": \"x\", \"zzz\": 1}", body),
            "f.json:1:18: unknown key `zzz` (known: command, cwd)");
}

TEST(JsonObjectReader, FirstFaultIsKept) {
  EXPECT_EQ(Read(R"({"a":1,"b":2})",
                 [](JsonObjectReader& reader) {
                   reader.OptionalString("a");
                   reader.OptionalString("b");
                   EXPECT_FALSE(reader.ok());
                   reader.Fail("b", "later");
                 }),
            "f.json:1:6: a: must be a string");
}

TEST(JsonObjectReader, FaultFoundElsewhereGetsItsPlaceWithinTheMember) {
  const auto body = [](JsonObjectReader& reader) {
    reader.Value("schema");
    reader.Fail("schema", absl::ResourceExhaustedError("at /x/y: too deep"));
  };
  EXPECT_EQ(Read("{\"schema\":\n{\"x\":\n {\"y\": 1}}}", body),
            "f.json:3:8: schema: at /x/y: too deep");
}

TEST(JsonObjectReader, FaultFoundElsewhereKeepsItsCode) {
  JsonPositions positions;
  const absl::StatusOr<Json> json = ParseStrictJson("{\"k\":1}", "f.json", {}, &positions);
  ASSERT_TRUE(json.ok()) << json.status();
  JsonObjectReader reader(*json, positions, "f.json");
  reader.Value("k");
  reader.Fail("k", absl::ResourceExhaustedError("too deep"));
  EXPECT_EQ(reader.Finish(), absl::ResourceExhaustedError("f.json:1:6: k: too deep"));
}

TEST(JsonObjectReader, ValuesAreNeverInMessages) {
  const std::string fault = Read(
      R"({"a":"hunter2"})", [](JsonObjectReader& reader) { reader.OptionalInteger("a", 0, 1); });
  EXPECT_THAT(fault, HasSubstr("whole number"));
  EXPECT_THAT(fault, Not(HasSubstr("hunter2")));
}

TEST(NearestWord, OneOrTwoEditsAreNear) {
  const std::vector<std::string> known = {"timeout_ms", "command", "env", "cwd"};
  EXPECT_EQ(NearestWord("timout_ms", known), "timeout_ms");
  EXPECT_EQ(NearestWord("timeuot_ms", known), "timeout_ms");
  EXPECT_EQ(NearestWord("comands", known), "command");
  EXPECT_EQ(NearestWord("enb", known), "env");
  EXPECT_EQ(NearestWord("enable", known), "");
  EXPECT_EQ(NearestWord("id", known), "");
  EXPECT_EQ(NearestWord(std::string(100'000, 'x'), known), "");
}

}  // namespace
}  // namespace warder::manifest
