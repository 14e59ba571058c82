// Each limit, with its control: the same program without the limit does what it wants.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_warder.h"

namespace warder {
namespace {

using nlohmann::json;
using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;

// Every bomb is bounded by itself.
constexpr char kTouch128MiB[] = "x = bytearray(128 << 20); print(len(x))";
constexpr char kStart40[] =
    "import subprocess\n"
    "children = [subprocess.Popen(['/bin/sleep', '5']) for _ in range(40)]\n"
    "[child.kill() for child in children]; print(len(children))";

class Limits : public ::testing::Test {
 protected:
  // Calls a Python program under `default` with `limits`, such as R"("processes": 12)".
  json Call(const std::string& program, const std::vector<std::pair<std::string, long>>& limits) {
    json policy = {{"schema", 1}, {"extends", "default"}, {"description", "A test's."}};
    for (const auto& [name, max] : limits) {
      policy["limits"][name] = {{"max", max}, {"reason", "test"}};
    }
    host_.tree().Write("config/policies/tight.json", policy.dump());
    host_.tree().Write("workspace/bomb.py", program);
    host_.Declare(WarderHost::Tool("bomb", R"(["/usr/bin/python3", "bomb.py"])"));
    const WarderRun run =
        host_.Run({"call", "bomb", "--approve", "allow-all", "--policy", "tight", "--json"});
    json outcome = json::parse(run.out, nullptr, false);
    EXPECT_TRUE(outcome.is_object()) << run.out << run.err;
    if (!outcome.is_object()) return {{"ending", "none"}};
    EXPECT_EQ(outcome.value("exit_code", -1), run.exit_code);
    return outcome;
  }
  json Free(const std::string& program) { return Call(program, {}); }

  static std::string Text(const json& outcome) { return outcome["stdout"].value("text", ""); }
  static json Layer(const json& outcome, const std::string& name) {
    for (const json& layer : outcome["attestation"]["layers"]) {
      if (layer["name"] == name) return layer;
    }
    return {{"state", "none"}, {"proof", ""}};
  }
  // Where no group bounds the whole cell, that is said, with the way to get one.
  static bool HasGroup(const json& outcome) {
    const json layer = Layer(outcome, "control group");
    if (layer["state"] == "enforced") return true;
    EXPECT_EQ(layer["state"], "degraded") << layer;
    EXPECT_NE(layer.value("proof", "").find("Delegate=yes"), std::string::npos) << layer;
    return false;
  }

  WarderHost host_;
};

TEST_F(Limits, PoliciesForStrangersRefuseHostsThatCannotBoundAWholeCell) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/echo", "ran"])"));
  for (const char* policy : {"ci-runner", "agent-host", "untrusted-review"}) {
    const WarderRun run =
        host_.Run({"call", "t", "--approve", "allow-all", "--policy", policy, "--json"});
    const json outcome = json::parse(run.out, nullptr, false);
    ASSERT_TRUE(outcome.is_object()) << run.out << run.err;
    if (Layer(outcome, "control group")["state"] == "enforced") {
      EXPECT_EQ(Text(outcome), "ran\n") << policy;
    } else {
      EXPECT_EQ(outcome["refusal"]["code"], "sandbox_unavailable") << outcome;
      EXPECT_NE(outcome["refusal"].value("reason", "").find("Delegate=yes"), std::string::npos);
    }
  }
}

TEST_F(Limits, MemoryOfTheCellEndsTheCallAndNamesTheLimit) {
  EXPECT_EQ(Text(Free(kTouch128MiB)), "134217728\n") << "the control must work";
  const json outcome = Call(kTouch128MiB, {{"memory_bytes", 64 << 20}});
  EXPECT_EQ(Text(outcome), "");
  if (HasGroup(outcome)) {
    EXPECT_EQ(outcome["ending"], "memory_limit") << outcome;
    EXPECT_EQ(outcome["exit_code"], 137);
    EXPECT_NE(outcome.value("text", "").find("memory limit"), std::string::npos);
    EXPECT_NE(Layer(outcome, "control group").value("proof", "").find("memory 67108864 bytes"),
              std::string::npos);
  } else {
    EXPECT_EQ(outcome["ending"], "exited") << outcome;  // Python's MemoryError
    EXPECT_NE(outcome["code"], 0);
  }
}

