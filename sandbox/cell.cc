#include "sandbox/cell.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "absl/strings/str_format.h"
#include "sandbox/acting_user.h"
#include "sandbox/landlock.h"
#include "sandbox/proof.h"
#include "sandbox/remedy.h"
#include "sandbox/trees.h"

namespace warder::sandbox {
namespace {

// Not a report: the pipe closed because exec did, with every other descriptor of ours.
constexpr std::int32_t kReportExecuted = -2;
// Processes in the cell's group that are not the tool's: init.
constexpr unsigned kOwnProcesses = 1;

struct Pipe {
  UniqueFd read, write;
};

std::optional<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

SetupFailure Failure(std::string step, int error, std::string detail) {
  return {std::move(step), error, std::move(detail)};
}

SetupFailure FromStatus(std::string step, const absl::Status& status) {
  return Failure(std::move(step), 0, std::string(status.message()));
}

// Puts the child's ends of both pipes on the reserved numbers for as long as it lives; the child
// inherits them there.
class ReservedPipes {
 public:
  ReservedPipes(int report_write, int go_read)
      : null_(open("/dev/null", O_RDWR | O_CLOEXEC)),
        ok_(null_.ok() && Place(report_write, kReportFd) && Place(go_read, kGoFd)) {}
  // The numbers stay taken: another descriptor of ours that got one would be lost to the next pipe.
  ~ReservedPipes() {
    for (const int fd : {kReportFd, kGoFd}) {
      // A write end that is kept would hide the child's end of file.
      if (!Place(null_.get(), fd)) close(fd);
    }
  }
  ReservedPipes(const ReservedPipes&) = delete;
  ReservedPipes& operator=(const ReservedPipes&) = delete;
  bool ok() const { return ok_; }

