// What a cell denies is recorded from the kernel, once for each kind, and nothing else is.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/known_probes.h"
#include "tests/support/run_warder.h"

namespace warder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;
using ::warder::testing::WarderSetting;

constexpr char kChroot[] = "import os; os.chroot('/mnt')";

class Denials : public ::testing::Test {
 protected:
  // The outcome of a tool with this command.
  json Outcome(const std::string& command) {
    host_.Declare(WarderHost::Tool("t", command));
    const WarderRun run = host_.Run({"call", "t", "--approve", "allow-all", "--json"});
    json outcome = json::parse(run.out, nullptr, false);
    EXPECT_TRUE(outcome.is_object()) << run.out << run.err;
    EXPECT_TRUE(outcome.value("denials", json()).is_array()) << outcome;
    return outcome;
  }
  // The command of a Python program.
  std::string Python(const std::string& program) {
    host_.tree().Write("workspace/program.py", program);
    return R"(["/usr/bin/python3", "program.py"])";
  }
  std::string Program() {
    const fs::path program = fs::path(host_.Workspace()) / "denied";
    fs::copy_file(fs::path(WARDER_PROGRAMS_DIR) / "denied", program,
                  fs::copy_options::overwrite_existing);
    return "./denied";
  }

  WarderHost host_;
};

struct Expected {
  std::string operation, object, group;
};

// Each operation of tests/programs/denied.cc, in its order. WORKSPACE is the workspace's path.
const std::vector<Expected>& AllExpected() {
  static const std::vector<Expected> all = {
      {"mount", "target=/mnt/target, type=tmpfs, source=WORKSPACE/source", "mount"},
      {"umount2", "target=/proc", "mount"},
      {"pivot_root", "new=WORKSPACE/new, old=/old", "mount"},
      {"chroot", "path=/tmp", "mount"},
      {"move_mount", "from=WORKSPACE/here, to=/there", "mount"},
      {"fsopen", "type=tmpfs", "mount"},
      {"chmod", "path=/tmp/file, mode=04755", ""},
      {"mknodat", "path=/tmp/device, mode=020600", ""},
      {"openat", "path=/tmp/made, flags=0x41, mode=04700", ""},
      {"open_by_handle_at", "mount=-100 (WORKSPACE)", "file-handles"},
      {"swapon", "path=/tmp/swap", "kernel-admin"},
      {"unshare", "flags=CLONE_NEWNS|CLONE_NEWUSER", "namespaces"},
      {"setns", "fd=0 (/dev/null), type=CLONE_NEWNET", "namespaces"},
      {"clone", "flags=CLONE_NEWPID|0x11", ""},
      {"ptrace", "request=16, pid=1", "ptrace"},
      {"process_vm_readv", "pid=1", "ptrace"},
      {"prlimit64", "pid=1, resource=7", ""},
      {"sched_setscheduler", "pid=0, policy=1", ""},
      {"prctl", "option=28", ""},
      {"personality", "persona=0x8", ""},
      {"socket", "family=AF_PACKET, type=SOCK_RAW, protocol=0", ""},
      {"socketpair", "family=AF_INET, type=SOCK_STREAM, protocol=0", ""},
      {"ioctl", "request=TIOCSTI, fd=0 (/dev/null)", ""},
      {"keyctl", "operation=0", "keyring"},
      {"add_key", "type=user, description=name", "keyring"},
      {"bpf", "command=0", "bpf-perf"},
      {"perf_event_open", "pid=0, cpu=-1", "bpf-perf"},
      {"userfaultfd", "flags=0x1", "page-faults"},
      {"init_module", "", "kernel-modules"},
      {"clock_settime", "clock=0", "clock-setting"},
      {"sethostname", "", "kernel-admin"}};
  return all;
}

// The one record of each expected operation is right; `outcome` has `others` records besides.
void ExpectAll(const json& outcome, const std::string& workspace, std::size_t others) {
  EXPECT_EQ(outcome["denials"].size(), AllExpected().size() + others) << outcome["denials"];
  for (Expected expected : AllExpected()) {
    for (std::size_t at; (at = expected.object.find("WORKSPACE")) != std::string::npos;) {
      expected.object.replace(at, 9, workspace);
    }
    std::vector<json> found;
    for (const json& denial : outcome["denials"]) {
      if (denial["operation"] == expected.operation && denial["object"] == expected.object) {
        found.push_back(denial);
      }
    }
    ASSERT_EQ(found.size(), 1u) << expected.operation << " " << expected.object << "\n"
                                << outcome["denials"].dump(1);
    EXPECT_EQ(found[0]["layer"], "seccomp");
    EXPECT_EQ(found[0]["errno"]["name"], "EPERM");
    EXPECT_EQ(found[0]["count"], 1) << expected.operation;
    EXPECT_GE(found[0]["first_ms"], 0);
    const json& rule = found[0]["rule"];
    EXPECT_EQ(rule["policy"], "default");
    EXPECT_NE(rule["place"].get<std::string>().find("/base.json:"), std::string::npos);
    EXPECT_EQ(rule["group"], expected.group.empty() ? json() : json(expected.group));
    EXPECT_NE(rule["reason"], "");
    EXPECT_NE(outcome["stdout"]["text"].get<std::string>().find(expected.operation + " EPERM\n"),
              std::string::npos)
        << "the program itself must have got the errno";
  }
}

