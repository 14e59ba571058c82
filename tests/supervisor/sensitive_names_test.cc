#include "supervisor/sensitive_names.h"

#include <gtest/gtest.h>

#include <string>

namespace warder::supervisor {
namespace {

std::string Kind(std::string_view path) {
  const SensitiveName* name = FindSensitiveName(path);
  return name == nullptr ? "" : std::string(name->kind);
}

TEST(SensitiveNames, LastComponentsCountAtAnyDepth) {
  EXPECT_EQ(Kind(".git/hooks/pre-commit"), "git hook");
  EXPECT_EQ(Kind("a/b/.git/hooks/pre-commit"), "git hook");
  EXPECT_EQ(Kind("a/.git"), "git pointer");
  EXPECT_EQ(Kind("x/.cargo/config.toml"), "build configuration");
  EXPECT_EQ(Kind("config.toml"), "");
  EXPECT_EQ(Kind("a.git/hooks/pre-commit"), "");
  EXPECT_EQ(Kind("hooks/pre-commit"), "");
  EXPECT_EQ(Kind(".git/hooks/a/b"), "");
}

TEST(SensitiveNames, DoubleStarIsEverythingBelow) {
  EXPECT_EQ(Kind(".claude/settings.json"), "agent configuration");
  EXPECT_EQ(Kind("x/.claude/skills/y/SKILL.md"), "agent configuration");
  EXPECT_EQ(Kind(".claude"), "");
  EXPECT_EQ(Kind("x.claude/y"), "");
}

TEST(SensitiveNames, StarIsTheBeginningOfOneName) {
  EXPECT_EQ(Kind("a/my.code-workspace"), "editor configuration");
  EXPECT_EQ(Kind(".github/workflows/ci.yml"), "pipeline configuration");
  EXPECT_EQ(Kind(".github/workflows/a/ci.yml"), "");
  EXPECT_EQ(Kind(".git/hooks/pre-commit.sample"), "") << "git never runs these";
}

TEST(SensitiveNames, LettersMatchInEitherCase) {
  EXPECT_EQ(Kind(".GIT/Hooks/pre-commit"), "git hook");
  EXPECT_EQ(Kind("agents.md"), "agent configuration");
}

TEST(SensitiveNames, BuildScriptsAreNotSensitive) {
  for (const char* name : {"Makefile", "package.json", "conftest.py", "src/main.c"}) {
    EXPECT_EQ(Kind(name), "") << name;
  }
}

TEST(SensitiveNames, OnlyAttributesWithAFilterCount) {
  EXPECT_EQ(FindSensitiveName("a/.gitattributes")->contains, "filter=");
  EXPECT_TRUE(FindSensitiveName(".envrc")->contains.empty());
}

TEST(SensitiveNames, DirectoriesOfThePatternsAreKnown) {
  for (const char* name : {".git", "hooks", ".claude", ".vscode", ".GIT"}) {
    EXPECT_TRUE(IsSensitiveDirectory(name)) << name;
  }
  EXPECT_FALSE(IsSensitiveDirectory("src"));
  EXPECT_FALSE(IsSensitiveDirectory(""));
}

}  // namespace
}  // namespace warder::supervisor
