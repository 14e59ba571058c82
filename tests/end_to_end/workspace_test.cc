// What a tool can leave in a writable workspace under the shipped policies, with real git.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_warder.h"

namespace warder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;

constexpr const char* kGitAuthor =
    "export HOME=/nonexistent GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
    "GIT_COMMITTER_EMAIL=a@b\n";

class WorkspaceView : public ::testing::Test {
 protected:
  // On the host, in the workspace.
  void Host(const std::string& script) {
    const std::string line = "cd " + host_.Workspace() + " && { " + kGitAuthor + script + "\n} >&2";
    ASSERT_EQ(std::system(("sh -ec '" + line + "'").c_str()), 0) << script;
  }
  void Repository() { Host("git init -q . && echo one > f && git add f && git commit -qm first"); }
  // Runs `script` as a tool and returns the outcome.
  json Call(const std::string& script) {
    host_.tree().Script("workspace/tool.sh", "#!/bin/sh\n" + std::string(kGitAuthor) + script);
    host_.Declare(WarderHost::Tool("t", R"(["./tool.sh"])"));
    const WarderRun run = host_.Run({"call", "t", "--approve", "allow-all", "--json"});
    json outcome = json::parse(run.out, nullptr, false);
    EXPECT_TRUE(outcome.is_object()) << run.out << run.err;
    if (!outcome.is_object()) return json::object();
    EXPECT_EQ(outcome.value("ending", ""), "exited") << run.out;
    return outcome;
  }
  static std::string Out(const json& outcome) { return outcome["stdout"].value("text", "no text"); }
  // "kind path" of each change, or the whole member when there is none.
  static std::map<std::string, std::string> Changes(const json& outcome) {
    std::map<std::string, std::string> changes;
    for (const json& change : outcome.at("sensitive_changes").at("changes")) {
      changes[change.at("path")] = change.value("kind", "") + " " + change.value("action", "");
    }
    EXPECT_EQ(outcome["sensitive_changes"]["left_out"], 0);
    return changes;
  }
  bool There(const std::string& path) {
    return fs::exists(fs::symlink_status(host_.Workspace() + "/" + path));
  }
  std::string Text(const std::string& path) {
    std::ifstream file(host_.Workspace() + "/" + path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  WarderHost host_;
};

using Map = std::map<std::string, std::string>;

TEST_F(WorkspaceView, OrdinaryGitWorks) {
  Repository();
  const json outcome = Call(
      "set -e\ngit status --porcelain | sort\necho two > f\ngit add f\ngit commit -qm second\n"
      "git branch topic\ngit checkout -q topic\necho three > f\ngit stash -q\ngit stash pop -q\n"
      "git checkout -q f\ngit worktree add -q wt 2>&1\ngit tag v1\ngit gc -q 2>&1\n"
      "git log --format=%s\ngit worktree list | wc -l\n");
  EXPECT_EQ(Out(outcome), "?? .basis/\n?? tool.sh\nsecond\nfirst\n2\n") << outcome["text"];
  EXPECT_EQ(Changes(outcome), (Map{{"wt/.git", "git pointer reported"}}));
}

TEST_F(WorkspaceView, GitConfigFailsWithAClearError) {
  Repository();
  const json outcome = Call(
      "git config core.fsmonitor ./evil 2>&1 && echo worked\n"
      "git config --get core.fsmonitor\nls .git/*.lock 2>/dev/null\ntrue\n");
  EXPECT_NE(Out(outcome).find("could not write config file .git/config: Device or resource busy"),
            std::string::npos)
      << Out(outcome);
  EXPECT_EQ(Out(outcome).find("worked"), std::string::npos);
  EXPECT_EQ(Text(".git/config").find("evil"), std::string::npos);
  EXPECT_EQ(Changes(outcome), Map{});
}

TEST_F(WorkspaceView, EveryWayToAProtectedNameIsClosed) {
  Repository();
  Host("mkdir -p .git/hooks && rm -f .git/hooks/* && git config core.editor true");
  const std::string before = Text(".git/config");
  const json outcome = Call(
      "exec 2>/dev/null\nt() { \"$@\" && echo \"$*\"; }\nprintf '#!/bin/sh\\n' > evil\n"
      "t mv .git away\nt mv .git/hooks h\nt rmdir .git/hooks\nt rm -r .git/hooks\n"
      "t mv evil .git/hooks/pre-commit\nt ln evil .git/hooks/pre-commit\nt ln evil .git/config\n"
      "t ln .git/config mine\nt mv -f evil .git/config\nt cp evil .git/config\n"
      "t mv .basis b\nt touch .basis/new\nt chmod 777 .git/hooks\nt truncate -s 0 .git/config\n"
      "mkdir d\nt mv -T d .git/hooks\nt python3 -c 'import os; os.rename(\".git\", \"d2\")'\n"
      "echo done\n");
  EXPECT_EQ(Out(outcome), "done\n");
  EXPECT_EQ(Text(".git/config"), before);
  EXPECT_EQ(Changes(outcome), Map{});
}

TEST_F(WorkspaceView, LinkedHooksAreHeldWithTheirTarget) {
  Repository();
  Host("rm -rf .git/hooks && mkdir shared && ln -s ../shared .git/hooks");
  const json outcome = Call(
      "exec 2>/dev/null\n(echo x > .git/hooks/pre-commit) && echo link\n(echo x > shared/y) && "
      "echo "
      "target\nln -sfn /tmp .git/hooks && echo ln\nrm .git/hooks && echo rm\nmv shared s && echo "
      "mv\necho done\n");
  EXPECT_EQ(Out(outcome), "done\n");
  EXPECT_EQ(fs::read_symlink(host_.Workspace() + "/.git/hooks"), "../shared");
}

TEST_F(WorkspaceView, PointerFilesAndSubmodulesAreHeld) {
  Host(
      "git init -q lib && git -C lib commit -q --allow-empty -m x && git init -q . && "
      "git -c protocol.file.allow=always submodule --quiet add ./lib sub && rm -rf lib");
  ASSERT_TRUE(There(".git/modules/sub/config"));
  const json outcome = Call(
      "exec 2>/dev/null\n(echo x >> .git/modules/sub/config) && echo config\n"
      "python3 -c 'import os; os.rename(\".git/modules/sub\", \"x\")' && echo moved\ngit -C sub "
      "config a.b c && echo git\n"
      "git -C sub commit -q --allow-empty -m y && echo committed\n");
  EXPECT_EQ(Out(outcome), "committed\n");
  EXPECT_EQ(Changes(outcome), Map{});
}

TEST_F(WorkspaceView, NewRepositoryWithAHookIsReported) {
  const json outcome = Call(
      "git init -q sub && echo evil > sub/.git/hooks/pre-commit && echo '* filter=x' > "
      "sub/.gitattributes && echo x > AGENTS.md\n");
  EXPECT_EQ(Changes(outcome), (Map{{"sub/.git/config", "git configuration reported"},
                                   {"sub/.git/hooks/pre-commit", "git hook reported"},
                                   {"sub/.gitattributes", "git configuration reported"},
                                   {"AGENTS.md", "agent configuration reported"}}));
  EXPECT_NE(outcome.value("text", "").find("git hook `sub/.git/hooks/pre-commit` (sha256 "),
            std::string::npos);
}

TEST_F(WorkspaceView, AbsentProtectedNamesAreQuarantined) {
  Repository();
  Host("rm -rf .git/hooks");
  const json outcome = Call(
      "mkdir .git/hooks && echo evil > .git/hooks/pre-commit && mkdir .vscode && echo x > "
      ".vscode/tasks.json && mkfifo .mcp.json && ln -s /etc .claude && chmod 000 .vscode\n");
  EXPECT_EQ(Changes(outcome), (Map{{".git/hooks", "protected name quarantined"},
                                   {".vscode", "protected name quarantined"},
                                   {".mcp.json", "protected name quarantined"},
                                   {".claude", "protected name quarantined"}}));
  for (const char* path : {".git/hooks", ".vscode", ".mcp.json", ".claude"}) {
    EXPECT_FALSE(There(path)) << path;
  }
  for (const json& change : outcome["sensitive_changes"]["changes"]) {
    const std::string moved = change.at("moved_to");
    EXPECT_TRUE(moved.starts_with(host_.tree().At("state") + "/")) << moved;
    if (change["path"] == ".vscode") chmod(moved.c_str(), 0700);  // for the removal of the tree
    EXPECT_EQ(fs::exists(moved + "/pre-commit"), change["path"] == ".git/hooks");
  }
}

TEST_F(WorkspaceView, FileWithANameOutsideIsReportedWhenTheToolWritesIt) {
  host_.tree().Write("victim", "mine\n");
  fs::create_hard_link(host_.tree().At("victim"), host_.tree().At("workspace/innocent"));
  EXPECT_EQ(Changes(Call("cat innocent\n")), Map{});
  const json outcome = Call("echo theirs > innocent\n");
  EXPECT_EQ(Changes(outcome), (Map{{"innocent", "file with a name elsewhere reported"}}));
  EXPECT_NE(outcome.value("text", "").find("file with a name elsewhere `innocent`"),
            std::string::npos);
}

TEST_F(WorkspaceView, RemovedConfigurationIsReported) {
  Repository();
  Host("mkdir -p .husky && echo x > .husky/pre-commit && echo x > .pre-commit-config.yaml");
  const json outcome = Call("rm -r .husky .pre-commit-config.yaml\n");
  EXPECT_EQ(Changes(outcome), (Map{{".husky/pre-commit", "git hook removed"},
                                   {".pre-commit-config.yaml", "git hook removed"}}));
  EXPECT_NE(outcome.value("text", "").find("git hook `.husky/pre-commit`, removed"),
            std::string::npos);
}

TEST_F(WorkspaceView, PointerInPlaceOfARepositoryIsQuarantined) {
  const json outcome = Call("mkdir -p evil/hooks && echo 'gitdir: evil' > .git\n");
  EXPECT_EQ(Changes(outcome), (Map{{".git", "protected name quarantined"}}));
  EXPECT_FALSE(There(".git"));
}

TEST_F(WorkspaceView, ToolThatDoesNothingLeavesNothing) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/true"])"));
  host_.tree().Write("workspace/f", "x");
  const auto listing = [&] {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(host_.Workspace())) {
      struct stat status = {};
      EXPECT_EQ(lstat(entry.path().c_str(), &status), 0);
      all[entry.path()] = std::to_string(status.st_mode) + " " +
                          std::to_string(status.st_mtim.tv_nsec) + " " +
                          std::to_string(status.st_ctim.tv_nsec);
    }
    struct stat root = {};
    EXPECT_EQ(stat(host_.Workspace().c_str(), &root), 0);
    all["."] = std::to_string(root.st_mtim.tv_nsec) + " " + std::to_string(root.st_ctim.tv_nsec);
    return all;
  };
  const auto before = listing();
  ASSERT_EQ(host_.Run({"call", "t", "--approve", "allow-all"}).exit_code, 0);
  EXPECT_EQ(listing(), before);
}

