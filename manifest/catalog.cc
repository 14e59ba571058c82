#include "manifest/catalog.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/config.h"
#include "manifest/host_path.h"
#include "sandbox/workspace_tree.h"

namespace warder::manifest {
namespace {

constexpr const char* kManifest = ".basis/tools.json";
constexpr int kMaxRaces =
    16;  // openat2 gives up when a directory moves meanwhile; then it is asked again

struct FoundManifest {
  sandbox::UniqueFd fd;  // O_PATH; closed when nothing is there, or a directory, which is ignored
  struct stat status = {};
};

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

absl::Status LinkError(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: is a symbolic link: put the directory or file itself there, a manifest is never read "
      "through a link",
      name));
}

absl::Status OpenError(int error, const std::string& name) {
  const std::string text = absl::StrFormat("%s: cannot be opened: %s", name, std::strerror(error));
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    return absl::ResourceExhaustedError(text);
  }
  return absl::FailedPreconditionError(text);
}

// `resolve` is what openat2(2) is to refuse on the way.
absl::StatusOr<FoundManifest> FindManifest(int directory, const char* path, std::uint64_t resolve,
                                           const std::string& name) {
  open_how how = {};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = resolve;
  long fd = -1;
  for (int attempt = 0; attempt < kMaxRaces; ++attempt) {
    fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return FoundManifest{};
    if (errno == ELOOP) return LinkError(std::filesystem::path(name).parent_path().native());
    return OpenError(errno, name);
  }
  FoundManifest found{sandbox::UniqueFd(static_cast<int>(fd)), {}};
  if (::fstat(found.fd.get(), &found.status) != 0) return OpenError(errno, name);
  if (S_ISLNK(found.status.st_mode)) return LinkError(name);
  if (S_ISDIR(found.status.st_mode)) return FoundManifest{};
  return found;
}

// Moves `more` behind what is there: entries of an earlier manifest win.
void Layer(Catalog& catalog, std::vector<ToolSpec> more) {
  const std::vector<ToolSpec>::size_type own = catalog.tools.size();
  for (ToolSpec& tool : more) {
    const auto own_end = catalog.tools.begin() + static_cast<std::ptrdiff_t>(own);
    const auto winner = std::find_if(catalog.tools.begin(), own_end, [&](const ToolSpec& other) {
      return other.name == tool.name;
    });
    if (winner == own_end) {
      catalog.tools.push_back(std::move(tool));
    } else {
      catalog.shadowed.push_back({tool.name, tool.source, winner->source});
    }
  }
  std::sort(catalog.tools.begin(), catalog.tools.end(),
            [](const ToolSpec& a, const ToolSpec& b) { return a.name < b.name; });
}

absl::Status AddManifest(Catalog& catalog, const absl::StatusOr<std::string>& bytes,
                         const std::string& name) {
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::vector<ToolSpec>> tools = ParseManifest(*bytes, name);
  if (!tools.ok()) return tools.status();
  Layer(catalog, *std::move(tools));
  return absl::OkStatus();
}

// The global manifest is the operator's configuration and must stand the test of one.
absl::StatusOr<std::string> ReadGlobal(const Workspace& workspace, const std::string& path) {
  Config config;
  config.workspaces.push_back(workspace.path);
  absl::StatusOr<TrustedFile> file = ReadTrustedFile(config, path, kMaxManifestBytes);
  if (!file.ok()) return file.status();
  return std::move(file->bytes);
}

}  // namespace

const ToolSpec* Catalog::Find(std::string_view name) const {
  const auto found =
      std::lower_bound(tools.begin(), tools.end(), name,
                       [](const ToolSpec& tool, std::string_view key) { return tool.name < key; });
  return found == tools.end() || found->name != name ? nullptr : &*found;
}

absl::StatusOr<Workspace> OpenWorkspace(const std::string& path) {
  absl::StatusOr<HostPath> opened = OpenHostPath(AT_FDCWD, path);
  if (!opened.ok()) return WithPrefix(opened.status(), "workspace " + Quoted(path));
  if (!S_ISDIR(opened->status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("workspace %s: is not a directory", Quoted(path)));
  }
  struct stat root = {};
  if (opened->path == "/" || (::stat("/", &root) == 0 && SameFile(root, opened->status))) {
    return absl::FailedPreconditionError(
        absl::StrFormat("workspace %s: the root directory cannot be a workspace: a cell would hold "
                        "all of the host",
                        Quoted(path)));
  }
  return Workspace{std::move(opened->path), std::move(opened->fd), opened->status.st_dev,
                   opened->status.st_ino};
}

absl::StatusOr<Catalog> LoadCatalog(const Workspace& workspace,
                                    const std::string& global_manifest) {
  const std::string own_name = absl::StrFormat("%s/%s", workspace.path, kManifest);
  absl::StatusOr<FoundManifest> own =
      FindManifest(workspace.fd.get(), kManifest,
                   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, own_name);
  if (!own.ok()) return own.status();
  Catalog catalog;
  if (own->fd.ok()) {
    absl::Status added = AddManifest(
        catalog, sandbox::ReadRegularFile(own->fd.get(), own_name, kMaxManifestBytes), own_name);
    if (!added.ok()) return added;
  }
  if (global_manifest.empty()) return catalog;

  absl::StatusOr<FoundManifest> global =
      FindManifest(AT_FDCWD, global_manifest.c_str(), RESOLVE_NO_MAGICLINKS, global_manifest);
  if (!global.ok()) return global.status();
  const bool same_file = own->fd.ok() && global->fd.ok() && SameFile(own->status, global->status);
  if (!global->fd.ok() || same_file) return catalog;
  absl::Status added =
      AddManifest(catalog, ReadGlobal(workspace, global_manifest), global_manifest);
  if (!added.ok()) return added;
  return catalog;
}

}  // namespace warder::manifest
