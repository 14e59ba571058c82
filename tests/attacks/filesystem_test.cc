// Attacks on files that need more than one probe.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/support/attack_scene.h"

namespace warder::testing {
namespace {

namespace fs = std::filesystem;

std::string Bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Files, InheritedDescriptorsStayOutside) {
  const AttackScene scene;
  WarderSetting setting;
  const std::string open = "exec 9<" + scene.host().tree().At("secret") + "; ";
  setting.prefix = {"/bin/sh", "-c", open + "exec \"$@\"", "sh"};
  // The fourth is the listing's own.
  EXPECT_EQ(scene.Outcome("list /proc/self/fd", 0, setting)["stdout"]["text"], "0,1,2,3\n");
  EXPECT_EQ(scene.Outcome("read /proc/self/fd/9", 0, setting)["stdout"]["text"], "ENOENT\n");
  setting.prefix = {"/bin/sh", "-c", open + "exec ./attack 'read /proc/self/fd/9'"};
  EXPECT_EQ(scene.host().Run({}, setting).out, "read /proc/self/fd/9 -> done\n");
}

// Names, kinds, modes, sizes and times of a tree.
std::string Listing(const std::string& root) {
  std::set<std::string> lines;
  const auto add = [&](const fs::path& path) {
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0) return;
    lines.insert(absl::StrCat(path.string(), " ", status.st_mode, " ", status.st_size, " ",
                              status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec));
  };
  add(root);
  for (const auto& entry : fs::recursive_directory_iterator(root)) add(entry.path());
  return absl::StrJoin(lines, "\n");
}

TEST(Files, CallLeavesTheWorkspaceAsItWas) {
  const WarderHost host;
  host.Declare(WarderHost::Tool("nothing", R"(["/bin/true"])"));
  const std::string before = Listing(host.Workspace());
  EXPECT_EQ(host.Run({"call", "nothing", "--approve", "allow-all"}).exit_code, 0);
  EXPECT_EQ(Listing(host.Workspace()), before);
}

TEST(Files, MountsOfTheHostAreTheSameAfterACall) {
  const AttackScene scene;
  const std::string before = Bytes("/proc/self/mountinfo");
  EXPECT_EQ(scene.Outcome("read file")["stdout"]["text"], "done\n");
  EXPECT_EQ(Bytes("/proc/self/mountinfo"), before);
}

TEST(Files, DirectoryThatIsMovedAwayLeadsNowhere) {
  for (const bool confined : {true, false}) {
    const AttackScene scene;
    const TempTree& tree = scene.host().tree();
    tree.Directory("workspace/deep/er");
    const std::string script =
        "cd deep/er; echo ready; n=0; while [ ! -e " + scene.host().Workspace() +
        "/go ] && [ $n -lt 1000 ]; do n=$((n+1)); sleep 0.01; done; cat ../../../secret; "
        "cat ../../secret; echo end";
    WarderSetting setting;
    setting.until = "ready";
    setting.then = [&](pid_t) {
      fs::create_directory(tree.At("moved"));
      fs::rename(tree.At("workspace/deep"), tree.At("moved/deep"));
      tree.Write("workspace/go", "");
    };
    if (!confined) setting.prefix = {"/bin/sh", "-c", script};
    const WarderRun run = scene.host().Run(
        {"exec", "--policy", "default", "--approve", "allow-all", "--", "/bin/sh", "-c", script},
        setting);
    EXPECT_EQ(run.out, confined ? "ready\nend\n" : "ready\nthe secret\nend\n") << run.err;
  }
}

}  // namespace
}  // namespace warder::testing
