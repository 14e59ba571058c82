#include "manifest/environment.h"

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "manifest/expansion.h"
#include "manifest/host_path.h"

namespace warder::manifest {
namespace {

constexpr auto kLoaderNames = std::to_array<std::string_view>({
    // The dynamic linker and the C library: libraries and converters loaded into every program.
    "DYLD_*",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "LD_*",
    "LOCPATH",
    // Shells: files and text that are run before or between commands, and functions that replace
    // commands.
    "BASHOPTS",
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASH_LOADABLES_PATH",
    "ENV",
    "FPATH",
    "IFS",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "ZDOTDIR",
    // Node and its package managers.
    "BUN_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "NPM_CONFIG_*",
    // Python. PYTHONWARNINGS imports the module of the category that it names.
    "PYTHONBREAKPOINT",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    // Perl, Ruby, PHP, Lua, R.
    "BUNDLE_GEMFILE",
    "GEM_HOME",
    "GEM_PATH",
    "LUA_CPATH*",
    "LUA_INIT*",
    "LUA_PATH*",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "RUBYLIB",
    "RUBYOPT",
    "R_ENVIRON*",
    "R_PROFILE*",
    // Java and .NET: agents, class paths, start-up hooks and profilers.
    "ANT_OPTS",
    "CLASSPATH",
    "CORECLR_*",
    "COR_*",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_STARTUP_HOOKS",
    "GRADLE_OPTS",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "SBT_OPTS",
    "_JAVA_OPTIONS",
    // git: commands that it starts, and settings that name some.
    "GIT_ASKPASS",
    "GIT_CONFIG*",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH*",
    "GIT_TEMPLATE_DIR",
    // Programs that others start by name, and options that make them start some.
    "BROWSER",
    "CVS_RSH",
    "EDITOR",
    "EXINIT",
    "GNUMAKEFLAGS",
    "LESSCLOSE",
    "LESSOPEN",
    "MAKEFLAGS",
    "MANPAGER",
    "PAGER",
    "RSYNC_RSH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TAR_OPTIONS",
    "VIMINIT",
    "VISUAL",
    // Modules of widespread libraries.
    "GIO_EXTRA_MODULES",
    "GTK_MODULES",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "QT_PLUGIN_PATH",
});

bool MatchesAny(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const std::string& pattern) { return NameMatches(pattern, name); });
}

std::string FileOf(const NamedPolicy& policy) {
  return policy.source.empty() ? "the policy" : Quoted(policy.source);
}

absl::Status CheckVariable(std::string_view name, std::string_view value, std::string_view where) {
  const char* fault = nullptr;
  if (name.empty()) {
    fault = "a variable needs a name";
  } else if (name.find('=') != std::string_view::npos ||
             name.find('\0') != std::string_view::npos) {
    fault = "a name may hold neither '=' nor NUL";
  } else if (value.find('\0') != std::string_view::npos) {
    fault = "the value holds a NUL byte";
  }
  if (fault == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s: %s", where, Quoted(name), fault));
}

// One layer over the ones below it.
absl::Status AddLayer(const NamedValues& layer, VariableOrigin origin, std::string_view where,
                      std::map<std::string, Variable>* variables) {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : layer) {
    absl::Status valid = CheckVariable(name, value, where);
    if (!valid.ok()) return valid;
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: %s is there twice", where, Quoted(name)));
    }
    (*variables)[name] = Variable{name, value, origin, ChangesLoading(name)};
  }
  return absl::OkStatus();
}

