#include "supervisor/sensitive_changes.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "manifest/digest.h"
#include "sandbox/workspace_tree.h"
#include "supervisor/sensitive_names.h"

namespace warder::supervisor {
namespace {

using sandbox::JoinPath;
using sandbox::WalkDirectory;
using sandbox::WalkEntry;

constexpr std::int64_t kSecond = 1'000'000'000;
// Two readings of one clock are this far apart at most; a larger difference is a clock that was
// set.
constexpr std::int64_t kClockJitterNs = 10'000'000;
// A file system that keeps whole seconds may keep only even ones (FAT).
constexpr std::int64_t kCoarseSeconds = 2;

// File systems whose times come from another clock (statfs(2)); not all are in <linux/magic.h>.
constexpr long kForeignClocks[] = {
    NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC,       V9FS_MAGIC,
    AFS_SUPER_MAGIC,       CODA_SUPER_MAGIC,      0xff534d42 /* CIFS */,
    0xfe534d42 /* SMB2 */, 0x65735546 /* FUSE */, 0x00c36400 /* Ceph */};

std::int64_t Clock(clockid_t clock) {
  timespec now = {};
  if (clock_gettime(clock, &now) != 0) std::abort();  // both clocks exist since Linux 2.6.39
  return now.tv_sec * kSecond + now.tv_nsec;
}

std::int64_t ClockOffset() { return Clock(CLOCK_REALTIME) - Clock(CLOCK_BOOTTIME); }

bool HasForeignClock(int directory) {
  struct statfs system = {};
  if (fstatfs(directory, &system) != 0) return true;
  return std::find(std::begin(kForeignClocks), std::end(kForeignClocks), system.f_type) !=
         std::end(kForeignClocks);
}

bool Has(const WalkDirectory& directory, std::string_view name) {
  return std::any_of(directory.entries.begin(), directory.entries.end(),
                     [&](const WalkEntry& entry) { return entry.name == name; });
}

std::string_view Parent(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view LastName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// By its text: what it leads to may itself be a link, and that one is judged, too.
bool LeadsOut(std::string_view directory, std::string_view target, const std::string& workspace) {
  if (target.starts_with('/')) {
    if (target != workspace && !target.starts_with(workspace + "/")) return true;
    target.remove_prefix(workspace.size());
    directory = {};
  }
  auto depth = directory.empty() ? 0 : 1 + std::count(directory.begin(), directory.end(), '/');
  while (!target.empty()) {
    const std::size_t slash = target.find('/');
    const std::string_view name = target.substr(0, slash);
    if (name == "..") --depth;
    if (name != ".." && name != "." && !name.empty()) ++depth;
    if (depth < 0) return true;
    target.remove_prefix(slash == std::string_view::npos ? target.size() : slash + 1);
  }
  return false;
}

// Kinds of file that no workspace needs; null for all others.
const char* StrangeKind(const struct stat& status) {
  const mode_t mode = status.st_mode;
  if (S_ISCHR(mode) && status.st_rdev == 0) return "whiteout";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "device node";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISFIFO(mode)) return "FIFO";
  if (!S_ISREG(mode)) return nullptr;
  if ((mode & S_ISUID) != 0) return "set-user-id file";
  return (mode & S_ISGID) != 0 && (mode & S_IXGRP) != 0 ? "set-group-id file" : nullptr;
}

}  // namespace

SensitiveScan::SensitiveScan(const manifest::Workspace& workspace,
                             const sandbox::FilesystemPolicy& policy)
    : workspace_(workspace),
      git_is_held_(std::any_of(
          policy.protect.begin(), policy.protect.end(),
          [](const sandbox::ProtectedPath& rule) { return rule.path.starts_with(".git/"); })),
      // The clock that file times come from: never ahead of one that is written later.
      since_ns_(Clock(CLOCK_REALTIME_COARSE)),
      clock_offset_ns_(ClockOffset()),
      walk_(workspace.fd.get()) {}

// A clock that was set back during the call would make changes look old.
void SensitiveScan::FixSince() {
  started_ = true;
  const std::int64_t moved = ClockOffset() - clock_offset_ns_;
  if (moved < -kClockJitterNs) since_ns_ += moved;
  if (HasForeignClock(workspace_.fd.get())) since_ns_ = 0;
}

bool SensitiveScan::Changed(const struct stat& status) const {
  const timespec& at = status.st_ctim;
  if (at.tv_nsec == 0) return at.tv_sec + kCoarseSeconds >= since_ns_ / kSecond;
  return at.tv_sec * kSecond + at.tv_nsec >= since_ns_;
}

bool SensitiveScan::Step() {
  if (!started_) FixSince();
  const WalkDirectory* directory = walk_.Next();
  if (directory == nullptr) return false;
  Look(*directory);
  return true;
}

void SensitiveScan::Look(const WalkDirectory& directory) {
  // As git tells a repository, whatever its name (setup.c, is_git_directory).
  const bool repository =
      Has(directory, "HEAD") && Has(directory, "objects") && Has(directory, "refs");
  if (repository) repositories_.insert(directory.path);
  for (const WalkEntry& entry : directory.entries) LookAt(directory, entry, repository);
}

void SensitiveScan::LookAt(const WalkDirectory& directory, const WalkEntry& entry,
                           bool in_repository) {
  const std::string path = JoinPath(directory.path, entry.name);
  const bool moved = moved_.contains(directory.path);
  const bool changed = Changed(entry.status);
  if (S_ISDIR(entry.status.st_mode)) {
    // Files keep their times when a directory around them is moved. Both times change then, and
    // seldom otherwise.
    const bool held = git_is_held_ && path == ".git";
    const bool arrived =
        changed && !held && Changed(directory.status) && IsSensitiveDirectory(entry.name);
    if (moved || arrived) moved_.insert(path);
    return;
  }
  if (!changed && !moved) return;
  if (const char* kind = StrangeKind(entry.status)) return Report(kind, path);
  if (S_ISLNK(entry.status.st_mode)) {
    auto link = sandbox::OpenPath(directory.fd.get(), entry.name);
    const auto text = link.ok() ? sandbox::ReadLink(link->get()) : link.status();
    if (!text.ok() || LeadsOut(directory.path, *text, workspace_.path)) {
      return Report("link that leads out", path);
    }
  }
  const bool hooks = LastName(directory.path) == "hooks" &&
                     repositories_.contains(std::string(Parent(directory.path)));
  const bool settings = in_repository && (entry.name == "config" || entry.name == "commondir" ||
                                          entry.name == "config.worktree");
  if (settings || (hooks && !entry.name.ends_with(".sample"))) {
    return ReportFile(directory, entry, settings ? "git configuration" : "git hook", "");
  }
  if (const SensitiveName* name = FindSensitiveName(path)) {
    ReportFile(directory, entry, name->kind, name->contains);
  }
}

void SensitiveScan::Report(std::string_view kind, std::string path) {
  if (found_.changes.size() >= kMaxChanges) {
    ++found_.left_out;
  } else {
    found_.changes.push_back({std::string(kind), std::move(path), std::nullopt, "", ""});
  }
}

void SensitiveScan::ReportFile(const WalkDirectory& directory, const WalkEntry& entry,
                               std::string_view kind, std::string_view contains) {
  absl::StatusOr<std::string> bytes = absl::NotFoundError("");
  if (S_ISREG(entry.status.st_mode)) {
    auto file = sandbox::OpenPath(directory.fd.get(), entry.name);
    bytes = file.ok() ? sandbox::ReadRegularFile(file->get(), "", kMaxDigestBytes) : file.status();
  }
  // A file that cannot be read may hold what is looked for.
  if (bytes.ok() && !contains.empty() && bytes->find(contains) == std::string::npos) return;
  const std::size_t before = found_.changes.size();
  Report(kind, JoinPath(directory.path, entry.name));
  if (bytes.ok() && found_.changes.size() > before) {
    found_.changes.back().sha256 = manifest::Digest(*bytes);
  }
}

SensitiveChanges SensitiveScan::Take(const std::vector<sandbox::Quarantined>& quarantined) {
  std::vector<SensitiveChange> all;
  for (const sandbox::Quarantined& one : quarantined) {
    all.push_back({"protected name", one.path, std::nullopt, one.moved_to, one.fault});
  }
  std::move(found_.changes.begin(), found_.changes.end(), std::back_inserter(all));
  found_.changes = std::move(all);
  found_.unseen = walk_.gaps();
  found_.unseen_count = walk_.gap_count();
  return std::move(found_);
}

}  // namespace warder::supervisor
