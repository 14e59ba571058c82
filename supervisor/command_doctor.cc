// warder doctor: tries everything that a call needs, by doing it, and says how to mend what is
// missing.
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "approval/approvers.h"
#include "sandbox/remedy.h"
#include "supervisor/choose_approver.h"
#include "supervisor/commands.h"
#include "supervisor/console.h"
#include "supervisor/embedded.h"
#include "supervisor/outcome.h"

namespace warder::supervisor {
namespace {

using manifest::Json;
using sandbox::Layer;
using sandbox::LayerState;

constexpr char kTrialProgram[] = "/bin/true";

// A workspace that nobody else knows, so that the trial does not depend on where the command was
// typed.
class ScratchWorkspace {
 public:
  ScratchWorkspace() {
    std::error_code error;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
    path_ = ((error ? "/tmp" : temporary) / "warder-doctor-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~ScratchWorkspace() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchWorkspace(const ScratchWorkspace&) = delete;
  ScratchWorkspace& operator=(const ScratchWorkspace&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Examination {
  std::string policy;
  std::vector<std::pair<std::string, std::string>> places;
  std::vector<Layer> layers;
  std::string terminal, trial;
  std::vector<std::string> problems;
  Json trial_outcome;

  void Problem(const absl::Status& status) {
    if (!status.ok()) problems.emplace_back(status.message());
  }
};

std::string Version() {
  utsname name{};
  ::uname(&name);
  return absl::StrFormat("Warder %s on %s %s (%s), user id %d", WARDER_VERSION, name.sysname,
                         name.release, name.machine, ::getuid());
}

void ExaminePlaces(const manifest::Config& config, Examination* found) {
  const auto add = [found](const char* what, const std::string& path, const char* when_absent) {
    std::error_code error;
    const bool there = std::filesystem::exists(path, error);
    found->places.emplace_back(what, there ? path : path + " " + when_absent);
  };
  add("configuration", config.config_dir, "(not there: shipped policies and bindings apply)");
  add("shipped files", config.share_dir,
      "(NOT THERE: reinstall, or run the binary where it was built)");
  add("audit log", AuditPath(config), "(not there yet)");
  add("runtime files", config.runtime_dir, "(not there yet)");
}

void ExamineApprovers(const manifest::Config& config, Examination* found) {
  const auto terminal = approval::MakeTerminalApprover("/dev/tty");
  found->terminal = terminal.ok() ? "/dev/tty: calls are asked there"
                                  : "none: calls need --approve rules:FILE or program:/PATH";
  const auto rules = LoadRules(config, std::nullopt);
  found->Problem(rules.status());
  if (rules.ok()) {
    found->places.emplace_back("operator's rules", absl::StrFormat("%d", rules->rules().size()));
  }
}

// Runs the trial program as a call like any other: prepared, decided, recorded, confined.
void ExamineByRunning(Embedded* embedded, Examination* found) {
  CallRequest request;
  request.command = {kTrialProgram};
  request.policy = found->policy;
  const auto requester = ThisRequester("cli doctor");
  if (!requester.ok()) return found->Problem(requester.status());
  request.requester = *requester;
  embedded->DecideBy(approval::MakeAllowAll());
  const auto result = embedded->Call(std::move(request));
  if (!result.ok()) return found->Problem(result.status());
  const Outcome& outcome = result->outcome;
  found->Problem(result->recorded);
  found->trial = OutcomeText(outcome);
  found->trial_outcome = OutcomeJson(outcome);
  if (!outcome.attestation.layers.empty()) found->layers = outcome.attestation.layers;
  if (ExitCode(outcome.ending) != 0) found->problems.push_back(found->trial);
}

Examination Examine(Options options) {
  Examination found;
  found.policy = options.policy.value_or(kDefaultPolicy);
  const ScratchWorkspace scratch;
  if (scratch.path().empty()) {
    found.problems.emplace_back("temporary directory: cannot be written; set TMPDIR");
    return found;
  }
  options.workspace = scratch.path();
  const auto config = FindConfig(options);
  found.Problem(config.status());
  if (!config.ok()) return found;
  ExaminePlaces(*config, &found);
  const auto embedded = Embedded::Start(options);
  found.Problem(embedded.status());
  ExamineApprovers(*config, &found);
  if (!embedded.ok()) return found;
  auto layers = (*embedded)->Probe();
  found.Problem(layers.status());
  if (layers.ok()) found.layers = *std::move(layers);
  ExamineByRunning(embedded->get(), &found);
  for (const Layer& layer : found.layers) {
    if (layer.required && layer.state == LayerState::kAbsent) {
      found.problems.push_back(layer.name + ": " + sandbox::LayerRemedy(layer.name));
    }
  }
  return found;
}

Json ToJson(const Examination& found) {
  Json places = Json::object();
  for (const auto& [what, path] : found.places) places[what] = path;
  Json layers = Json::array();
  for (const Layer& layer : found.layers) {
    layers.push_back({{"name", layer.name},
                      {"required", layer.required},
                      {"state", sandbox::LayerStateName(layer.state)},
                      {"proof", layer.proof}});
  }
  return {
      {"ok", found.problems.empty()}, {"version", WARDER_VERSION},    {"host", Version()},
      {"policy", found.policy},       {"places", std::move(places)},  {"terminal", found.terminal},
      {"layers", std::move(layers)},  {"trial", found.trial_outcome}, {"problems", found.problems}};
}

std::string ToText(const Examination& found, int columns) {
  std::string text = Version() + "\n\n";
  Table places({"PLACE", "PATH"});
  for (const auto& [what, path] : found.places) places.Add({what, path});
  places.Add({"terminal", found.terminal});
  text += places.Render(columns) + "\n";
  Table layers({"LAYER", "STATE", "PROOF"});
  for (const Layer& layer : found.layers) {
    const bool weaker = layer.state == LayerState::kDegraded;
    layers.Add({layer.name, sandbox::LayerStateName(layer.state),
                weaker ? layer.proof + " -> " + sandbox::LayerRemedy(layer.name) : layer.proof});
  }
  if (!found.layers.empty()) text += layers.Render(columns) + "\n";
  for (const std::string& problem : found.problems) text += "problem: " + SafeLine(problem) + "\n";
  text += absl::StrFormat("policy %s: %s\n", SafeLine(found.policy),
                          found.problems.empty()
                              ? "can run here; a trial of " + std::string(kTrialProgram) + " did"
                              : "CANNOT run here");
  return text;
}

}  // namespace

int RunDoctor(const Options& options) {
  const Examination found = Examine(options);
  const int code = found.problems.empty() ? kExitOk : kExitProblems;
  if (options.json) return PrintJson(ToJson(found), code);
  return Print(ToText(found, TerminalColumns(STDOUT_FILENO)), code);
}

}  // namespace warder::supervisor