TEST_F(WorkspaceView, HostileNamesAreReportedExactlyAndReadably) {
  const json outcome = Call(
      "mkdir -p \"$(printf 'a\\nb\\033[2J\\377')/.claude\" && echo x > "
      "\"$(printf 'a\\nb\\033[2J\\377')/.claude/x\"\n");
  const json& changes = outcome["sensitive_changes"]["changes"];
  ASSERT_EQ(changes.size(), 1u) << outcome["text"];
  EXPECT_EQ(changes[0].value("path_base64", ""), "YQpiG1sySv8vLmNsYXVkZS94");
  const std::string text = outcome.value("text", "");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("agent configuration `a\\n"), std::string::npos) << text;
}

TEST_F(WorkspaceView, WhatCannotBeLookedAtIsSaid) {
  const json outcome = Call(
      "python3 -c 'import os\nd = \"d\" * 250\nfor i in range(20): os.mkdir(d); os.chdir(d)'\n");
  EXPECT_EQ(outcome["sensitive_changes"].value("not_looked_at_count", 0), 1);
  EXPECT_NE(outcome.value("text", "").find("Not all of the workspace was looked at:"),
            std::string::npos);
  Host(
      "python3 -c \"import os\nd = \\\"d\\\" * 250\nfor i in range(20): os.chdir(d)\n"
      "for i in range(20): os.chdir(\\\"..\\\"); os.rmdir(d)\"");
}