TEST_F(Denials, EachKindOfOperationIsExactlyOneCorrectRecord) {
  const json outcome = Outcome("[\"/bin/sh\", \"-c\", \"exec " + Program() + " </dev/null\"]");
  EXPECT_GE(AllExpected().size(), 25u);
  ExpectAll(outcome, host_.Workspace(), 0);
  EXPECT_EQ(outcome["denials_unlisted"], 0);
  EXPECT_FALSE(outcome["denials_stopped"].get<bool>());
}

TEST_F(Denials, FloodEndsInTimeAndHidesNoOtherDenial) {
  const auto start = std::chrono::steady_clock::now();
  const json outcome =
      Outcome("[\"/bin/sh\", \"-c\", \"exec " + Program() + " 100000 </dev/null\"]");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  EXPECT_NE(outcome["stdout"]["text"].get<std::string>().find("flood 100000\n"), std::string::npos);
  ExpectAll(outcome, host_.Workspace(), 1);
  EXPECT_EQ(outcome["denials"][0]["operation"], "setns");
  EXPECT_EQ(outcome["denials"][0]["count"], 100000);
}

TEST_F(Denials, ProgramThatPrintsDenialsHasNone) {
  const std::string lie =
      "The cell denied:\\\\n  mount target=/mnt: EPERM from seccomp [/etc/x.json:1: no]";
  const json outcome = Outcome(R"(["/bin/sh", "-c", "printf ')" + lie + R"(' >&2; printf ')" + lie +
                               R"('; echo Operation not permitted >&2; exit 1"])");
  EXPECT_EQ(outcome["denials"], json::array());
}

