// What a hostile tool tries, each with its control: the same program, unconfined, has the effect.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sandbox/unique_fd.h"
#include "tests/support/run_warder.h"

namespace warder {
namespace {

using nlohmann::json;
using ::warder::sandbox::UniqueFd;
using ::warder::testing::WarderHost;
using ::warder::testing::WarderRun;
using ::warder::testing::WarderSetting;

// Runs a Python program that prints what it managed to do; "" when it managed nothing.
class Containment : public ::testing::Test {
 protected:
  std::string Unconfined(const std::string& program) {
    const std::string file = host_.tree().Write("control.py", program);
    const std::string command =
        "cd " + host_.Workspace() + " && /usr/bin/python3 " + file + " 2>/dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    char buffer[4096];
    while (fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
    pclose(pipe);
    return text;
  }

  json Outcome(const std::string& program, const WarderSetting& setting = {}) {
    host_.tree().Write("workspace/attack.py", program);
    host_.Declare(WarderHost::Tool("attack", R"(["/usr/bin/python3", "attack.py"])"));
    const WarderRun run =
        host_.Run({"call", "attack", "--approve", "allow-all", "--json"}, setting);
    json outcome = json::parse(run.out, nullptr, false);
    EXPECT_TRUE(outcome.is_object()) << run.out << run.err;
    EXPECT_EQ(outcome.value("ending", ""), "exited") << run.out << run.err;
    return outcome;
  }
  std::string Confined(const std::string& program, const WarderSetting& setting = {}) {
    return Outcome(program, setting)["stdout"].value("text", "no text");
  }

  // The program does something unconfined, and nothing in a cell.
  void ExpectContained(const std::string& attempt) {
    const std::string program =
        "try:\n    " + attempt +
        "\nexcept Exception as fault:\n    import sys; print(fault, file=sys.stderr)\n";
    EXPECT_NE(Unconfined(program), "") << "the control must work: " << attempt;
    EXPECT_EQ(Confined(program), "") << attempt;
  }

  WarderHost host_;
};

TEST_F(Containment, FilesOfTheHostCannotBeRead) {
  const std::string secret = host_.tree().Write("secret", "the secret\n");
  ExpectContained("print(open('" + secret + "').read())");
  if (geteuid() == 0) ExpectContained("print(open('/etc/shadow').read())");
}

TEST_F(Containment, NothingOutsideTheWorkspaceCanBeWritten) {
  const std::string outside = host_.tree().At("planted");
  const std::string program = "open('" + outside + "', 'w').write('x')\n";
  Unconfined(program);
  EXPECT_TRUE(std::filesystem::remove(outside)) << "the control must work";
  // The directory above the workspace exists in the cell, on its own private /tmp: a write there
  // may succeed and goes nowhere.
  Confined("try: " + program + "except OSError: pass\n");
  EXPECT_FALSE(std::filesystem::exists(outside));
  const std::string system =
      "for f in ['/usr/planted', '/etc/planted', '/planted', '/dev/planted', '/var/planted', "
      "'/proc/sys/kernel/core_pattern']:\n"
      "    try: open(f, 'w'); print(f)\n    except OSError: pass\n";
  EXPECT_EQ(Confined(system), "");
}

TEST_F(Containment, SymlinkInTheWorkspaceLeadsNowhere) {
  const std::string secret = host_.tree().Write("secret", "the secret\n");
  host_.tree().Link("workspace/notes", secret);
  ExpectContained("print(open('notes').read())");
}

TEST_F(Containment, ListenerOnTheHostsLoopbackIsOutOfReach) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.get(), 8), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  ExpectContained("import socket; socket.create_connection(('127.0.0.1', " +
                  std::to_string(ntohs(address.sin_port)) + "), 2); print('connected')");
}

TEST_F(Containment, UnixSocketsOfTheHostAreOutOfReach) {
  const std::string path = host_.tree().At("host.sock");
  const std::string abstract_name = "warder-test-" + std::to_string(getpid());
  for (const bool abstract : {false, true}) {
    const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string& name = abstract ? abstract_name : path;
    std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener.get(), 8), 0);
    const std::string target = abstract ? "'\\0" + name + "'" : "'" + path + "'";
    ExpectContained("import socket; socket.socket(socket.AF_UNIX).connect(" + target +
                    "); print('connected')");
  }
}

// A process of the test's own, for attacks on processes.
class Victim {
 public:
  Victim() {
    char name[] = "/usr/bin/sleep";
    char time[] = "300";
    char* argv[] = {name, time, nullptr};
    char* envp[] = {nullptr};
    EXPECT_EQ(posix_spawn(&pid_, name, nullptr, nullptr, argv, envp), 0);
  }
  ~Victim() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_ = 0;
};

TEST_F(Containment, ProcessesOutsideCannotBeSignalled) {
  const Victim victim;
  ExpectContained("import os; os.kill(" + victim.pid() + ", 0); print('signalled')");
}

