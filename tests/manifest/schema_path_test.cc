#include "manifest/schema_path.h"

#include <gtest/gtest.h>

#include <string>

namespace warder::manifest {
namespace {

TEST(SchemaPath, PointerNamesEveryStep) {
  const PathStep first{nullptr, "a/b~c"};
  const PathStep second{&first, {}, 12};
  const PathStep third{&second, ""};
  EXPECT_EQ(PointerText(nullptr), "");
  EXPECT_EQ(PointerText(&third), "/a~1b~0c/12/");
}

TEST(SchemaPath, NamesAreShownOnOneLineOfPlainText) {
  EXPECT_EQ(ShownName("plain \"q\" \\"), "plain \"q\" \\");
  EXPECT_EQ(ShownName("a\nb\x1b[31m\x7f"), "a\\nb\\u001b[31m\\u007f");
  EXPECT_EQ(ShownName("é\u202e"), "\\u00e9\\u202e");
}

TEST(SchemaPath, LongNamesAreCut) {
  EXPECT_EQ(ShownName(std::string(1000, 'x')), std::string(64, 'x') + "...");
  // The cut falls into a character of two bytes.
  EXPECT_EQ(ShownName(std::string(63, 'x') + "éé"), std::string(63, 'x') + "\\ufffd...");
}

}  // namespace
}  // namespace warder::manifest
