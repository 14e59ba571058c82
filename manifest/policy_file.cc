#include "manifest/policy_file.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "manifest/digest.h"
#include "manifest/host_path.h"
#include "manifest/json_reader.h"
#include "manifest/policy_fragment.h"

namespace warder::manifest {
namespace {

constexpr std::size_t kMaxExtends =
    8;  // policies in one line of `extends`; shipped ones have three
constexpr std::size_t kLongestName = 64;  // as long as a tool's
constexpr std::size_t kMaxPolicies =
    1000;  // files in one directory: more is a mistake, and each is read
constexpr const char* kGroupsName = "syscall_groups";
constexpr const char* kBindingsName = "bindings";  // stands beside the shipped policies

bool IsPolicyName(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !name.empty() && name.size() <= kLongestName &&
         name.find_first_not_of(kLetters) == std::string_view::npos && name != kGroupsName &&
         name != kBindingsName;
}

std::string ShippedDirectory(const Config& config) { return config.share_dir + "/policies"; }
std::string OperatorDirectory(const Config& config) { return config.config_dir + "/policies"; }

std::string FileIn(const std::string& directory, std::string_view name) {
  return absl::StrFormat("%s/%s.json", directory, name);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Adds the policy names of `directory`. One that is not there holds none.
absl::Status AddNames(const std::string& directory, std::set<std::string>& names) {
  const std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  if (open == nullptr) {
    if (errno == ENOENT) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrFormat("%s: cannot be listed", directory));
  }
  constexpr std::string_view kSuffix = ".json";
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view file = entry->d_name;
    if (file.size() <= kSuffix.size() || file.substr(file.size() - kSuffix.size()) != kSuffix) {
      continue;
    }
    const std::string_view name = file.substr(0, file.size() - kSuffix.size());
    if (!IsPolicyName(name)) continue;
    names.emplace(name);
    if (names.size() > kMaxPolicies) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("%s: more than %d policies", directory, kMaxPolicies));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::set<std::string>> AllNames(const Config& config) {
  std::set<std::string> names;
  for (const std::string& directory : {OperatorDirectory(config), ShippedDirectory(config)}) {
    if (absl::Status status = AddNames(directory, names); !status.ok()) return status;
  }
  return names;
}

// What all files of one load have in common, and the bytes that its digest covers.
class PolicyLoader {
 public:
  explicit PolicyLoader(const Config& config) : config_(config) {}

  absl::Status LoadGroups() {
    const absl::StatusOr<TrustedFile> file = Read(FileIn(ShippedDirectory(config_), kGroupsName));
    if (!file.ok()) return file.status();
    absl::StatusOr<SyscallGroups> groups = ParseSyscallGroups(file->bytes, file->path);
    if (!groups.ok()) return groups.status();
    groups_ = *std::move(groups);
    return absl::OkStatus();
  }

  // Follows `extends` from `name` down and merges on the way up.
  absl::StatusOr<PolicyFragment> Load(const std::string& name) {
    absl::StatusOr<PolicyFragment> fragment = ReadFragment(name);
    if (!fragment.ok()) return fragment.status();
    return Follow(*std::move(fragment), name);
  }

  Sha256 digest() const { return Digest(covered_); }

 private:
  absl::StatusOr<TrustedFile> Read(const std::string& path) {
    absl::StatusOr<TrustedFile> file = ReadTrustedFile(config_, path);
    // The length keeps two files apart from one that holds the bytes of both.
    if (file.ok()) absl::StrAppendFormat(&covered_, "%d:%s", file->bytes.size(), file->bytes);
    return file;
  }

  // The operator's file comes first, except when it is the one that asks: it may extend the shipped
  // policy of its name.
  absl::StatusOr<TrustedFile> FindFile(const std::string& name) {
    const std::string own = FileIn(OperatorDirectory(config_), name);
    if (asked_.insert(own).second) {
      absl::StatusOr<TrustedFile> file = Read(own);
      if (file.ok() || !absl::IsNotFound(file.status())) return file;
    }
    const std::string shipped = FileIn(ShippedDirectory(config_), name);
    if (!asked_.insert(shipped).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: extends itself through others: break the circle", shipped));
    }
    return Read(shipped);
  }

  absl::StatusOr<PolicyFragment> ReadFragment(const std::string& name) {
    if (!IsPolicyName(name)) {
      return absl::NotFoundError(absl::StrFormat(
          "policy %s: no policy can have this name: letters, digits, `_` and `-` only",
          Quoted(name)));
    }
    absl::StatusOr<TrustedFile> file = FindFile(name);
    if (absl::IsNotFound(file.status())) return NotFound(name);
    if (!file.ok()) return file.status();
    return ParsePolicy(file->bytes, file->path, groups_);
  }

  absl::StatusOr<PolicyFragment> Follow(PolicyFragment top, const std::string& name) {
    std::vector<PolicyFragment> line;
    line.push_back(std::move(top));
    while (const std::optional<std::string> parent = line.back().extends) {
      if (line.size() == kMaxExtends) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: more than %d policies extend each other", line.front().source, kMaxExtends));
      }
      absl::StatusOr<PolicyFragment> next = ReadFragment(*parent);
      if (!next.ok()) {
        return WithPrefix(next.status(), absl::StrFormat("policy %s, extends", name));
      }
      line.push_back(*std::move(next));
    }
    absl::StatusOr<PolicyFragment> merged = std::move(line.back());
    for (line.pop_back(); merged.ok() && !line.empty(); line.pop_back()) {
      merged = ExtendPolicy(*std::move(merged), std::move(line.back()));
    }
    return merged;
  }

  absl::Status NotFound(const std::string& name) const {
    const absl::StatusOr<std::set<std::string>> names = AllNames(config_);
    if (!names.ok()) return names.status();
    const std::string nearest = NearestWord(name, {names->begin(), names->end()});
    return absl::NotFoundError(
        absl::StrFormat("policy `%s`: not in %s nor in %s%s; there are: %s", name,
                        OperatorDirectory(config_), ShippedDirectory(config_),
                        nearest.empty() ? "" : absl::StrFormat("; did you mean `%s`?", nearest),
                        absl::StrJoin(*names, ", ")));
  }

  const Config& config_;
  SyscallGroups groups_;
  std::set<std::string> asked_;
  std::string covered_;
};

}  // namespace

absl::StatusOr<NamedPolicy> LoadPolicy(const Config& config, std::string_view name) {
  PolicyLoader loader(config);
  if (absl::Status status = loader.LoadGroups(); !status.ok()) return status;
  absl::StatusOr<PolicyFragment> fragment = loader.Load(std::string(name));
  if (!fragment.ok()) return fragment.status();
  const std::string source = fragment->source;
  absl::StatusOr<NamedPolicy> policy = FinishPolicy(*std::move(fragment));
  if (!policy.ok()) return policy.status();
  policy->name = std::string(name);
  policy->confinement.name = policy->name;
  policy->source = source;
  policy->digest = loader.digest();
  return policy;
}

absl::StatusOr<std::vector<std::string>> ListPolicies(const Config& config) {
  const absl::StatusOr<std::set<std::string>> names = AllNames(config);
  if (!names.ok()) return names.status();
  std::vector<std::string> usable;
  for (const std::string& name : *names) {
    const absl::StatusOr<NamedPolicy> policy = LoadPolicy(config, name);
    if (!policy.ok()) return policy.status();
    if (!policy->abstract) usable.push_back(name);
  }
  return usable;
}

}  // namespace warder::manifest