absl::Status CheckLeave(const NamedPolicy& policy, const NamedValues& from_manifest) {
  for (const auto& [name, value] : from_manifest) {
    if (!ChangesLoading(name) || MatchesAny(policy.environment.loader_names, name)) continue;
    return absl::PermissionDeniedError(
        absl::StrFormat("env: %s changes what programs load, and policy %s does not let a manifest "
                        "set it: take it out of `env`, or add "
                        "it to environment.loader_names of %s",
                        Quoted(name), Quoted(policy.name), FileOf(policy)));
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const std::string_view> LoaderNames() { return kLoaderNames; }

bool ChangesLoading(std::string_view name) {
  const auto matches = [name](std::string_view pattern) {
    const bool prefix = pattern.ends_with('*');
    if (prefix) pattern.remove_suffix(1);
    if (prefix ? name.size() < pattern.size() : name.size() != pattern.size()) return false;
    const std::string_view head = name.substr(0, pattern.size());
    return absl::EqualsIgnoreCase({pattern.data(), pattern.size()}, {head.data(), head.size()});
  };
  return std::any_of(kLoaderNames.begin(), kLoaderNames.end(), matches);
}

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

VariableMap ReadInherited(const std::vector<std::string>& entries) {
  VariableMap variables;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    variables.try_emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

VariableReader::VariableReader(const VariableMap& inherited, const NamedPolicy& policy)
    : inherited_(inherited), policy_(policy) {}

bool VariableReader::Readable(std::string_view name) const {
  const std::optional<std::vector<std::string>>& readable = policy_.environment.readable;
  return !readable || MatchesAny(*readable, name);
}

absl::StatusOr<std::string> VariableReader::Expand(std::string_view text, std::string_view field) {
  std::string refused;
  const auto lookup = [this, &refused](std::string_view name) -> std::optional<std::string> {
    if (!Readable(name)) {
      if (refused.empty()) refused = name;
      return std::nullopt;
    }
    const auto found = inherited_.find(name);
    if (found == inherited_.end()) return std::nullopt;
    return found->second;
  };
  std::vector<std::string> names;
  absl::StatusOr<std::string> expanded = manifest::Expand(text, lookup, &names);
  if (!refused.empty()) {
    return absl::PermissionDeniedError(
        absl::StrFormat("%s: policy %s does not let a manifest read variable %s: take it out of "
                        "the manifest, or add it to "
                        "environment.readable of %s",
                        field, Quoted(policy_.name), Quoted(refused), FileOf(policy_)));
  }
  if (absl::IsNotFound(expanded.status())) {
    // A manifest that cannot be expanded is a fault of the call; "not found" is kept for files.
    const std::string message(expanded.status().message());
    return absl::InvalidArgumentError(absl::StrFormat("%s: %s", field, message));
  }
  if (!expanded.ok()) return WithPrefix(expanded.status(), field);
  for (std::string& name : names) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      names_.push_back(std::move(name));
    }
  }
  if (expanded->find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: holds a NUL byte", field));
  }
  return expanded;
}

absl::StatusOr<std::vector<Variable>> LayerEnvironment(const NamedPolicy& policy,
                                                       const VariableMap& inherited,
                                                       const NamedValues& cell,
                                                       const NamedValues& from_manifest) {
  absl::Status leave = CheckLeave(policy, from_manifest);
  if (!leave.ok()) return leave;
  std::map<std::string, Variable> variables;
  for (const auto& [name, value] : inherited) {
    if (!policy.environment.inherit_all && !MatchesAny(policy.environment.baseline, name)) continue;
    variables[name] = Variable{name, value, VariableOrigin::kInherited, ChangesLoading(name)};
  }
  const std::string fixed = absl::StrFormat("policy %s: environment.fixed", Quoted(policy.name));
  absl::Status added = AddLayer(cell, VariableOrigin::kCell, "cell", &variables);
  if (added.ok()) {
    added = AddLayer(policy.environment.fixed, VariableOrigin::kOperator, fixed, &variables);
  }
  if (added.ok()) added = AddLayer(from_manifest, VariableOrigin::kManifest, "env", &variables);
  if (!added.ok()) return added;

  std::vector<Variable> sorted;
  sorted.reserve(variables.size());
  for (auto& [name, variable] : variables) sorted.push_back(std::move(variable));
  return sorted;
}

}  // namespace warder::manifest
