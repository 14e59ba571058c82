#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "manifest/catalog.h"
#include "manifest/digest.h"
#include "manifest/json.h"

namespace warder::manifest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr std::string_view kPlain =
    R"("description":"d","input_schema":{"type":"object"},"command":["/bin/true"])";

std::string Manifest(std::string_view entries) {
  return absl::StrFormat(R"({"schema":1,"tools":{%s}})", entries);
}
std::string Tool(std::string_view name, std::string_view members) {
  return absl::StrFormat(R"("%s":{%s})", name, members);
}
// A good tool `t` with more members.
std::string PlainWith(std::string_view members) {
  return Manifest(Tool("t", absl::StrFormat("%s,%s", kPlain, members)));
}

ToolSpec Parsed(std::string_view text) {
  absl::StatusOr<std::vector<ToolSpec>> tools = ParseManifest(text, "m.json");
  EXPECT_TRUE(tools.ok()) << tools.status();
  return tools.ok() && !tools->empty() ? tools->front() : ToolSpec();
}

std::string Fault(std::string_view text) {
  const absl::StatusOr<std::vector<ToolSpec>> tools = ParseManifest(text, "m.json");
  return tools.ok() ? "accepted" : std::string(tools.status().message());
}

TEST(ToolManifest, EveryFieldIsRead) {
  const ToolSpec tool = Parsed(R"({"schema": 1, "tools": {"fetch-2_b": {
    "description": "Fetches.",
    "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "command": ["./bin/fetch", "", "${X:-y}"],
    "cwd": "sub",
    "env": {"TOKEN": "${TOKEN}", "A": ""},
    "timeout_ms": 500,
    "side_effect": "external"}}})");
  EXPECT_EQ(tool.name, "fetch-2_b");
  EXPECT_EQ(tool.description, "Fetches.");
  EXPECT_EQ(tool.input_schema_text, R"({"type":"object","properties":{"n":{"type":"integer"}}})");
  EXPECT_NE(tool.input_schema, nullptr);
  EXPECT_THAT(tool.command, ElementsAre("./bin/fetch", "", "${X:-y}"));
  EXPECT_EQ(tool.cwd, "sub");
  EXPECT_THAT(tool.env, ElementsAre(Pair("TOKEN", "${TOKEN}"), Pair("A", "")));
  EXPECT_EQ(tool.timeout_ms, 500);
  EXPECT_EQ(tool.side_effect, SideEffect::kExternal);
  EXPECT_EQ(tool.source, "m.json");
}

