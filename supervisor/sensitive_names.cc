#include "supervisor/sensitive_names.h"

#include <algorithm>
#include <iterator>

namespace warder::supervisor {
namespace {

constexpr std::string_view kHook = "git hook";
constexpr std::string_view kGit = "git configuration";
constexpr std::string_view kPointer = "git pointer";
constexpr std::string_view kAgent = "agent configuration";
constexpr std::string_view kEditor = "editor configuration";
constexpr std::string_view kShell = "shell configuration";
constexpr std::string_view kBuild = "build configuration";
constexpr std::string_view kPipeline = "pipeline configuration";

// Build scripts and sources are not here (Makefile, package.json, conftest.py): they change in
// every call that does its work, and run when somebody runs them.
constexpr SensitiveName kNames[] = {
    {".git/hooks/*.sample", ""},  // git never runs these
    {".git/hooks/*", kHook},
    {".git/config", kGit},
    {".git/config.worktree", kGit},
    {".git", kPointer},     // a file or link; `git` reads another repository's settings
    {".gitmodules", kGit},  // where submodules come from
    {".gitattributes", kGit, "filter="},
    {".husky/**", kHook},
    {".pre-commit-config.yaml", kHook},
    {"lefthook.yml", kHook},
    {".basis/**", "tool manifest"},
    {".mcp.json", kAgent},  // programs that an agent starts
    {".claude/**", kAgent},
    {".cursor/**", kAgent},
    {".codex/**", kAgent},
    {".gemini/**", kAgent},
    {".windsurf/**", kAgent},
    {".continue/**", kAgent},
    {".roo/**", kAgent},
    {".aider.conf.yml", kAgent},
    {".cursorrules", kAgent},  // words that an agent obeys
    {".windsurfrules", kAgent},
    {".clinerules", kAgent},
    {"AGENTS.md", kAgent},
    {"CLAUDE.md", kAgent},
    {"CLAUDE.local.md", kAgent},
    {"GEMINI.md", kAgent},
    {".github/copilot-instructions.md", kAgent},
    {".vscode/**", kEditor},  // tasks that run when the folder is opened
    {"*.code-workspace", kEditor},
    {".idea/**", kEditor},
    {".zed/**", kEditor},
    {".devcontainer/**", kEditor},
    {".devcontainer.json", kEditor},
    {".nvim.lua", kEditor},  // read by `exrc`
    {".nvimrc", kEditor},
    {".exrc", kEditor},
    {".vimrc", kEditor},
    {".dir-locals.el", kEditor},
    {".gdbinit", kEditor},
    {".lldbinit", kEditor},
    {".envrc", kShell},  // direnv, mise: on entering the directory
    {"mise.toml", kShell},
    {".mise.toml", kShell},
    {".npmrc", kBuild},  // which program or registry a build tool takes
    {".yarnrc", kBuild},
    {".yarnrc.yml", kBuild},
    {".pnpmfile.cjs", kBuild},
    {".cargo/config.toml", kBuild},
    {".cargo/config", kBuild},
    {"pip.conf", kBuild},
    {".bazelrc", kBuild},
    {".mvn/**", kBuild},
    {"gradle-wrapper.properties", kBuild},
    {".github/workflows/*", kPipeline},  // run with the project's secrets once pushed
    {".github/actions/**", kPipeline},
    {".gitlab-ci.yml", kPipeline},
    {".circleci/**", kPipeline},
    {"Jenkinsfile", kPipeline},
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Equal(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// One component. `*` may only be first.
bool MatchesName(std::string_view pattern, std::string_view name) {
  if (!pattern.starts_with('*')) return Equal(pattern, name);
  pattern.remove_prefix(1);
  return name.size() >= pattern.size() && Equal(pattern, name.substr(name.size() - pattern.size()));
}

std::string_view TakeLast(std::string_view& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  return last;
}

bool EndsWith(std::string_view path, std::string_view pattern) {
  while (!pattern.empty()) {
    if (path.empty() || !MatchesName(TakeLast(pattern), TakeLast(path))) return false;
  }
  return true;
}

bool Matches(std::string_view path, std::string_view pattern) {
  if (!pattern.ends_with("/**")) return EndsWith(path, pattern);
  pattern.remove_suffix(3);
  for (TakeLast(path); !path.empty(); TakeLast(path)) {
    if (EndsWith(path, pattern)) return true;
  }
  return false;
}

}  // namespace

const SensitiveName* FindSensitiveName(std::string_view path) {
  const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const auto& name) { return Matches(path, name.pattern); });
  return found == std::end(kNames) || found->kind.empty() ? nullptr : &*found;
}

bool IsSensitiveDirectory(std::string_view name) {
  return Equal(name, "hooks") ||
         std::any_of(std::begin(kNames), std::end(kNames), [&](const SensitiveName& entry) {
           const std::size_t slash = entry.pattern.find('/');
           return slash != std::string_view::npos && Equal(name, entry.pattern.substr(0, slash));
         });
}

}  // namespace warder::supervisor
