#include "approval/input_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warder::approval {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Tree(std::string_view input) {
  std::vector<std::string> lines;
  DescribeInput(input, Charset::kUtf8, [&](std::string_view prefix, const std::string& visible) {
    lines.push_back(std::string(prefix) + visible);
  });
  return lines;
}

TEST(InputTree, OneValueALine) {
  EXPECT_THAT(Tree(R"({"ref":"ma\nin","list":[1,true,null],"o":{},"f":1.5})"),
              ElementsAre("  {4 members}", "    \"ref\": \"ma\\nin\"", "    \"list\": [3 values]",
                          "      #0: 1", "      #1: true", "      #2: null",
                          "    \"o\": {0 members}", "    \"f\": 1.5"));
}

TEST(InputTree, CompactInputIsToldByTheTreeAlone) {
  EXPECT_THAT(Tree(R"({"a":"b"})"), ElementsAre("  {1 member}", "    \"a\": \"b\""));
}

TEST(InputTree, WhiteSpaceBetweenValuesIsCounted) {
  EXPECT_THAT(Tree("{ \"a\" :\n \"b  \\\" c\" }"),
              ElementsAre("  {1 member}", "    \"a\": \"b[2 spaces]\\\" c\"",
                          "  and 5 bytes of white space between the values"));
}

TEST(InputTree, AnotherSpellingIsShownExactly) {
  EXPECT_THAT(Tree(R"({"a":1e2})"),
              ElementsAre("  {1 member}", "    \"a\": 100.0",
                          "  numbers or strings are spelled otherwise; the exact bytes are:",
                          R"(  "{\"a\":1e2}")"));
}

TEST(InputTree, KeysCannotForgeALine) {
  EXPECT_THAT(Tree("{\"a\\u001b[2K\\\": x\":1}").at(1), "    \"a\\x1b[2K\\\": x\": 1");
}

TEST(InputTree, DeepValuesTellTheirDepthInsteadOfMovingOut) {
  const std::vector<std::string> lines = Tree("[[[[[[[[1]]]]]]]]");
  EXPECT_EQ(lines[5], "            #0: [1 value]");
  EXPECT_EQ(lines[8], "  (depth 8) #0: 1");
}

TEST(InputTree, BytesThatAreNotJsonAreShownExactly) {
  EXPECT_THAT(Tree("{\x01"),
              ElementsAre("  not one JSON document; the exact bytes are:", "  \"{\\x01\""));
  EXPECT_THAT(Tree(""), IsEmpty());
}

}  // namespace
}  // namespace warder::approval