TEST(ToolManifest, OptionalFieldsHaveTheirDefaults) {
  const ToolSpec tool = Parsed(Manifest(Tool("t", kPlain)));
  EXPECT_EQ(tool.cwd, std::nullopt);
  EXPECT_TRUE(tool.env.empty());
  EXPECT_EQ(tool.timeout_ms, 120'000);
  EXPECT_EQ(tool.side_effect, SideEffect::kProcess);
}

TEST(ToolManifest, ToolsAreSortedByName) {
  const absl::StatusOr<std::vector<ToolSpec>> tools =
      ParseManifest(Manifest(Tool("b", kPlain) + "," + Tool("a", kPlain)), "m.json");
  ASSERT_TRUE(tools.ok()) << tools.status();
  ASSERT_EQ(tools->size(), 2u);
  EXPECT_EQ(tools->front().name, "a");
}

TEST(ToolManifest, NoToolsIsAManifest) {
  const absl::StatusOr<std::vector<ToolSpec>> tools = ParseManifest(Manifest(""), "m.json");
  ASSERT_TRUE(tools.ok()) << tools.status();
  EXPECT_TRUE(tools->empty());
}

// Top level.

TEST(ToolManifest, SchemaMustBeOne) {
  EXPECT_THAT(Fault(R"({"tools":{}})"), StartsWith("m.json:1:1: schema: is missing"));
  for (const char* schema : {"2", "0", "1.0", "\"1\"", "true", "null", "[1]"}) {
    EXPECT_THAT(Fault(absl::StrFormat(R"({"schema":%s,"tools":{}})", schema)),
                StartsWith("m.json:1:11: schema: must be 1"))
        << schema;
  }
}

TEST(ToolManifest, ToolsMustBeAnObjectKeyedByName) {
  EXPECT_THAT(Fault(R"({"schema":1})"), StartsWith("m.json:1:1: tools: is missing"));
  EXPECT_THAT(Fault(R"({"schema":1,"tools":[]})"),
              StartsWith("m.json:1:21: tools: must be an object"));
  EXPECT_THAT(Fault(R"({"schema":1,"tools":null})"), HasSubstr("tools: must be an object"));
  EXPECT_THAT(Fault("[]"), StartsWith("m.json:1:1: must be an object"));
  EXPECT_THAT(Fault(Manifest(R"("t":[])")), StartsWith("m.json:1:22: tool `t`: must be an object"));
}

TEST(ToolManifest, UnknownKeysAreErrorsEverywhere) {
  EXPECT_EQ(Fault("{\"schema\":1,\n \"_comment\":\"x\",\"tools\":{}}"),
            "m.json:2:2: unknown key `_comment` (known: schema, tools)");
  EXPECT_THAT(Fault(PlainWith("\"timout_ms\":5")),
              AllOf(HasSubstr("tool `t`: unknown key `timout_ms`; did you mean `timeout_ms`?"),
                    HasSubstr("known: description, input_schema, command, cwd, env, timeout_ms, "
                              "side_effect")));
}

TEST(ToolManifest, MisspeltRequiredKeyIsToldAsMisspelt) {
  EXPECT_THAT(Fault(Manifest(R"("t":{"description":"d","input_schema":{},"comand":["x"]})")),
              HasSubstr("unknown key `comand`; did you mean `command`?"));
}

TEST(ToolManifest, ThereIsNoEnabledAndNoWayToSayReadOnly) {
  for (const char* key : {"enabled", "disabled", "read_only", "readOnlyHint", "annotations"}) {
    EXPECT_THAT(Fault(PlainWith(absl::StrFormat("\"%s\":true", key))),
                HasSubstr(absl::StrFormat("unknown key `%s`", key)));
  }
  EXPECT_THAT(Fault(PlainWith(R"("side_effect":"none")")),
              HasSubstr("side_effect: must be one of"));
  EXPECT_THAT(Fault(PlainWith(R"("side_effect":"read_only")")), HasSubstr("side_effect"));
}

TEST(ToolManifest, SameToolTwiceIsRefusedWithBothPlaces) {
  const std::string text = "{\"schema\":1,\"tools\":{\n\"deploy\":{" + std::string(kPlain) +
                           "},\n\"deploy\":{" + std::string(kPlain) + "}}}";
  EXPECT_EQ(Fault(text), "m.json:3:1: duplicate key `deploy`, at 2:1 and again at 3:1");
}

TEST(ToolManifest, SameFieldTwiceInOneToolIsRefused) {
  EXPECT_THAT(Fault(PlainWith(R"("timeout_ms":1,"timeout_ms":2)")),
              AllOf(HasSubstr("duplicate key `timeout_ms`, at 1:"), HasSubstr(" and again at 1:")));
}

TEST(ToolManifest, CommentIsRefusedWithLineColumnAndTheWord) {
  const std::string text = "{\n// hunter2\n\"schema\":1,\"tools\":{}}";
  EXPECT_THAT(Fault(text), AllOf(StartsWith("m.json:2:1: comment"), Not(HasSubstr("hunter2"))));
}

TEST(ToolManifest, TrailingCommaIsRefusedWithLineColumnAndTheWord) {
  EXPECT_THAT(Fault("{\"schema\":1,\n\"tools\":{},\n}"), StartsWith("m.json:2:11: trailing comma"));
}

TEST(ToolManifest, FaultNamesFileLineColumnToolAndFieldAndNeverAValue) {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"description", R"(["hunter2"])"}, {"input_schema", R"("hunter2")"},
      {"command", R"("hunter2")"},       {"cwd", R"(["hunter2"])"},
      {"env", R"("hunter2")"},           {"timeout_ms", R"("hunter2")"},
      {"side_effect", R"("hunter2")"}};
  for (const auto& [field, value] : fields) {
    std::string members = absl::StrFormat("\n\"%s\":%s", field, value);
    for (const char* good :
         {R"("description":"d")", R"("input_schema":{})", R"("command":["/bin/true"])"}) {
      if (!std::string_view(good).starts_with("\"" + field)) members += std::string(",") + good;
    }
    EXPECT_THAT(
        Fault(Manifest(Tool("t", members))),
        AllOf(StartsWith(absl::StrFormat("m.json:2:%d: tool `t`: %s: ", field.size() + 4, field)),
              Not(HasSubstr("hunter2"))));
  }
}

