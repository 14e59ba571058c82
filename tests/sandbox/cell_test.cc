#include "sandbox/cell.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "tests/support/in_launcher.h"

namespace warder::sandbox {
namespace {

using ::warder::testing::InLauncher;
using ::warder::testing::ReadFileText;
using ::warder::testing::ScratchDirectory;
using ::warder::testing::SmallPolicy;

constexpr unsigned kTestUid = 1'899'999'000;  // below the default range: never a real call's

FileIdentity IdentityOf(const std::string& path, Compare compare) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev,
          status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * 1'000'000'000L + status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec * 1'000'000'000L + status.st_ctim.tv_nsec,
          compare};
}

// Runs `sh -c script` in a cell over `workspace` and returns its output followed by its exit.
std::string RunInCell(const Host& host, const Policy& policy, const std::string& workspace,
                      const std::string& script, Attestation* attestation = nullptr) {
  auto filter = CompileSyscallFilter(policy.syscalls);
  if (!filter.ok()) return "FILTER " + std::string(filter.status().message());
  CellRequest request;
  request.policy = &policy;
  request.filter = &*filter;
  request.host = &host;
  const FileIdentity root = IdentityOf(workspace, Compare::kIdentity);
  request.workspace = WorkspaceSource{workspace, root.device, root.inode};
  request.uid = host.tier == Tier::kRoot ? kTestUid : host.uid;
  request.gid = host.tier == Tier::kRoot ? kTestUid : host.gid;
  auto built = Cell::Build(request);
  if (const auto* failure = std::get_if<SetupFailure>(&built)) return "SETUP " + failure->detail;
  Cell& cell = *std::get<std::unique_ptr<Cell>>(built);
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return "PIPE";
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ProgramRequest program;
  program.argv = {"sh", "-c", script};
  program.environment = {"PATH=/usr/bin:/bin", "HOME=/home/tool"};
  program.cwd = workspace;
  program.cwd_identity = root;
  if (policy.filesystem.workspace == WorkspaceMode::kOverlay)
    program.cwd_identity.compare = Compare::kNothing;
  const std::string shell = "/usr/bin/dash";
  program.files.push_back({shell, -1, IdentityOf(shell, Compare::kContent), false});
  program.stdio = {null.get(), out[1], out[1]};
  if (auto failure = cell.Confine(program); failure.has_value()) return "SETUP " + failure->detail;
  if (attestation != nullptr) *attestation = cell.Prove();
  if (auto failure = cell.Start(); failure.has_value()) return "SETUP " + failure->detail;
  close(out[1]);
  std::string text;
  std::array<char, 4096> buffer = {};
  for (ssize_t size = 0; (size = read(out[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  close(out[0]);
  auto end = cell.tool().Wait();
  if (!end.ok()) return "WAIT " + std::string(end.status().message());
  return text + (end->signaled ? "signal " : "exit ") + std::to_string(end->status);
}

TEST(Cell, ToolRunsAndItsExitCodeComesBack) {
  const ScratchDirectory workspace;
  EXPECT_EQ(InLauncher([&](const Host& host) {
              return RunInCell(host, SmallPolicy(), workspace.path(), "echo hello; exit 33");
            }),
            "hello\nexit 33");
}

TEST(Cell, EveryLayerIsProvenFromOutside) {
  const ScratchDirectory workspace;
  const std::string text = InLauncher([&](const Host& host) {
    Attestation attestation;
    std::string run = RunInCell(host, SmallPolicy(), workspace.path(), "true", &attestation);
    for (const Layer& layer : attestation.layers) {
      run += "\n" + layer.name + ": " + LayerStateName(layer.state) + ": " + layer.proof;
    }
    return run;
  });
  EXPECT_EQ(text.find("absent"), std::string::npos) << text;
  EXPECT_EQ(text.find("not required"), std::string::npos) << text;
  for (const char* layer :
       {"user namespace: enforced", "pid namespace: enforced", "mount namespace: enforced",
        "network namespace: enforced", "ipc namespace: enforced", "uts namespace: enforced",
        "cgroup namespace: enforced", "user id: enforced", "file view: enforced",
        "capabilities: enforced", "no_new_privs: enforced", "seccomp: enforced",
        "landlock: enforced", "resource limits: enforced", "control group: degraded",
        "descriptors: enforced", "session: enforced"}) {
    EXPECT_NE(text.find(layer), std::string::npos) << layer << "\n" << text;
  }
}

std::string RunScript(const ScratchDirectory& workspace, const Policy& policy,
                      const std::string& script) {
  return InLauncher(
      [&](const Host& host) { return RunInCell(host, policy, workspace.path(), script); });
}

TEST(Cell, SignalThatEndsTheToolIsNotAnExitCode) {
  const ScratchDirectory workspace;
  EXPECT_EQ(RunScript(workspace, SmallPolicy(), "kill -TERM $$"), "signal 15");
}

TEST(Cell, ToolIsNotPidOneAndSeesOnlyItsOwnProcesses) {
  const ScratchDirectory workspace;
  EXPECT_EQ(RunScript(workspace, SmallPolicy(),
                      "test $$ -gt 1 && test $(ls -d /proc/[0-9]* | wc -l) -le 6 && echo few"),
            "few\nexit 0");
}

TEST(Cell, HostFilesAreNotThere) {
  const ScratchDirectory workspace;
  EXPECT_EQ(RunScript(workspace, SmallPolicy(),
                      "for f in /etc/shadow /root /boot /sys/kernel /proc/1/environ /dev/kmsg "
                      "/dev/kvm; do cat $f 2>/dev/null && echo $f; done; true"),
            "exit 0");
}

TEST(Cell, WorkspaceIsWritableAndKeepsItsOwner) {
  const ScratchDirectory workspace;
  EXPECT_EQ(RunScript(workspace, SmallPolicy(), "echo made > file"), "exit 0");
  struct stat status = {};
  ASSERT_EQ(stat((workspace.path() + "/file").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, geteuid());
  EXPECT_EQ(ReadFileText(workspace.path() + "/file"), "made\n");
}

TEST(Cell, ReadOnlyWorkspaceCannotBeWritten) {
  const ScratchDirectory workspace;
  Policy policy = SmallPolicy();
  policy.filesystem.workspace = WorkspaceMode::kReadOnly;
  EXPECT_EQ(RunScript(workspace, policy, "(echo x > file) 2>/dev/null; ls"), "exit 0");
}

TEST(Cell, OverlayWorkspaceTakesWritesThatNeverReachTheHost) {
  const ScratchDirectory workspace;
  workspace.Write("old", "old\n");
  Policy policy = SmallPolicy();
  policy.filesystem.workspace = WorkspaceMode::kOverlay;
  EXPECT_EQ(RunScript(workspace, policy,
                      "echo new > old && echo more > file && rm -f gone && cat old file"),
            "new\nmore\nexit 0");
  EXPECT_EQ(ReadFileText(workspace.path() + "/old"), "old\n");
  EXPECT_NE(access((workspace.path() + "/file").c_str(), F_OK), 0);
}

TEST(Cell, ProtectedPathHoldsAgainstWriteAndAgainstRenameOfItsParent) {
  const ScratchDirectory workspace;
  workspace.Write(".git/hooks/pre-commit", "#!/bin/sh\n");
  workspace.Write(".git/config", "[core]\n");
  Policy policy = SmallPolicy();
  policy.filesystem.protect = {{".git/hooks", "test"}, {".git/config", "test"}, {".basis", "test"}};
  EXPECT_EQ(
      RunScript(
          workspace, policy,
          "echo ok > .git/index; (echo x > .git/config) 2>/dev/null || echo config; "
          "touch .git/hooks/x 2>/dev/null || echo hooks; mv .git elsewhere 2>/dev/null || echo mv; "
          "mv .git/hooks h 2>/dev/null || echo mvhooks; rm -rf .git 2>/dev/null; cat .git/config"),
      "config\nhooks\nmv\nmvhooks\n[core]\nexit 0");
  EXPECT_EQ(ReadFileText(workspace.path() + "/.git/config"), "[core]\n");
}

// The link and the directory that it leads to hold; a link in a bind is a kernel matter.
TEST(Cell, ProtectedLinkHoldsWithWhatItLeadsTo) {
  const ScratchDirectory workspace;
  workspace.Write("shared/hooks/old", "old\n");
  workspace.Write(".git/index", "");
  std::filesystem::create_symlink("../shared/hooks", workspace.path() + "/.git/hooks");
  std::filesystem::create_symlink("nowhere", workspace.path() + "/.basis");
  Policy policy = SmallPolicy();
  policy.filesystem.protect = {{".git/hooks", "test"}, {".basis", "test"}};
  EXPECT_EQ(
      RunScript(workspace, policy,
                "exec 2>/dev/null; rm .git/hooks || echo rm; ln -sfn /tmp .git/hooks || echo ln; "
                "mv .git/hooks x || echo mv; mv shared y || echo parent; "
                "(echo x > .git/hooks/new) || echo write; rm .basis || echo dangling; "
                "(echo x > shared/free) && cat .git/hooks/old && readlink .git/hooks"),
      "rm\nln\nmv\nparent\nwrite\ndangling\nold\n../shared/hooks\nexit 0");
  EXPECT_EQ(ReadFileText(workspace.path() + "/shared/free"), "x\n");
}

// A rule must not depend on the order in the file, and protecting must not widen a grant.
TEST(Cell, LongestPathWinsInEveryOrder) {
  const ScratchDirectory workspace;
  workspace.Write("ro/file", "");
  workspace.Write("ro/rw/file", "");
  workspace.Write("ro/rw/keep/file", "");
  workspace.Write("ro/rw/secret/file", "s\n");
  workspace.Write("ro/rw/secret/shown/file", "shown\n");
  const std::string root = workspace.path();
  Policy policy = SmallPolicy();
  std::vector<PathGrant> grants = {{root + "/ro", PathAccess::kRead, false, "t"},
                                   {root + "/ro/rw", PathAccess::kReadWrite, false, "t"},
                                   {root + "/ro/rw/secret/shown", PathAccess::kRead, false, "t"}};
  policy.filesystem.hide = {{root + "/ro/rw/secret", "t"}};
  policy.filesystem.protect = {{"ro/rw/keep", "t"}};
  std::sort(grants.begin(), grants.end(),
            [](const PathGrant& a, const PathGrant& b) { return a.path < b.path; });
  const std::vector<PathGrant> system = policy.filesystem.grants;
  do {
    policy.filesystem.grants = system;
    policy.filesystem.grants.insert(policy.filesystem.grants.begin(), grants.begin(), grants.end());
    EXPECT_EQ(RunScript(workspace, policy,
                        "exec 2>/dev/null; for d in . ro ro/rw ro/rw/keep ro/rw/secret "
                        "ro/rw/secret/shown; do touch $d/new && echo $d; done; "
                        "ls ro/rw/secret; cat ro/rw/secret/file ro/rw/secret/shown/file; true"),
              ".\nro/rw\nshown\nshown\nexit 0");
  } while (std::next_permutation(
      grants.begin(), grants.end(),
      [](const PathGrant& a, const PathGrant& b) { return a.path < b.path; }));
}

TEST(Cell, HiddenPathsAreEmpty) {
  const ScratchDirectory workspace;
  workspace.Write("secret/key", "k");
  workspace.Write("token", "t");
  Policy policy = SmallPolicy();
  policy.filesystem.hide = {{workspace.path() + "/secret", "test"},
                            {workspace.path() + "/token", "test"}};
  EXPECT_EQ(RunScript(workspace, policy, "ls -A secret 2>/dev/null; cat token; echo done"),
            "done\nexit 0");
}

TEST(Cell, ChangedWorkspaceIsRefused) {
  const ScratchDirectory workspace;
  EXPECT_EQ(
      InLauncher([&](const Host& host) -> std::string {
        const Policy policy = SmallPolicy();
        auto filter = CompileSyscallFilter(policy.syscalls);
        if (!filter.ok()) return "FILTER";
        CellRequest request;
        request.policy = &policy;
        request.filter = &*filter;
        request.host = &host;
        request.workspace = WorkspaceSource{workspace.path(), 1, 2};
        request.uid = kTestUid;
        auto built = Cell::Build(request);
        const auto* failure = std::get_if<SetupFailure>(&built);
        return failure == nullptr ? "BUILT" : failure->step + ": " + failure->detail;
      }),
      "plan: " + workspace.path() + ": the workspace is no longer the directory that was shown");
}

TEST(Cell, ChangedProgramIsNotExecuted) {
  const ScratchDirectory workspace;
  const std::string text = InLauncher([&](const Host& host) -> std::string {
    const Policy policy = SmallPolicy();
    auto filter = CompileSyscallFilter(policy.syscalls);
    CellRequest request;
    request.policy = &policy;
    request.filter = &*filter;
    request.host = &host;
    request.uid = host.tier == Tier::kRoot ? kTestUid : host.uid;
    request.gid = host.tier == Tier::kRoot ? kTestUid : host.gid;
    auto built = Cell::Build(request);
    if (!std::holds_alternative<std::unique_ptr<Cell>>(built)) return "SETUP";
    ProgramRequest program;
    program.argv = {"true"};
    program.cwd = "/";
    program.cwd_identity.compare = Compare::kNothing;
    FileIdentity shown = IdentityOf("/usr/bin/true", Compare::kContent);
    shown.ctime_ns += 1;
    program.files.push_back({"/usr/bin/true", -1, shown, false});
    program.stdio = {0, 1, 2};
    auto failure = std::get<std::unique_ptr<Cell>>(built)->Confine(program);
    return failure.has_value() ? failure->step + " " + std::to_string(failure->error) : "CONFINED";
  });
  EXPECT_EQ(text, "open-as-shown " + std::to_string(ESTALE));
}

TEST(Cell, DescendantsDieWithInit) {
  const ScratchDirectory workspace;
  // The shell ends at once; its child holds the output pipe until the cell is destroyed by
  // RunInCell's end.
  EXPECT_EQ(RunScript(workspace, SmallPolicy(),
                      "(trap '' TERM HUP; exec sleep 300 >/dev/null 2>&1) & echo started"),
            "started\nexit 0");
}

TEST(Cell, HostNetworkIsOutOfReachAndLoopbackIsUp) {
  const ScratchDirectory workspace;
  EXPECT_EQ(RunScript(workspace, SmallPolicy(),
                      "sed -n '3,$s/:.*//p' /proc/net/dev | tr -d ' '; python3 -c 'import "
                      "socket;s=socket.create_server((\"127.0.0.1\",0));"
                      "c=socket.create_connection(s.getsockname());print(\"up\")'"),
            "lo\nup\nexit 0");
}

}  // namespace
}  // namespace warder::sandbox
