// Attacks on the network and on terminals that need more than one probe.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/attack_scene.h"

namespace warder::testing {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

TEST(Network, VariablesOfAgentsAndActivationDoNotPass) {
  const WarderHost host;
  host.Declare(WarderHost::Tool("env", R"(["/usr/bin/env"])"));
  WarderSetting setting;
  for (const char* name :
       {"LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST", "GPG_AGENT_INFO", "XDG_RUNTIME_DIR", "WARDER_CANARY"}) {
    setting.environment.emplace_back(name, "canary");
  }
  setting.environment.emplace_back("LANG", "C.UTF-8");
  const WarderRun run = host.Run({"call", "env", "--approve", "allow-all"}, setting);
  EXPECT_NE(run.out.find("LANG=C.UTF-8\n"), std::string::npos) << run.out << run.err;
  EXPECT_EQ(run.out.find("canary"), std::string::npos) << run.out;
}

// One listens on loopback, on an abstract name and on a queue; another looks for all three.
TEST(Network, TwoCallsDoNotMeet) {
  for (const bool confined : {true, false}) {
    const AttackScene server, client;
    // Below the ports that the kernel gives to others.
    const std::string port = std::to_string(10000 + server.victim() % 20000);
    const std::string name = absl::StrCat("warder-meeting-", server.victim());
    const std::string key = std::to_string(server.victim());
    const std::string serve = absl::StrCat("serve ", port, " ", name, " ", key, " go");
    const Words look = {"tcp 127.0.0.1 " + port, "abstract " + name, "queue " + key};
    Words seen;
    WarderSetting setting;
    setting.until = "ready";
    setting.then = [&](pid_t) {
      seen = confined ? client.Confined(look, "default") : client.Unconfined(look);
      server.host().tree().Write("workspace/go", "");
    };
    if (!confined) setting.prefix = {"/bin/sh", "-c", "exec ./attack --here '" + serve + "'"};
    const WarderRun run = server.host().Run({"exec", "--policy", "default", "--approve",
                                             "allow-all", "--", "./attack", "--here", serve},
                                            setting);
    EXPECT_EQ(run.out, "ready\ndone\n") << run.err;
    EXPECT_EQ(seen, confined ? (Words{"ECONNREFUSED", "ECONNREFUSED", "ENOENT"})
                             : (Words{"done", "done", "done"}));
  }
}

TEST(Terminal, OfTheSupervisorCannotBeOpened) {
  const AttackScene scene;
  WarderSetting setting;
  const std::string at_a_terminal = "import pty, sys; pty.spawn(sys.argv[1:])";
  setting.prefix = {"/usr/bin/python3", "-c", at_a_terminal};
  EXPECT_EQ(scene.Outcome("open-for-writing /dev/tty", 0, setting)["stdout"]["text"], "ENXIO\n");
  setting.prefix = {"/usr/bin/python3", "-c", at_a_terminal, "./attack",
                    "open-for-writing /dev/tty"};
  const std::string control = scene.host().Run({}, setting).out;
  EXPECT_TRUE(control.starts_with("open-for-writing /dev/tty -> done")) << control;
}

}  // namespace
}  // namespace warder::testing
