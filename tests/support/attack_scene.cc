#include "tests/support/attack_scene.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/support/in_child.h"

namespace warder::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using sandbox::UniqueFd;

constexpr const char* kAttackProgram = WARDER_PROGRAMS_DIR "/attack";
// Cells number their processes from 1, and no attack starts more than this.
constexpr pid_t kHighestPidInACell = 2000;

// Grants beyond the shipped policy, for attacks on what an operator shares.
constexpr const char* kSharingPolicy = R"({
  "schema": 1, "extends": "default", "description": "For tests: shares a file that only root may read.",
  "filesystem": {"read": [{"paths": ["/etc/shadow"], "reason": "The attack needs it in view."}]}
})";

std::string Bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

pid_t StartVictim() {
  for (;;) {
    const pid_t pid = StartChild([] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
      return 0;
    });
    if (pid > kHighestPidInACell) return pid;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

UniqueFd ListenUnix(const std::string& name, bool abstract) {
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener.get(), 8), 0);
  return listener;
}

// The results in what the attack program printed: "PROBE -> RESULT" a line.
std::vector<std::string> Results(const std::string& out, const std::vector<std::string>& probes) {
  std::vector<std::string> results;
  std::istringstream stream(out);
  std::string line;
  for (const std::string& probe : probes) {
    const bool there =
        static_cast<bool>(std::getline(stream, line)) && absl::StartsWith(line, probe + " -> ");
    EXPECT_TRUE(there) << "expected a result of: " << probe << "\nin: " << out;
    results.push_back(there ? line.substr(probe.size() + 4) : "no result");
  }
  return results;
}

}  // namespace

AttackScene::AttackScene() : victim_(StartVictim()) {
  const TempTree& tree = host_.tree();
  names_ = {{"{secret}", tree.Write("secret", "the secret\n")},
            {"{outside}", tree.Directory("outside")},
            {"{workspace}", host_.Workspace()},
            {"{victim}", std::to_string(victim_)},
            {"{fifo}", tree.At("fifo")},
            {"{socket}", tree.At("socket")},
            {"{service}", tree.At("workspace/service")},
            {"{abstract}", absl::StrCat("warder-attack-", ::getpid(), "-", victim_)}};
  for (const auto& [name, value] : names_) {
    if (name == "{socket}" || name == "{service}") listeners_.push_back(ListenUnix(value, false));
    if (name == "{abstract}") listeners_.push_back(ListenUnix(value, true));
  }
  names_.emplace_back("{tcp}", Listen(AF_INET, SOCK_STREAM));
  names_.emplace_back("{tcp6}", Listen(AF_INET6, SOCK_STREAM));
  names_.emplace_back("{udp}", Listen(AF_INET, SOCK_DGRAM));
  ListenUnix(tree.At("workspace/abandoned"), false);  // and closed at once
  EXPECT_EQ(::mkfifo(tree.At("fifo").c_str(), 0666), 0);
  EXPECT_EQ(::mkfifo(tree.At("workspace/pipe").c_str(), 0666), 0);
  fs::copy_file(kAttackProgram, tree.At("workspace/attack"));
  tree.Write("workspace/file", "content\n");
  tree.Write("workspace/.git/config", "[core]\n");
  tree.Write("workspace/.git/hooks/sample", "#!/bin/sh\n");
  tree.Write("workspace/.git/planted", "#!/bin/sh\n");
  tree.Write("workspace/.git/other", "[core]\n");
  tree.Write("workspace-secret/file", "the secret\n");
  tree.Link("workspace/link", tree.At("secret"));
  tree.Link("workspace/escape", tree.At("outside/by-link"));
  tree.Write("config/policies/sharing.json", kSharingPolicy);
}

AttackScene::~AttackScene() {
  ::kill(victim_, SIGKILL);
  ::waitpid(victim_, nullptr, 0);
}

std::string AttackScene::Listen(int family, int type) {
  sockaddr_storage storage = {};
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  socklen_t size = 0;
  if (family == AF_INET) {
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof in;
    std::memcpy(&storage, &in, size);
  } else {
    sockaddr_in6 in = {};
    in.sin6_family = AF_INET6;
    in.sin6_addr = in6addr_loopback;
    size = sizeof in;
    std::memcpy(&storage, &in, size);
  }
  UniqueFd listener(::socket(family, type | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(listener.get(), address, size), 0);
  EXPECT_TRUE(type != SOCK_STREAM || ::listen(listener.get(), 8) == 0);
  EXPECT_EQ(::getsockname(listener.get(), address, &size), 0);
  listeners_.push_back(std::move(listener));
  // The port stands at the same place in both forms of address.
  std::uint16_t port = 0;
  std::memcpy(&port, reinterpret_cast<char*>(&storage) + offsetof(sockaddr_in, sin_port), 2);
  return std::to_string(ntohs(port));
}

bool AttackScene::VictimLives() const {
  siginfo_t ended = {};
  return ::waitid(P_PID, static_cast<id_t>(victim_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

std::string AttackScene::Expand(const std::string& probe) const {
  return absl::StrReplaceAll(probe, names_);
}

json AttackScene::Call(const json& command, const std::string& policy, int timeout_ms,
                       const WarderSetting& setting) const {
  const std::string limit = timeout_ms == 0 ? "" : absl::StrCat(", \"timeout_ms\": ", timeout_ms);
  host_.Declare(WarderHost::Tool("attack", command.dump(), limit));
  const WarderRun run = host_.Run(
      {"call", "attack", "--approve", "allow-all", "--json", "--policy", policy}, setting);
  json outcome = json::parse(run.out, nullptr, false);
  EXPECT_TRUE(outcome.is_object() && outcome.contains("stdout")) << run.out << run.err;
  return outcome;
}

std::vector<std::string> AttackScene::Confined(const std::vector<std::string>& probes,
                                               const std::string& policy) const {
  json command = json::array({"./attack"});
  for (const std::string& probe : probes) command.push_back(probe);
  const json outcome = Call(command, policy, 0, {});
  EXPECT_EQ(outcome.value("ending", ""), "exited") << outcome;
  return Results(outcome["stdout"].value("text", ""), probes);
}

json AttackScene::Outcome(const std::string& probe, int timeout_ms,
                          const WarderSetting& setting) const {
  return Call({"./attack", "--here", probe}, "default", timeout_ms, setting);
}

std::vector<std::string> AttackScene::Unconfined(const std::vector<std::string>& probes) const {
  WarderSetting setting;
  // Warder's own words follow the shell's; it looks at none of them.
  setting.prefix = {"/bin/sh", "-c", "exec ./attack '" + absl::StrJoin(probes, "' '") + "'"};
  return Results(host_.Run({}, setting).out, probes);
}

std::string AttackScene::Damage() const {
  std::string damage;
  for (const auto& entry : fs::directory_iterator(host_.tree().At("outside"))) {
    damage += "planted outside: " + entry.path().string() + "\n";
  }
  for (const auto& entry : fs::recursive_directory_iterator(host_.Workspace())) {
    struct stat status = {};
    if (::lstat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        (status.st_mode & S_ISUID) != 0)
      damage += "set-user-id: " + entry.path().string() + "\n";
  }
  if (Bytes(host_.tree().At("workspace/attack")) != Bytes(kAttackProgram))
    damage += "the program's file was changed\n";
  if (Bytes(host_.tree().At("secret")) != "the secret\n") damage += "the secret was changed\n";
  if (!VictimLives()) damage += "the process outside was ended\n";
  return damage;
}

}  // namespace warder::testing