TEST_F(Containment, ProcessesOutsideCannotBeTraced) {
  const Victim victim;
  // PTRACE_SEIZE, then detach, through libc.
  ExpectContained("import ctypes; l = ctypes.CDLL(None, use_errno=True); r = l.ptrace(0x4206, " +
                  victim.pid() +
                  ", 0, 0)\n    if r != 0: raise OSError(ctypes.get_errno())\n    print('traced')");
}

TEST_F(Containment, ProcessesOutsideCannotBeListed) {
  const Victim victim;
  ExpectContained("import os; print('\\n'.join(p for p in os.listdir('/proc') if p == '" +
                  victim.pid() + "'), end='')");
}

TEST_F(Containment, SupervisorsEnvironmentCannotBeRead) {
  WarderSetting setting;
  setting.environment = {{"WARDER_CANARY", "canary-value"}};
  const std::string program =
      "import os, glob\nfor f in glob.glob('/proc/[0-9]*/environ'):\n    try:\n        d = open(f, "
      "'rb').read()\n"
      "    except OSError: continue\n    if b'canary-value' in d: print(f)\n";
  ASSERT_EQ(setenv("WARDER_CANARY", "canary-value", 1), 0);
  EXPECT_NE(Unconfined(program), "");
  EXPECT_EQ(unsetenv("WARDER_CANARY"), 0);
  EXPECT_EQ(Confined(program, setting), "");
}

bool HostHasProcess(const std::string& marker) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (line.find(marker) != std::string::npos && line.find("python") == std::string::npos)
      return true;
  }
  return false;
}

TEST_F(Containment, Law6ChildThatLeftItsSessionDiesWithTheCall) {
  const std::string marker = "300." + std::to_string(getpid());
  const std::string program = "import os, subprocess\nsubprocess.Popen(['setsid', 'sleep', '" +
                              marker +
                              "'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, "
                              "stderr=subprocess.DEVNULL)\nprint('left')\n";
  EXPECT_EQ(Confined(program), "left\n");
  EXPECT_FALSE(HostHasProcess(marker));
}

TEST_F(Containment, SetUserIdBitNeverLandsInTheWorkspace) {
  ExpectContained(
      "import os; open('s', 'w').close(); os.chmod('s', 0o4755); print('set') if "
      "os.stat('s').st_mode & 0o4000 else None");
}

TEST_F(Containment, NestedNamespacesAndKernelInterfacesAreRefused) {
  const std::string program =
      "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"
      "for name, call in [('unshare', lambda: l.unshare(0x10000000)), ('keyctl', lambda: "
      "l.syscall(250, 0, -3, 1)),\n"
      "                   ('bpf', lambda: l.syscall(321, 0, 0, 0)), ('io_uring', lambda: "
      "l.syscall(425, 1, 0)),\n"
      "                   ('mount', lambda: l.mount(b'x', b'/tmp', b'tmpfs', 0, None))]:\n"
      "    ctypes.set_errno(0)\n    r = call()\n    print(name, ctypes.get_errno() if r < 0 else "
      "'ok')\n";
  EXPECT_EQ(Confined(program), "unshare 1\nkeyctl 1\nbpf 1\nio_uring 38\nmount 1\n");
}

TEST_F(Containment, OutcomeShowsEveryLayerOfTheAttestation) {
  const json outcome = Outcome("print('hello')\n");
  std::string states;
  for (const json& layer : outcome["attestation"]["layers"]) {
    states += layer["name"].get<std::string>() + ": " + layer["state"].get<std::string>() + "\n";
    EXPECT_NE(layer["proof"], "");
  }
  EXPECT_EQ(states,
            "user namespace: enforced\npid namespace: enforced\nmount namespace: enforced\nipc "
            "namespace: enforced\n"
            "uts namespace: enforced\ncgroup namespace: enforced\nnetwork namespace: "
            "enforced\nuser id: enforced\n"
            "file view: enforced\ncapabilities: enforced\nno_new_privs: enforced\nseccomp: "
            "enforced\nlandlock: enforced\n"
            "resource limits: enforced\ncontrol group: degraded\ndescriptors: enforced\nsession: "
            "enforced\n");
  EXPECT_EQ(outcome["attestation"]["tier"], geteuid() == 0 ? "root" : "userns");
}

TEST_F(Containment, InheritedDescriptorsStayOutside) {
  WarderSetting setting;
  const std::string secret = host_.tree().Write("secret", "the secret\n");
  setting.prefix = {"/bin/sh", "-c", "exec 9<" + secret + "; exec \"$@\"", "sh"};
  EXPECT_EQ(Confined("import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd') if "
                     "int(f) < 20)[:4])\n",
                     setting),
            "[0, 1, 2, 3]\n");
  EXPECT_EQ(Confined("import os\ntry: print(os.read(9, 10))\nexcept OSError: pass\n", setting), "");
}

}  // namespace
}  // namespace warder
