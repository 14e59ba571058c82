// AttackScene: a workspace with the attack program in it, and around it what an attack is after.
#ifndef WARDER_TESTS_SUPPORT_ATTACK_SCENE_H_
#define WARDER_TESTS_SUPPORT_ATTACK_SCENE_H_

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/unique_fd.h"
#include "tests/support/run_warder.h"

namespace warder::testing {

class AttackScene {
 public:
  AttackScene();
  ~AttackScene();
  AttackScene(const AttackScene&) = delete;
  AttackScene& operator=(const AttackScene&) = delete;

  const WarderHost& host() const { return host_; }
  // A process outside every cell. Its number is higher than any in a cell of these tests.
  pid_t victim() const { return victim_; }
  bool VictimLives() const;

  // `probe` with the scene's {names} replaced: {secret} a file outside the workspace, {outside} a
  // directory there that must stay empty, {workspace}, {victim}, the ports {tcp}, {tcp6} and {udp},
  // the listening sockets {socket}, {abstract} and, in the workspace, {service}, {fifo}.
  std::string Expand(const std::string& probe) const;

  // Runs the attack program with these probes, in one call; one result for each. Fails the test
  // when the call does not end as it should.
  std::vector<std::string> Confined(const std::vector<std::string>& probes,
                                    const std::string& policy) const;
  // The same without Warder.
  std::vector<std::string> Unconfined(const std::vector<std::string>& probes) const;

  // Runs one probe in the tool's first process and gives the outcome as `--json` prints it.
  // `timeout_ms` 0: the usual limit.
  nlohmann::json Outcome(const std::string& probe, int timeout_ms = 0,
                         const WarderSetting& setting = {}) const;

  // What a confined attack left where it must leave nothing, in words; "" when there is nothing.
  std::string Damage() const;

 private:
  std::string Listen(int family, int type);
  nlohmann::json Call(const nlohmann::json& command, const std::string& policy, int timeout_ms,
                      const WarderSetting& setting) const;

  WarderHost host_;
  pid_t victim_ = -1;
  std::vector<sandbox::UniqueFd> listeners_;
  std::vector<std::pair<std::string, std::string>> names_;  // "{secret}" and its value
};

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_ATTACK_SCENE_H_