// Fields of a tool.

TEST(ToolManifest, DescriptionMustNotBeBlank) {
  EXPECT_THAT(Fault(Manifest(R"("t":{"input_schema":{},"command":["x"]})")),
              HasSubstr("tool `t`: description: is missing"));
  for (const char* text : {"\"\"", "\" \\n\\t\"", "7", "null"}) {
    EXPECT_THAT(Fault(Manifest(absl::StrFormat(
                    R"("t":{"description":%s,"input_schema":{},"command":["x"]})", text))),
                HasSubstr("tool `t`: description: must "))
        << text;
  }
}

TEST(ToolManifest, InputSchemaMustBeAnObjectWhoseTypeIsObject) {
  EXPECT_THAT(Fault(Manifest(R"("t":{"description":"d","command":["x"]})")),
              HasSubstr("tool `t`: input_schema: is missing"));
  for (const char* schema : {"true", "[]", "\"object\"", "null"}) {
    EXPECT_THAT(Fault(Manifest(absl::StrFormat(
                    R"("a":{"description":"d","input_schema":%s,"command":["x"]})", schema))),
                HasSubstr("tool `a`: input_schema: must be an object"))
        << schema;
  }
  for (const char* type : {"\"string\"", "[\"object\"]", "null", "{}"}) {
    EXPECT_THAT(
        Fault(Manifest(absl::StrFormat(
            R"("a":{"description":"d","input_schema":{"type":%s},"command":["x"]})", type))),
        HasSubstr("tool `a`: input_schema: `type` must be \"object\""))
        << type;
  }
}

TEST(ToolManifest, InputSchemaWithoutTypeIsAccepted) {
  for (const char* schema : {"{}", R"({"anyOf":[{"type":"object"},{"type":"object"}]})",
                             R"({"$schema":"http://json-schema.org/draft-07/schema#"})"}) {
    EXPECT_EQ(Fault(Manifest(absl::StrFormat(
                  R"("b":{"description":"d","input_schema":%s,"command":["x"]})", schema))),
              "accepted")
        << schema;
  }
}

TEST(ToolManifest, SchemaIsKeptWhole) {
  const std::string schema = R"({"type":"object","$defs":{"Q":{"type":"object","properties":
      {"limit":{"type":"integer","default":20}}}},"properties":{"q":{"$ref":"#/$defs/Q"}},
      "additionalProperties":false,"x-vendor":[1,2.5,null],"description":"\ud83e\udd8a"})";
  const ToolSpec tool = Parsed(Manifest(Tool(
      "t", absl::StrFormat(R"("description":"d","input_schema":%s,"command":["x"])", schema))));
  EXPECT_EQ(Json::parse(tool.input_schema_text), Json::parse(schema));
}

TEST(ToolManifest, SchemaIsCompiledAtLoadAndItsFaultNamesToolFieldAndPlace) {
  const std::string text =
      "{\"schema\":1,\"tools\":{\"t\":{\"description\":\"d\",\"command\":[\"x\"],\"input_schema\":"
      "\n"
      "{\"properties\":{\"n\":\n {\"multipleOf\":0}}}}}}";
  EXPECT_THAT(Fault(text), AllOf(StartsWith("m.json:3:"), HasSubstr("tool `t`: input_schema: "),
                                 HasSubstr("multipleOf")));
}

TEST(ToolManifest, CommandIsAnArgvArrayWhoseFirstElementIsNotBlank) {
  EXPECT_THAT(Fault(Manifest(R"("t":{"description":"d","input_schema":{}})")),
              HasSubstr("tool `t`: command: is missing"));
  const auto fault = [](std::string_view command) {
    return Fault(Manifest(
        absl::StrFormat(R"("t":{"description":"d","input_schema":{},"command":%s})", command)));
  };
  EXPECT_THAT(fault("[]"), HasSubstr("tool `t`: command: must name a program"));
  EXPECT_THAT(fault("\"ls -l\""), HasSubstr("tool `t`: command: must be an array of strings"));
  EXPECT_THAT(fault(R"([" ","x"])"), HasSubstr("tool `t`: command[0]: must not be blank"));
  EXPECT_THAT(fault(R"(["x",1])"), HasSubstr("tool `t`: command[1]: must be a string"));
  EXPECT_EQ(fault(R"(["x",""," "])"), "accepted");
}