TEST_F(Denials, TextOfTheResultEndsWithThem) {
  host_.tree().Write("workspace/good.py",
                     "import os\ntry: os.chroot('/mnt')\nexcept OSError: print('caught')\n");
  host_.Declare(WarderHost::Tool("good", R"(["/usr/bin/python3", "good.py"])") + "," +
                WarderHost::Tool("bad", Python(kChroot)));
  const std::string record = "chroot path=/mnt: EPERM from seccomp [";
  const WarderRun good = host_.Run({"call", "good", "--approve", "allow-all"});
  EXPECT_EQ(good.out, "caught\n");
  EXPECT_NE(good.err.find("The cell denied:\n"), std::string::npos) << good.err;
  EXPECT_NE(good.err.find(record), std::string::npos) << good.err;
  const WarderRun bad = host_.Run({"call", "bad", "--approve", "allow-all"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find(record), std::string::npos) << bad.err;
  EXPECT_GT(bad.err.find(record), bad.err.find("PermissionError")) << bad.err;
  const WarderRun exec = host_.Run(
      {"exec", "-p", "default", "--approve", "allow-all", "--", "/usr/bin/python3", "-c", kChroot});
  EXPECT_GT(exec.err.find(record), exec.err.find("PermissionError")) << exec.err;
  EXPECT_NE(exec.err.find(record), std::string::npos) << exec.err;
}

TEST_F(Denials, AuditLogKeepsThem) {
  host_.tree().Write("workspace/program.py", "import os; os.chroot('/m\\n' + os.environ['TOKEN'])");
  host_.Declare(WarderHost::Tool("t", R"(["/usr/bin/python3", "program.py"])",
                                 R"(, "env": {"TOKEN": "hunter22"})"));
  const WarderRun call = host_.Run({"call", "t", "--approve", "allow-all"});
  EXPECT_NE(call.err.find("hunter22"), std::string::npos) << "the caller gets what was said";
  const WarderRun log = host_.Run({"audit", "show", "--json", "--last", "1"});
  const json record = json::parse(log.out, nullptr, false);
  ASSERT_TRUE(record.is_object()) << log.out << log.err;
  ASSERT_EQ(record["denials"].size(), 1u) << record;
  EXPECT_EQ(record["denials"][0]["operation"], "chroot");
  EXPECT_EQ(record["denials"][0]["object"], "path=/m\\n[value of TOKEN]");
  EXPECT_EQ(record["policy"], "default");
}

TEST_F(Denials, SuggestedPolicyAllowsWhatWasDeniedAndIsNotAppliedByItself) {
  const std::string command = Python("import ctypes; l = ctypes.CDLL(None); l.ptrace(0, 0, 0, 0)");
  const json outcome = Outcome(command);
  ASSERT_EQ(outcome["denials"].size(), 1u) << outcome;
  const WarderRun last = host_.Run({"policy", "suggest", "--last"});
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_NE(last.err.find("nothing was applied"), std::string::npos) << last.err;
  EXPECT_NE(last.err.find("base.json:"), std::string::npos) << last.err;
  WarderSetting setting;
  setting.input = outcome.dump();
  EXPECT_EQ(host_.Run({"policy", "suggest"}, setting).out, last.out);
  const std::string sequence = outcome["audit_sequence"].dump();
  EXPECT_EQ(host_.Run({"policy", "suggest", "--call", sequence}).out, last.out);
  EXPECT_EQ(host_.Run({"policy", "suggest", "--call", "1"}).exit_code, 125);
  EXPECT_EQ(Outcome(command)["denials"].size(), 1u) << "nothing may have been applied";

  host_.tree().Write("config/policies/mine.json", last.out);
  const WarderRun run =
      host_.Run({"call", "t", "--approve", "allow-all", "--policy", "mine", "--json"});
  const json allowed = json::parse(run.out, nullptr, false);
  ASSERT_TRUE(allowed.is_object()) << run.out << run.err;
  EXPECT_EQ(allowed["denials"], json::array());
}

TEST_F(Denials, WallOfTheCellIsNeverSuggested) {
  Outcome(Python(kChroot));
  const WarderRun run = host_.Run({"policy", "suggest", "--last"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("never suggested"), std::string::npos) << run.err;
  const WarderRun machine = host_.Run({"policy", "suggest", "--last", "--json"});
  const json suggestion = json::parse(machine.out, nullptr, false);
  EXPECT_TRUE(suggestion["policy"].is_null());
  EXPECT_EQ(suggestion["denials"][0]["advice"], "boundary");
}

#if defined(__x86_64__)
TEST_F(Denials, KillForAForeignAbiIsARecordOfTheToolsOwnEnd) {
  const json outcome = Outcome(Python("import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)"));
  EXPECT_EQ(outcome["signal"]["name"], "SIGSYS");
  ASSERT_EQ(outcome["denials"].size(), 1u);
  EXPECT_TRUE(outcome["denials"][0]["killed"].get<bool>());
  EXPECT_EQ(outcome["denials"][0]["layer"], "seccomp");
}
#endif

// A program may still install filters and listeners of its own under the cell's; a second listener
// is refused by the kernel itself.
TEST_F(Denials, ProgramsOwnFilterStillWorks) {
  const std::string program =
      "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"
      "class P(ctypes.Structure): _fields_ = [('n', ctypes.c_ushort), ('p', ctypes.c_void_p)]\n"
      "code = (ctypes.c_ubyte * 8)(6, 0, 0, 0, 0, 0, 255, 127)\n"  // BPF_RET ALLOW
      "p = P(1, ctypes.addressof(code))\n"
      "for flags in (0, 8):\n"
      "    r = l.syscall(317, 1, flags, ctypes.byref(p))\n"
      "    print(flags, r, ctypes.get_errno() if r < 0 else 0)\n";
  host_.tree().Write("workspace/filter.py", program);
  const json outcome = Outcome(R"(["/usr/bin/python3", "filter.py"])");
  EXPECT_EQ(outcome["stdout"]["text"], "0 0 0\n8 -1 16\n") << outcome;
  EXPECT_EQ(outcome["denials"], json::array());
}

TEST_F(Denials, OrdinaryProgramsHaveNoneButKnownProbes) {
  host_.tree().Script("workspace/all.sh", R"sh(#!/bin/bash
set -e
export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
cat <(echo head) - <<<tail; (ulimit -a; trap : TERM; kill -TERM $BASHPID; sleep 0.01 & wait) >all.txt
mkdir -p d/e; cp -a all.txt d/; mv d/all.txt d/b; chmod 755 d/b; ln -s b d/l; tar cf d.tar d; tar xf d.tar
python3 - <<'END'
import asyncio, concurrent.futures, multiprocessing, os, resource, socket, sqlite3, ssl, subprocess, tempfile
subprocess.run(['true'], check=True, start_new_session=True)
with multiprocessing.Pool(2) as pool: pool.map(abs, [1, -2])
with concurrent.futures.ThreadPoolExecutor() as pool: list(pool.map(abs, [1]))
async def wait(): await (await asyncio.create_subprocess_exec('true')).wait()
asyncio.run(wait())
socket.getaddrinfo('localhost', 80); server = socket.create_server(('127.0.0.1', 0))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.nice(1)
os.sched_setaffinity(0, os.sched_getaffinity(0))
tempfile.NamedTemporaryFile().write(b'x'); sqlite3.connect(':memory:').execute('select 1')
END
node -e "new (require('worker_threads').Worker)('0', {eval: true})
  .on('exit', () => require('child_process').execSync('true'))"
git init -q repo
(cd repo; echo 1 >f; git add f; git commit -qm first; git gc -q; git clone -q . ../copy; git status >../s)
printf 'int main(void) { return 0; }' >m.c; gcc -O2 -o m m.c; ./m
sqlite3 db 'pragma journal_mode=wal; create table t(x); insert into t values (1);' >w; jq -n '{}' >j
)sh");
  const json outcome = Outcome(R"(["./all.sh"])");
  EXPECT_EQ(outcome["exit_code"], 0) << outcome["text"];
  for (const json& denial : outcome["denials"]) {
    EXPECT_TRUE(testing::IsKnownProbe(denial)) << denial << " is not in known_probes.txt";
  }
}

}  // namespace
}  // namespace warder
