// Ordinary tools under the default policy: they work, and get their input byte for byte.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_warder.h"

namespace warder {
namespace {

using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;
using ::warder::testing::WarderSetting;

class HonestPrograms : public ::testing::Test {
 protected:
  // What the tool with this argv prints for `input`.
  std::string Call(const std::string& command, const std::string& input = "{}") {
    host_.Declare(WarderHost::Tool("t", command));
    WarderSetting setting;
    setting.input = input;
    const WarderRun run =
        host_.Run({"call", "t", "--approve", "allow-all", "--input", "-"}, setting);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  }
  std::string Script(const std::string& name, const std::string& text,
                     const std::string& input = "{}") {
    host_.tree().Script("workspace/" + name, text);
    return Call("[\"./" + name + "\"]", input);
  }
  WarderHost host_;
};

TEST_F(HonestPrograms, Bash) {
  EXPECT_EQ(Script("t.sh",
                   "#!/bin/bash\nset -e\nread -r line\n(echo sub; echo \"$line\") | cat <(echo "
                   "head) -\n[[ -t 0 ]] || echo \"$0\"\n",
                   "{\"a\":1}\n"),
            "head\nsub\n{\"a\":1}\n" + host_.Workspace() + "/t.sh\n");
}

TEST_F(HonestPrograms, PythonWithThreadsSubprocessAndPool) {
  EXPECT_EQ(
      Script("t.py",
             "#!/usr/bin/env python3\nimport json, sys, threading, subprocess, multiprocessing\n"
             "def f(x): return x * x\n"
             "if __name__ == '__main__':\n"
             "    d = json.load(sys.stdin)\n"
             "    t = threading.Thread(target=lambda: print('thread', flush=True)); t.start(); "
             "t.join()\n"
             "    print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout, "
             "end='')\n"
             "    with multiprocessing.Pool(2) as p: print(p.map(f, d['n']))\n",
             "{\"n\":[1,2,3]}"),
      "thread\nchild\n[1, 4, 9]\n");
}

TEST_F(HonestPrograms, Node) {
  EXPECT_EQ(Script("t.js",
                   "#!/usr/bin/env node\nconst d = JSON.parse(require('fs').readFileSync(0));\n"
                   "require('fs').promises.writeFile('out', d.x).then(() => "
                   "console.log(require('fs').readFileSync('out', 'utf8')));\n",
                   "{\"x\":\"text\"}"),
            "text\n");
}

TEST_F(HonestPrograms, GitCommitsReadsAndChecksOut) {
  EXPECT_EQ(
      Script(
          "t.sh",
          "#!/bin/sh\nset -e\nexport GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
          "GIT_COMMITTER_EMAIL=a@b\n"
          "git init -q repo\ncd repo\necho one > f\ngit add f\ngit commit -qm first\necho two > f\n"
          "git diff --stat | tail -1\ngit stash -q\ngit worktree add -q ../tree\ngit clone -q . "
          "../copy\ngit -C ../copy log --format=%s\n"),
      " 1 file changed, 1 insertion(+), 1 deletion(-)\nfirst\n");
}

TEST_F(HonestPrograms, CompilerAndWhatItBuilt) {
  EXPECT_EQ(Script("t.sh",
                   "#!/bin/sh\nset -e\nprintf '#include <stdio.h>\\nint main(void) { "
                   "puts(\"built\"); return 0; }\\n' > m.c\n"
                   "gcc -O1 -o m m.c\n./m\n"),
            "built\n");
}

TEST_F(HonestPrograms, Sqlite) {
  EXPECT_EQ(
      Call(
          R"(["/usr/bin/sqlite3", "db", "create table t(x); insert into t values (41),(1); select sum(x) from t;"])"),
      "42\n");
}

TEST_F(HonestPrograms, Jq) {
  EXPECT_EQ(Call(R"(["jq", "-c", ".a"])", R"({"a":[1,{"b":"c"}]})"), "[1,{\"b\":\"c\"}]\n");
}

// Quotes, newlines, "$()", an escaped NUL's neighbours, emoji: no byte of it may be touched on the
// way.
TEST_F(HonestPrograms, OneMebibyteOfHostileTextArrivesByteForByte) {
  const std::string piece =
      "'\\\"$(id)`id`;|&\\n\\t\\\\u0000\\u0001\\u007f\\u2028 \xF0\x9F\x92\xA3\xE2\x80\xAE %s {{x}} "
      "${HOME} ";
  std::string input = "{\"text\": \"";
  while (input.size() < (1u << 20)) input += piece;
  input += "\",   \"after\" :1e2}\n";
  EXPECT_EQ(Call(R"(["/bin/cat"])", input), input);
}

TEST_F(HonestPrograms, ToolNeverReadsWhatIsMeantForItsCaller) {
  host_.Declare(
      WarderHost::Tool("t", R"(["/bin/sh", "-c", "cat >/dev/null; cat >/dev/null; echo ok"])"));
  WarderSetting setting;
  setting.input = "the next request\n";
  setting.prefix = {"/bin/sh", "-c", "\"$@\" && \"$@\" && exec cat", "sh"};
  const WarderRun run = host_.Run({"call", "t", "--approve", "allow-all"}, setting);
  EXPECT_EQ(run.out, "ok\nok\nthe next request\n") << run.err;
}

// More than the pipes hold, and more on stderr than is kept.
TEST_F(HonestPrograms, EightMebibytesGoBothWaysAtOnce) {
  const std::string input = "{\"text\": \"" + std::string(8u << 20, 'x') + "\"}";
  EXPECT_EQ(
      Call(
          R"(["/usr/bin/python3", "-c", "import os\nwhile data := os.read(0, 65536):\n for fd in (1, 2):\n  rest = data\n  while rest: rest = rest[os.write(fd, rest):]"])",
          input),
      input);
}

TEST_F(HonestPrograms, OwnStreamsCanBeOpenedByTheirNames) {
  EXPECT_EQ(Call(R"(["/bin/sh", "-c", "cat /dev/stdin >/dev/stdout; echo warn >/dev/stderr"])",
                 R"({"a":1})"),
            R"({"a":1})");
}

TEST_F(HonestPrograms, ToolStartsWithAPlainStateWhateverWarderInherited) {
  host_.Declare(WarderHost::Tool(
      "t", R"(["/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; umask"])"));
  WarderSetting setting;
  setting.prefix = {"/usr/bin/env",
                    "--ignore-signal",
                    "--block-signal=USR1",
                    "/bin/sh",
                    "-c",
                    "umask 0; exec \"$@\"",
                    "sh"};
  const WarderRun run = host_.Run({"call", "t", "--approve", "allow-all"}, setting);
  EXPECT_EQ(run.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0022\n") << run.err;
}

TEST_F(HonestPrograms, PrivateDirectoriesAreEmptyAtEveryCall) {
  const std::string command =
      R"(["/bin/sh", "-c", "ls -A /tmp/marks /dev/shm $HOME 2>/dev/null | grep x; touch $HOME/x /dev/shm/x; mkdir -p /tmp/marks; touch /tmp/marks/x; echo end"])";
  EXPECT_EQ(Call(command), "end\n");
  EXPECT_EQ(Call(command), "end\n");
}

TEST_F(HonestPrograms, RelativeProgramIsTheWorkspaceRootsAlsoWithACwd) {
  host_.tree().Script("workspace/bin/t", "#!/bin/sh\necho root; pwd\n");
  host_.tree().Script("workspace/sub/bin/t", "#!/bin/sh\necho sub\n");
  host_.Declare(WarderHost::Tool("t", R"(["./bin/t"])", R"(, "cwd": "sub")"));
  WarderSetting setting;
  setting.directory = "/";
  const WarderRun run =
      host_.Run({"call", "t", "--approve", "allow-all", "--workspace", host_.Workspace()}, setting);
  EXPECT_EQ(run.out, "root\n" + host_.Workspace() + "/sub\n") << run.err;
}

TEST_F(HonestPrograms, UntrustedReviewKeepsWritesOutOfTheWorkspace) {
  host_.tree().Script("workspace/t.sh", "#!/bin/sh\necho x > made && cat made\n");
  host_.Declare(WarderHost::Tool("t", R"(["./t.sh"])"));
  // A host without control groups is refused by the shipped policy, and accepted by the operator's.
  host_.tree().Write("config/policies/review.json", R"({
    "schema": 1, "extends": "untrusted-review", "description": "On any host.",
    "on_missing_cgroup": {"action": "degrade", "reason": "A test."}})");
  const WarderRun run = host_.Run({"call", "t", "--approve", "allow-all", "--policy", "review"});
  EXPECT_EQ(run.out, "x\n") << run.err;
  EXPECT_NE(access((host_.Workspace() + "/made").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace warder