TEST(ToolManifest, CwdIsAStringThatIsNotBlank) {
  EXPECT_THAT(Fault(PlainWith("\"cwd\":1")), HasSubstr("tool `t`: cwd: must be a string"));
  EXPECT_THAT(Fault(PlainWith("\"cwd\":\"\"")), HasSubstr("tool `t`: cwd: must not be blank"));
}

TEST(ToolManifest, EnvIsStringToString) {
  EXPECT_THAT(Fault(PlainWith("\"env\":[]")), HasSubstr("tool `t`: env: must be an object"));
  EXPECT_THAT(Fault(PlainWith(R"("env":{"A":"x","PORT":8080})")),
              AllOf(HasSubstr("tool `t`: env: `PORT`: must be a string"), Not(HasSubstr("8080"))));
  EXPECT_THAT(Fault(PlainWith(R"("env":{"A":null})")), HasSubstr("env: `A`: must be a string"));
}

TEST(ToolManifest, EnvNameThatNoPreviewCouldShowIsRefused) {
  for (const char* name : {"", "A=B", "A B", "\\u001b[2J", "\xc3\xa4"}) {
    EXPECT_THAT(Fault(PlainWith(absl::StrFormat(R"("env":{"%s":"hunter2"})", name))),
                AllOf(HasSubstr("a variable's name is printable ASCII"), Not(HasSubstr("hunter2"))))
        << name;
  }
}

TEST(ToolManifest, EnvThatChangesLoadingIsLeftToThePolicy) {
  EXPECT_EQ(Fault(PlainWith(R"("env":{"LD_PRELOAD":"./y.so","BASH_ENV":"./z"})")), "accepted");
}

TEST(ToolManifest, TimeoutIsAWholeNumberAboveZero) {
  for (const char* timeout :
       {"0", "-1", "1.5", "1000.0", "\"5\"", "null", "18446744073709551615", "31536000001"}) {
    EXPECT_THAT(Fault(PlainWith(absl::StrFormat("\"timeout_ms\":%s", timeout))),
                HasSubstr("tool `t`: timeout_ms: must be a whole number from 1 to 31536000000"))
        << timeout;
  }
  EXPECT_EQ(Parsed(PlainWith("\"timeout_ms\":1")).timeout_ms, 1);
}

TEST(ToolManifest, SideEffectIsProcessOrExternal) {
  EXPECT_EQ(Parsed(PlainWith(R"("side_effect":"process")")).side_effect, SideEffect::kProcess);
  EXPECT_THAT(Fault(PlainWith(R"("side_effect":"External")")),
              HasSubstr("tool `t`: side_effect: must be one of \"process\", \"external\""));
  EXPECT_THAT(Fault(PlainWith("\"side_effect\":null")), HasSubstr("side_effect: must be one of"));
}

// Names.

TEST(ToolManifest, NameIsOneTo64LettersDigitsUnderscoresAndDashes) {
  for (const std::string& name : {std::string(64, 'a'), std::string("A"), std::string("0-_z")}) {
    EXPECT_EQ(Fault(Manifest(Tool(name, kPlain))), "accepted") << name;
  }
  for (const std::string& name :
       {std::string(), std::string(65, 'a'), std::string("a b"), std::string("io.github/x"),
        std::string("\xc3\xa4"), std::string("a\\n"), std::string("\\u202ea")}) {
    EXPECT_THAT(Fault(Manifest(Tool(name, kPlain))), HasSubstr("name is 1 to 64 of letters"))
        << name;
  }
}

TEST(ToolManifest, NameMayNotStartWithThePrefixOfForeignTools) {
  EXPECT_THAT(Fault(Manifest(Tool("mcp__github__push", kPlain))),
              HasSubstr("tool `mcp__github__push`: names that start with `mcp__`"));
  EXPECT_EQ(Fault(Manifest(Tool("mcp_x", kPlain))), "accepted");
}

TEST(ToolManifest, ReservedNameIsRefused) {
  for (const std::string_view name : kReservedToolNames) {
    EXPECT_THAT(Fault(Manifest(Tool(name, kPlain))), HasSubstr("reserved for warder")) << name;
  }
}