constexpr const char* kAsk =
    "python3 -c 'import socket\ns = socket.socket(socket.AF_UNIX)\ntry: s.connect(\"s\")\n"
    "except OSError as e: print(e.strerror)\nelse: print(\"connected\")'\n";

TEST_F(WorkspaceView, ServiceInTheWorkspaceIsOutOfReachInEveryMode) {
  const std::string path = host_.Workspace() + "/s";
  const int service = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(bind(service, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(service, 1), 0);
  host_.tree().Write("config/policies/layer.json", R"({
    "schema": 1, "extends": "default", "description": "For tests: a layer over the workspace.",
    "filesystem": {"workspace": {"mode": "overlay", "reason": "The test needs it."}}
  })");
  for (const char* policy : {"default", "offline", "layer"}) {
    const WarderRun run = host_.Run(
        {"exec", "--policy", policy, "--approve", "allow-all", "--", "/bin/sh", "-c", kAsk});
    EXPECT_EQ(run.out, "Connection refused\n") << policy << run.err;
  }
  const int control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(control, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const int fd : {service, control}) close(fd);
}

TEST_F(WorkspaceView, SocketOfAnEndedServerCanBeReplaced) {
  const std::string serve =
      "python3 -c 'import socket, os\nif os.path.exists(\"s\"): os.unlink(\"s\")\n"
      "socket.socket(socket.AF_UNIX).bind(\"s\")\nprint(\"bound\")'\n";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Out(Call(serve)), "bound\n");
}

TEST_F(WorkspaceView, ReadOnlyWorkspaceNeedsNoLook) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/true"])"));
  const WarderRun run =
      host_.Run({"call", "t", "--approve", "allow-all", "--policy", "offline", "--json"});
  const json outcome = json::parse(run.out, nullptr, false);
  EXPECT_TRUE(outcome.at("sensitive_changes").is_null()) << run.out;
}

}  // namespace
}  // namespace warder