TEST_F(Limits, MemoryLimitIsOfTheSumAndEndsAllOfTheCell) {
  // Four processes that hold memory at the same time, none of them above the limit; the parent
  // would go on without them.
  const std::string program =
      "import subprocess, sys\n"
      "bomb = 'import sys; x = bytearray(24 << 20); print(flush=True); sys.stdin.read()'\n"
      "children = [subprocess.Popen([sys.executable, '-c', bomb], stdin=subprocess.PIPE,\n"
      "                             stdout=subprocess.PIPE) for _ in range(4)]\n"
      "print('went on', [child.stdout.readline() for child in children])";
  const json outcome = Call(program, {{"memory_bytes", 64 << 20}});
  if (!HasGroup(outcome)) return;  // each process is within its own limit
  EXPECT_EQ(outcome["ending"], "memory_limit") << outcome;
  EXPECT_EQ(Text(outcome), "");
}

TEST_F(Limits, ProcessesOfTheCellAreCountedAndTheRefusalIsTheReason) {
  EXPECT_EQ(Text(Free(kStart40)), "40\n") << "the control must work";
  const json outcome = Call(kStart40, {{"processes", 12}});
  EXPECT_EQ(Text(outcome), "");
  EXPECT_EQ(outcome["ending"], HasGroup(outcome) ? "process_limit" : "exited") << outcome;
}

TEST_F(Limits, AToolThatCopesWithARefusedForkHasSucceeded) {
  const json outcome = Call(
      "import subprocess\nchildren = []\n"
      "try:\n    for _ in range(40): children.append(subprocess.Popen(['/bin/sleep', '5']))\n"
      "except OSError as fault: print(fault.errno, 1 <= len(children) <= 12)\n"
      "[child.kill() for child in children]",
      {{"processes", 12}});
  EXPECT_EQ(outcome["ending"], "exited") << outcome;
  EXPECT_EQ(Text(outcome), "11 True\n");  // EAGAIN
}

TEST_F(Limits, ProcessorTimeOfTheToolEndsTheCall) {
  const json outcome = Call("while True: pass", {{"cpu_ms", 300}});
  EXPECT_EQ(outcome["ending"], "cpu_limit") << outcome;
  EXPECT_EQ(outcome["exit_code"], 137);
}

TEST_F(Limits, ProcessorTimeOfTheTreeEndsTheCallThoughNoProcessUsesMuch) {
  // A chain of short processes: no single one comes near a limit of its own.
  const std::string program =
      "import subprocess, sys, time\n"
      "end = time.monotonic() + 8\n"
      "spin = 'import time; end = time.process_time() + 0.1\\nwhile time.process_time() < end: "
      "pass'\n"
      "while time.monotonic() < end: subprocess.run([sys.executable, '-S', '-c', spin])\n"
      "print('went on')";
  const json outcome = Call(program, {{"cpu_ms", 600}});
  const std::string proof = Layer(outcome, "control group").value("proof", "");
  if (proof.find("processor time counted") == std::string::npos) {
    EXPECT_NE(outcome["ending"], "cpu_limit");
    return;
  }
  EXPECT_EQ(outcome["ending"], "cpu_limit") << outcome;
}

TEST_F(Limits, OpenFilesEndWithTheErrnoThatTheProgramSees) {
  const std::string program =
      "files = []\n"
      "try:\n    for _ in range(200): files.append(open('/dev/null'))\n"
      "except OSError as fault: print(fault.errno)\n"
      "print(len(files) == 200)";
  EXPECT_EQ(Text(Free(program)), "True\n") << "the control must work";
  EXPECT_EQ(Text(Call(program, {{"open_files", 64}})), "24\nFalse\n");  // EMFILE
}

