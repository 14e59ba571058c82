#include "supervisor/sensitive_changes.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/digest.h"
#include "sandbox/workspace_tree.h"
#include "supervisor/sensitive_names.h"

namespace warder::supervisor {
namespace {

using sandbox::JoinPath;
using sandbox::WalkDirectory;
using sandbox::WalkEntry;

constexpr std::string_view kOverlay = "overlay attribute";
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

// Attributes by which a file hides others from an overlay view of the tree around it (redirects,
// opaque directories). They change the file's ctime. `name` is in `directory`, or "." for itself.
bool HasOverlayAttribute(const WalkDirectory& directory, const std::string& name) {
  const std::string path = absl::StrFormat("/proc/self/fd/%d/%s", directory.fd.get(), name);
  const ssize_t size = llistxattr(path.c_str(), nullptr, 0);
  if (size <= 0) return false;
  std::string names(static_cast<std::size_t>(size), '\0');
  // A list that grows meanwhile is nobody's: the cell is empty.
  return llistxattr(path.c_str(), names.data(), names.size()) > 0 &&
         names.find("user.overlay.") != std::string::npos;
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
      removals_(workspace.fd.get()),
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
  if (directory == nullptr) {
    ReportNamesElsewhere();
    ReportRemovals();
    return false;
  }
  Look(*directory);
  return true;
}

void SensitiveScan::Look(const WalkDirectory& directory) {
  // As git tells a repository, whatever its name (setup.c, is_git_directory).
  const bool repository =
      Has(directory, "HEAD") && Has(directory, "objects") && Has(directory, "refs");
  if (repository) repositories_.insert(directory.path);
  if (Changed(directory.status) && HasOverlayAttribute(directory, ".")) {
    Report(kOverlay, directory.path.empty() ? "." : directory.path);
  }
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
  if (S_ISREG(entry.status.st_mode) && changed) {
    if (entry.status.st_nlink > 1) CountName(path, entry.status);
    if (HasOverlayAttribute(directory, entry.name)) Report(kOverlay, path);
  }
  if (const char* kind = StrangeKind(entry.status)) return Report(kind, path);
  if (S_ISLNK(entry.status.st_mode)) {
    auto link = sandbox::OpenPath(directory.fd.get(), entry.name);
    const auto text = link.ok() ? sandbox::ReadLink(link->get(), entry.name) : link.status();
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

void SensitiveScan::CountName(const std::string& path, const struct stat& status) {
  Names& names = names_[{status.st_dev, status.st_ino}];
  if (names.path.empty()) names.path = path;
  names.all = status.st_nlink;
  ++names.seen;
}

// All names of a file have its times, so those in the workspace were all counted.
void SensitiveScan::ReportNamesElsewhere() {
  for (auto& [file, names] : names_) {
    if (names.seen < names.all) Report("file with a name elsewhere", std::move(names.path));
  }
  names_.clear();
}

void SensitiveScan::ReportRemovals() {
  for (const SensitiveRemovals::Name& name : removals_.Gone()) Report(name.kind, name.path, true);
}

void SensitiveScan::Report(std::string_view kind, std::string path, bool removed) {
  if (found_.changes.size() >= kMaxChanges) {
    ++found_.left_out;
  } else {
    found_.changes.push_back({std::string(kind), std::move(path), std::nullopt, "", "", removed});
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
    all.push_back({"protected name", one.path, std::nullopt, one.moved_to, one.fault, false});
  }
  std::move(found_.changes.begin(), found_.changes.end(), std::back_inserter(all));
  found_.changes = std::move(all);
  found_.unseen = walk_.gaps();
  found_.unseen_count = walk_.gap_count() + removals_.gaps().size();
  for (const sandbox::WalkGap& gap : removals_.gaps()) {
    if (found_.unseen.size() < sandbox::TreeWalk::kMaxGaps) found_.unseen.push_back(gap);
  }
  return std::move(found_);
}

}  // namespace warder::supervisor