 private:
  static bool Place(int from, int to) { return dup3(from, to, O_CLOEXEC) >= 0; }
  UniqueFd null_;
  bool ok_;
};

// Root's pipe would refuse the cell's user who opens its streams by name (/dev/stderr), as scripts
// do. Only pipes without a name are given away: files and FIFOs of the host keep their owner.
bool LendPipe(int fd, uid_t uid, gid_t gid) {
  struct statfs system = {};
  if (fstatfs(fd, &system) != 0) return false;
  return system.f_type != PIPEFS_MAGIC || fchown(fd, uid, gid) == 0;
}

bool IsReadable(int fd) {
  pollfd ready = {fd, POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

bool SendGo(int fd) {
  const char byte = 1;
  return write(fd, &byte, 1) == 1;
}

}  // namespace

std::variant<std::unique_ptr<Cell>, SetupFailure> Cell::Build(const CellRequest& request) {
  if (!request.host->filters) {  // said here: init installs its filter after its last report
    return Failure("seccomp", ENOSYS, "there is no seccomp(2)" + StepRemedy("seccomp", ENOSYS));
  }
  std::unique_ptr<Cell> cell(new Cell(request));
  const absl::Status planned = PlanInit(request, cell->init_steps_, cell->rules_, cell->absent_);
  if (!planned.ok()) return FromStatus("plan", planned);
  if (auto failure = cell->MakeCgroup(); failure.has_value()) return *failure;
  if (auto failure = cell->MakeInit(); failure.has_value()) return *failure;
  return cell;
}

std::optional<SetupFailure> Cell::MakeCgroup() {
  if (!HasCgroup(request_)) return std::nullopt;
  auto group = CellCgroup::Make(*request_.cgroups);
  if (!group.ok()) return FromStatus("control-group", group.status());
  cgroup_.emplace(std::move(*group));
  return std::nullopt;
}

// Init and the tool together: on v1 the first move of a process costs the kernel a wait of
// milliseconds, others right after it do not. Nothing of a stranger's has run in either.
std::optional<SetupFailure> Cell::EnterCgroup() {
  if (!cgroup_.has_value()) return std::nullopt;
  absl::Status status = cgroup_->Adopt({init_.pid(), tool_.pid()});
  if (status.ok()) status = cgroup_->SetLimits(request_.policy->limits, kOwnProcesses);
  if (status.ok()) return std::nullopt;
  return FromStatus("control-group", status);
}

std::optional<SetupFailure> Cell::MakeInit() {
  auto report = MakePipe();
  auto go = MakePipe();
  if (!report || !go) return Failure("pipe", errno, "no descriptors left for the cell's pipes");
  {
    const ReservedPipes reserved(report->write.get(), go->read.get());
    if (!reserved.ok()) return Failure("pipe", errno, "cannot place the cell's pipes");
    const ActingUser acting(request_.uid);
    if (acting.error() != 0) {
      return Failure(
          "set-user", acting.error(),
          absl::StrFormat("cannot act as the cell's user: %s%s", strerror(acting.error()),
                          StepRemedy("set-user", acting.error())));
    }
    auto init =
        CloneChild(init_steps_, CellCloneFlags(*request_.policy), nullptr, nullptr, Birth());
    if (!init.ok()) return FromStatus("clone", init.status());
    init_ = std::move(*init);
  }
  report->write.Reset();
  go->read.Reset();
  auto failure = MapIds();
  // Before init makes itself undumpable, which closes its namespaces to us.
  if (!failure.has_value()) failure = OpenNamespaces();
  if (!failure.has_value() && !SendGo(go->write.get())) {
    failure = Failure("clone", errno, "init ended at once");
  }
  if (failure.has_value()) return Cause(init_steps_, report->read.get(), *std::move(failure));
  return AwaitReport(init_steps_, report->read.get(), kReportReady);
}

std::optional<SetupFailure> Cell::MapIds() {
  const std::string proc = absl::StrFormat("/proc/%d/", init_.pid());
  absl::Status status =
      WriteExisting(proc + "uid_map", absl::StrFormat("%u %u 1\n", request_.uid, request_.uid));
  if (status.ok()) {
    status =
        WriteExisting(proc + "gid_map", absl::StrFormat("%u %u 1\n", request_.gid, request_.gid));
  }
  if (status.ok()) return std::nullopt;
  return Failure(
      "id-map", EPERM,
      std::string(status.message()) + "; is the range `uid_range` mapped into this container?");
}

std::optional<SetupFailure> Cell::OpenNamespaces() {
  namespaces_.entries.clear();
  const std::pair<int, const char*> all[] = {{CLONE_NEWPID, "pid"},
                                             {CLONE_NEWUSER, "user"},
                                             {CLONE_NEWNS, "mnt"},
                                             {CLONE_NEWNET, "net"},
                                             {CLONE_NEWUTS, "uts"}};
  for (const auto& [type, file] : all) {
    if ((CellCloneFlags(*request_.policy) & static_cast<unsigned>(type)) == 0) continue;
    const std::string path = absl::StrFormat("/proc/%d/ns/%s", init_.pid(), file);
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.ok()) return Failure("join-namespace", errno, path + ": cannot be opened");
    namespaces_.entries.push_back({type, file, std::move(fd)});
  }
  return std::nullopt;
}

std::optional<SetupFailure> Cell::Confine(const ProgramRequest& program) {
  auto failure = ConfineTool(program);
  if (failure.has_value() && IsReadable(init_.pidfd())) {
    return Failure("setup", ECHILD,
                   "the cell's init ended after its last report: " + failure->detail);
  }
  return failure;
}

std::optional<SetupFailure> Cell::ConfineTool(const ProgramRequest& program) {
  if (request_.host->landlock_abi == 0 && HasLandlock(request_)) {
    return Failure("landlock-ruleset", ENOSYS,
                   DescribeLandlock(0) + StepRemedy("landlock-ruleset", ENOSYS));
  }
  const absl::Status planned = PlanTool(request_, program, namespaces_, rules_, tool_steps_);
  if (!planned.ok()) return FromStatus("plan", planned);
  for (const int fd : program.stdio) {
    if (request_.host->tier != Tier::kRoot || LendPipe(fd, request_.uid, request_.gid)) continue;
    return Failure(
        "standard-streams", errno,
        absl::StrFormat("give descriptor %d to the cell's user: %s", fd, strerror(errno)));
  }
  auto report = MakePipe();
  auto go = MakePipe();
  if (!report || !go) return Failure("pipe", errno, "no descriptors left for the tool's pipes");
  {
    const ReservedPipes reserved(report->write.get(), go->read.get());
    if (!reserved.ok()) return Failure("pipe", errno, "cannot place the tool's pipes");
    if (auto failure = CloneTool(program); failure.has_value()) return failure;
  }
  report->write.Reset();
  go->read.Reset();
  tool_report_ = std::move(report->read);
  tool_go_ = std::move(go->write);
  if (auto failure = AdoptTool(); failure.has_value()) return failure;
  if (auto failure = AwaitReport(tool_steps_, tool_report_.get(), kReportReady);
      failure.has_value()) {
    return failure;
  }
  auto failure = FetchListener();
  if (failure.has_value()) return Cause(tool_steps_, tool_report_.get(), *std::move(failure));
  return std::nullopt;
}

std::optional<SetupFailure> Cell::FetchListener() {
  if (request_.filter->notifying.empty()) return std::nullopt;
  listener_.Reset(static_cast<int>(syscall(SYS_pidfd_getfd, tool_.pidfd(), kListenerFd, 0)));
  if (listener_.ok()) return std::nullopt;
  return Failure("seccomp", errno,
                 absl::StrFormat("the filter's listener: pidfd_getfd: %s%s", strerror(errno),
                                 StepRemedy("seccomp", errno)));
}

std::optional<SetupFailure> Cell::CloneTool(const ProgramRequest& program) {
  std::vector<const char*> argv, envp;
  for (const std::string& word : program.argv) argv.push_back(word.c_str());
  for (const std::string& variable : program.environment) envp.push_back(variable.c_str());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  auto builder = CloneChild(tool_steps_, 0, argv.data(), envp.data(), Birth());
  if (!builder.ok()) return FromStatus("clone", builder.status());
  builder_ = std::move(*builder);
  return std::nullopt;
}

// The builder reports the pid of the tool, which is our child: until we wait for it, the number is
// its own.
std::optional<SetupFailure> Cell::AdoptTool() {
  std::uint32_t pid = 0;
  auto failure = AwaitReport(tool_steps_, tool_report_.get(), kReportCloned, &pid);
  UniqueFd pidfd;
  if (!failure.has_value()) {
    pidfd.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd.ok()) {
      failure = Failure(
          "clone-tool", errno,
          absl::StrFormat("pidfd_open: %s%s", strerror(errno), StepRemedy("clone-tool", errno)));
    }
  }
  if (failure.has_value()) {
    builder_.EndGroup();  // a tool that nobody waits for would keep init from ending
    return failure;
  }
  tool_ = ChildProcess(std::move(pidfd), static_cast<pid_t>(pid));
  builder_ = ChildProcess();
  failure = EnterCgroup();
  if (!failure.has_value() && !SendGo(tool_go_.get())) {
    failure = Failure("clone-tool", errno, "the tool ended at once");
  }
  if (failure.has_value()) return Cause(tool_steps_, tool_report_.get(), *std::move(failure));
  return std::nullopt;
}

SetupFailure Cell::Cause(const StepList& steps, int report_fd, SetupFailure effect) {
  if (!IsReadable(report_fd)) return effect;
  return AwaitReport(steps, report_fd, kReportReady).value_or(std::move(effect));
}

std::optional<SetupFailure> Cell::Ended() {
  if (IsReadable(init_.pidfd())) {
    return Failure("setup", ECHILD, "the cell's init ended after its last report");
  }
  if (!IsReadable(tool_report_.get())) return std::nullopt;
  return AwaitReport(tool_steps_, tool_report_.get(), kReportReady);
}

std::optional<SetupFailure> Cell::AwaitReport(const StepList& steps, int report_fd,
                                              std::int32_t expected, std::uint32_t* pid) {
  // The tool holds the pipe that its builder leaves without a word.
  const int builder = expected == kReportCloned ? builder_.pidfd() : -1;
  pollfd ready[] = {{report_fd, POLLIN, 0}, {listener_.get(), POLLIN, 0}, {builder, POLLIN, 0}};
  int count = 0;
  do {
    count = poll(ready, std::size(ready), kSetupMs);
  } while (count < 0 && errno == EINTR);
  if (count == 0) {
    return Failure("setup", ETIMEDOUT, absl::StrFormat("not ready within %d ms", kSetupMs));
  }
  if (ready[0].revents == 0 && !IsReadable(report_fd)) {
    if (ready[1].revents == 0) {
      return Failure("clone-tool", ECHILD, "the tool's builder ended without a report");
    }
    // The program itself asks only after exec, which has closed the pipe.
    return Failure("exec", EPERM, "the policy denies a system call that starting a program needs");
  }
  ChildReport report;
  const ssize_t size = read(report_fd, &report, sizeof report);
  if (size == 0 && expected == kReportExecuted) return std::nullopt;
  if (size != static_cast<ssize_t>(sizeof report)) {
    return Failure("setup", ECHILD, "the child ended without a report");
  }
  if (pid != nullptr) *pid = report.step;
  if (report.error == expected) return std::nullopt;
  if (report.error <= 0 || report.step >= steps.steps().size()) {
    return Failure("setup", EPROTO, "the child sent a report that makes no sense");
  }
  const Step& step = steps.steps()[report.step];
  const std::string& what = steps.what(report.step);
  return Failure(StepName(step.kind), report.error,
                 absl::StrFormat("step %s%s%s: %s%s", StepName(step.kind), what.empty() ? "" : " ",
                                 what, strerror(report.error), StepRemedy(step, report.error)));
}

Attestation Cell::Prove() const {
  return ProveTool(tool_.pid(), request_, cgroup_.has_value() ? &*cgroup_ : nullptr);
}

std::optional<SetupFailure> Cell::Start() {
  if (!SendGo(tool_go_.get())) {
    return Failure("exec", errno, "the tool ended before its program was loaded");
  }
  auto failure = AwaitReport(tool_steps_, tool_report_.get(), kReportExecuted);
  tool_report_.Reset();
  tool_go_.Reset();
  return failure;
}

}  // namespace warder::sandbox