TEST_F(Limits, TheHostsOwnLowerLimitHoldsAndIsNamed) {
  host_.Declare(WarderHost::Tool("t", R"(["/bin/sh", "-c", "ulimit -Hn"])"));
  ::warder::testing::WarderSetting setting;
  setting.prefix = {"/bin/sh", "-c", "ulimit -n 700; exec \"$@\"", "sh"};
  const WarderRun run = host_.Run({"call", "t", "--approve", "allow-all", "--json"}, setting);
  const json outcome = json::parse(run.out, nullptr, false);
  ASSERT_TRUE(outcome.is_object()) << run.out << run.err;
  EXPECT_EQ(Text(outcome), "700\n") << outcome;
  const std::string proof = Layer(outcome, "resource limits").value("proof", "");
  EXPECT_NE(proof.find("the host's own Max open files 700"), std::string::npos) << proof;
}

TEST_F(Limits, FileSizeEndsWithItsSignalAndTheTextSaysWhy) {
  const std::string program =
      "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
      "with open('big', 'wb') as file:\n"
      "    for _ in range(4): os.write(file.fileno(), bytes(1 << 20))\n"
      "print(os.path.getsize('big'))";
  EXPECT_EQ(Text(Free(program)), "4194304\n") << "the control must work";
  const json outcome = Call(program, {{"file_bytes", 1 << 20}});
  EXPECT_EQ(outcome["ending"], "signaled") << outcome;
  EXPECT_EQ(outcome["signal"]["name"], "SIGXFSZ");
  EXPECT_NE(outcome.value("text", "").find("outgrow"), std::string::npos) << outcome["text"];
}

TEST_F(Limits, PrivateDirectoryIsFullAtItsSize) {
  const std::string program =
      "import os\n"
      "try:\n    open('/tmp/big', 'wb').write(bytes(4 << 20)); print('written')\n"
      "except OSError as fault: print(fault.errno)";
  EXPECT_EQ(Text(Free(program)), "written\n") << "the control must work";
  EXPECT_EQ(Text(Call(program, {{"disk_bytes", 1 << 20}})), "28\n");  // ENOSPC
}

TEST_F(Limits, PrivateDirectoryIsFullAtItsNumberOfFiles) {
  const std::string program =
      "import os\n"
      "for place in ['/tmp', os.environ['HOME'], '/dev/shm']:\n"
      "    try:\n"
      "        for i in range(300): open(place + '/%d' % i, 'w').close()\n"
      "        print('all')\n"
      "    except OSError as fault: print(fault.errno, 90 <= i <= 100)";
  EXPECT_EQ(Text(Free(program)), "all\nall\nall\n") << "the control must work";
  EXPECT_EQ(Text(Call(program, {{"disk_inodes", 100}})), "28 True\n28 True\n28 True\n");
}

TEST_F(Limits, OutputBeyondTheLimitEndsTheCall) {
  const std::string program =
      "import os, sys, time\n"
      "for _ in range(40): os.write(1, bytes(50000)); os.write(2, bytes(50000))\n";
  EXPECT_EQ(Free(program)["ending"], "exited") << "the control must work";
  const json outcome = Call(program, {{"output_bytes", 1'000'000}});
  EXPECT_EQ(outcome["ending"], "output_limit") << outcome["text"];
  EXPECT_EQ(outcome["exit_code"], 137);
  // One that never ends by itself.
  const json endless = Call("import os\nwhile True: os.write(1, b'y' * 4096)",
                            {{"output_bytes", 1'000'000}, {"stdout_bytes", 1000}});
  EXPECT_EQ(endless["ending"], "output_limit") << endless["text"];
  EXPECT_EQ(endless["stdout"]["truncated"], true);
}

TEST_F(Limits, NothingOfTheHostsControlGroupsIsSeenInside) {
  const json outcome = Free(
      "import glob\n"
      "lines = [line for name in glob.glob('/proc/[0-9]*/cgroup') for line in open(name)]\n"
      "print(len(lines) > 0, {line.rstrip().split(':')[2] for line in lines})\n"
      "print(glob.glob('/sys/fs/cgroup*'))");
  EXPECT_EQ(Text(outcome), "True {'/'}\n[]\n");
}

TEST_F(Limits, SignalsThatWarderHandlesAreNotIgnoredInTheTool) {
  host_.Declare(WarderHost::Tool("signals", R"(["/bin/grep", "SigIgn", "/proc/self/status"])"));
  EXPECT_EQ(host_.Run({"call", "signals", "--approve", "allow-all"}).out,
            "SigIgn:\t0000000000000000\n");
}

}  // namespace
}  // namespace warder