TEST(ToolManifest, FaultyNameIsToldWhereItStands) {
  EXPECT_THAT(Fault("{\"schema\":1,\"tools\":{\n  \"a b\": {}}}"),
              StartsWith("m.json:2:3: tool `a b`: "));
}

// Expansion faults that need no environment.

TEST(ToolManifest, ExpansionFaultNamesFileToolAndFieldAndQuotesNoValue) {
  EXPECT_THAT(Fault(PlainWith(R"("env":{"HOME_DIR":"hunter2${HOME"})")),
              AllOf(StartsWith("m.json:1:"), HasSubstr("tool `t`: env: `HOME_DIR`: unclosed `${`"),
                    Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Fault(PlainWith(R"("env":{"X":"hunter2${}"})")),
              AllOf(HasSubstr("tool `t`: env: `X`: empty `${}`"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Fault(PlainWith(R"("cwd":"${hunter2.x}")")),
              AllOf(HasSubstr("tool `t`: cwd: "), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(
      Fault(Manifest(R"("t":{"description":"d","input_schema":{},"command":["x","hunter2${"]})")),
      AllOf(HasSubstr("tool `t`: command[1]: unclosed"), Not(HasSubstr("hunter2"))));
}

TEST(ToolManifest, BareDollarAndForeignTemplateWordsAreKept) {
  const ToolSpec tool = Parsed(Manifest(
      R"("t":{"description":"d","input_schema":{},)"
      R"json("command":["/bin/echo","$HOME","{{ .name }}","UTCP_ARG_x_UTCP_END","$(id)","a;b"]})json"));
  EXPECT_THAT(tool.command, ElementsAre("/bin/echo", "$HOME", "{{ .name }}", "UTCP_ARG_x_UTCP_END",
                                        "$(id)", "a;b"));
}

TEST(ToolManifest, WindowsPathsLoadUnchanged) {
  const ToolSpec tool = Parsed(Manifest(
      R"("t":{"description":"d","input_schema":{},"command":["C:\\Program Files\\node.exe","-v"],"cwd":"sub\\dir"})"));
  EXPECT_THAT(tool.command, ElementsAre(R"(C:\Program Files\node.exe)", "-v"));
  EXPECT_EQ(tool.cwd, R"(sub\dir)");
}

// Bounds.

TEST(ToolManifest, NumberOfToolsIsBounded) {
  std::string entries = Tool("t0", kPlain);
  for (std::size_t i = 1; i < kMaxTools; ++i)
    entries += "," + Tool(absl::StrFormat("t%d", i), kPlain);
  EXPECT_EQ(Fault(Manifest(entries)), "accepted");
  const absl::StatusOr<std::vector<ToolSpec>> tools =
      ParseManifest(Manifest(entries + "," + Tool("last", kPlain)), "m.json");
  EXPECT_EQ(tools.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(tools.status().message(), "m.json:1:21: tools: 257 tools, the limit is 256");
}

TEST(ToolManifest, SizeIsBounded) {
  const std::string large(kMaxManifestBytes + 1, ' ');
  EXPECT_EQ(ParseManifest(large, "m.json").status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ToolManifest, WordsAndVariablesAreBounded) {
  std::string words = "\"x\"";
  std::string variables = "\"V\":\"\"";
  for (int i = 0; i < 1024; ++i) {
    words += ",\"x\"";
    variables += absl::StrFormat(",\"V%d\":\"\"", i);
  }
  EXPECT_THAT(Fault(Manifest(absl::StrFormat(
                  R"("t":{"description":"d","input_schema":{},"command":[%s]})", words))),
              HasSubstr("command: has more than 1024 words"));
  EXPECT_THAT(Fault(PlainWith(absl::StrFormat("\"env\":{%s}", variables))),
              HasSubstr("env: has more than 256 variables"));
}

// Digest.

TEST(ToolManifest, EntryDigestCoversNameAndTheBytesAsWritten) {
  const std::string entry = absl::StrFormat("{ %s }", kPlain);
  const ToolSpec tool = Parsed(Manifest("\"t\" : " + entry));
  EXPECT_EQ(tool.entry_digest, Digest(std::string("t\0", 2) + entry));
  EXPECT_NE(tool.entry_digest, Parsed(Manifest(Tool("u", kPlain))).entry_digest);
  EXPECT_NE(tool.entry_digest, Parsed(Manifest(Tool("t", kPlain))).entry_digest);
}

}  // namespace
}  // namespace warder::manifest
