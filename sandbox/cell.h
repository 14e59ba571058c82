// Cell: the confined environment of one call, from clone to empty.
#ifndef WARDER_SANDBOX_CELL_H_
#define WARDER_SANDBOX_CELL_H_

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/attestation.h"
#include "sandbox/cgroup.h"
#include "sandbox/plan.h"
#include "sandbox/spawn.h"

namespace warder::sandbox {

// Move-free: the launcher owns cells by pointer. Destroying one kills everything in it and waits
// until it is gone.
class Cell {
 public:
  // Makes the namespaces and init, and assembles the file view. Blocks for at most kSetupMs.
  static std::variant<std::unique_ptr<Cell>, SetupFailure> Build(const CellRequest& request);

  // Clones the tool into the cell and confines it, up to the barrier before exec. Once.
  std::optional<SetupFailure> Confine(const ProgramRequest& program);
  // Reads from outside what holds for the tool. Between Confine and Start.
  Attestation Prove() const;
  // Why a tool that should wait at the barrier is gone; nothing when it waits.
  std::optional<SetupFailure> Ended();
  // Lets the tool pass the barrier and returns when its program image is loaded.
  std::optional<SetupFailure> Start();

  // Where the kernel asks about calls that the filter denies; not open when it asks nobody.
  UniqueFd TakeListener() { return std::move(listener_); }

  // The tool is a child of ours, not of init: its wait status comes from the kernel.
  ChildProcess& tool() { return tool_; }
  ChildProcess& init() { return init_; }
  // nullptr when the cell has none.
  CellCgroup* cgroup() { return cgroup_.has_value() ? &*cgroup_ : nullptr; }
  // Protected names that were not there when the cell was built, relative to the workspace.
  const std::vector<std::string>& absent() const { return absent_; }

 private:
  explicit Cell(const CellRequest& request) : request_(request) {}
  std::optional<SetupFailure> MakeInit();
  std::optional<SetupFailure> MapIds();
  std::optional<SetupFailure> OpenNamespaces();
  std::optional<SetupFailure> ConfineTool(const ProgramRequest& program);
  std::optional<SetupFailure> CloneTool(const ProgramRequest& program);
  std::optional<SetupFailure> AdoptTool();
  std::optional<SetupFailure> FetchListener();
  std::optional<SetupFailure> MakeCgroup();
  std::optional<SetupFailure> EnterCgroup();
  int Birth() const { return cgroup_.has_value() ? cgroup_->birth() : -1; }
  // What we do for a child fails when it has failed itself: then its own report, otherwise
  // `effect`.
  SetupFailure Cause(const StepList& steps, int report_fd, SetupFailure effect);
  // Reads one report of a child; anything but `expected` is a failure.
  std::optional<SetupFailure> AwaitReport(const StepList& steps, int report_fd,
                                          std::int32_t expected, std::uint32_t* pid = nullptr);

  CellRequest request_;
  StepList init_steps_, tool_steps_;
  std::vector<PathRule> rules_;
  std::vector<std::string> absent_;
  CellNamespaces namespaces_;
  // Destroyed in reverse order: the tool first, because an unreaped tool keeps init from ending,
  // and the group last, when nothing is in it.
  std::optional<CellCgroup> cgroup_;
  ChildProcess init_;
  ChildProcess tool_;
  ChildProcess builder_;
  UniqueFd tool_report_, tool_go_, listener_;
};

// How long one child may take to set itself up. Milliseconds; a mount on a hung network file system
// must not hang the launcher.
inline constexpr int kSetupMs = 20'000;

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_CELL_H_
