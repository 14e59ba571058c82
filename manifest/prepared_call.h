// PreparedCall: one call that passed every check that a machine can make, holding what it names.
#ifndef WARDER_MANIFEST_PREPARED_CALL_H_
#define WARDER_MANIFEST_PREPARED_CALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/catalog.h"
#include "manifest/policy_file.h"
#include "manifest/tool_spec.h"
#include "sandbox/unique_fd.h"

namespace warder::manifest {

enum class VariableOrigin : std::uint8_t { kInherited, kOperator, kManifest, kCell };
const char* VariableOriginName(VariableOrigin origin);

// One variable of the tool's environment. The value is a secret: it goes to the program and nowhere
// else.
struct Variable {
  std::string name;
  std::string value;
  VariableOrigin origin = VariableOrigin::kInherited;
  bool changes_loading = false;  // LD_*, NODE_OPTIONS, BASH_ENV, ...
};

enum class FileRole : std::uint8_t { kProgram, kInterpreter };

// One file that the kernel loads to start the tool: the program, or an interpreter that its "#!"
// line names. The chain is ordered as executed: the last interpreter (an ELF file) first, the
// script last; one element for a plain ELF.
struct PinnedFile {
  FileRole role = FileRole::kProgram;
  std::string path;      // as it appears in the cell: absolute, real path of the host
  std::string written;   // as argv[0] or the "#!" line has it
  sandbox::UniqueFd fd;  // O_RDONLY; when `copied`, a sealed memfd with the bytes that were hashed
  std::uint64_t device = 0, inode = 0, size = 0;  // of the host's file
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  std::uint32_t mode = 0, owner = 0;
  Sha256 digest{};
  // True when someone other than root, or a cell, could change the file or a directory above it:
  // its content was copied to sealed memory and the cell sees that copy at `path`. False: the
  // host's file itself, checked again by device, inode, size and times.
  bool copied = false;
};

struct PreparedCall {
  ToolSpec tool;
  std::string workspace_path;
  std::uint64_t workspace_device = 0, workspace_inode = 0;
  sandbox::UniqueFd workspace_fd;
  NamedPolicy policy;

  // What execve gets. With a "#!" chain, argv already starts with the interpreter and its argument
  // and repeats the script's path, exactly as the kernel would build it (execve(2), "Interpreter
  // scripts").
  std::vector<std::string> argv;
  std::vector<std::string> shown_argv;  // the manifest's own words, expanded
  std::vector<PinnedFile> files;        // files.front() is what is executed
  std::string cwd_path;                 // real path
  std::uint64_t cwd_device = 0, cwd_inode = 0;
  std::vector<Variable> environment;                // sorted by name
  std::vector<std::string> variables_read;          // names that the manifest's ${...} read
  std::vector<std::string> command_with_variables;  // unexpanded command words: what is stored
  bool argv_holds_variables = false;  // a ${...} went into command or cwd: argv may hold a secret
  std::string input;                  // the exact bytes for stdin
  Sha256 input_digest{};
  std::int64_t timeout_ms = kDefaultTimeoutMs;  // already cut by the policy's limit
};

// What the operator or a caller may add to a tool's words.
struct CallContext {
  const Workspace* workspace = nullptr;
  const NamedPolicy* policy = nullptr;
  // The supervisor's environment, "NAME=value".
  std::vector<std::string> inherited;
  // Names and values that the cell sets itself (HOME, TMPDIR, USER...), strongest of the inherited
  // layer.
  std::vector<std::pair<std::string, std::string>> cell_variables;
};

// Checks `input` (bytes of one JSON object; no bytes stand for `{}`) against the schema, expands,
// resolves program, "#!" chain and cwd, hashes and pins.
//
// Errors: kInvalidArgument (input not JSON, schema violation, expansion, cwd not a directory, not a
//   program, path through /proc), kNotFound (program, interpreter or cwd; for a bare name the
//   directories searched are named), kPermissionDenied (not executable, out of a cell's view,
//   loader variable without leave, variable that the policy does not let be read), kAborted (a file
//   changed meanwhile), kResourceExhausted, kFailedPrecondition (this host lacks /proc, openat2 or
//   executable memory files). Messages name tool, field and variable, never a value.
absl::StatusOr<PreparedCall> PrepareCall(const ToolSpec& tool, const CallContext& context,
                                         std::string input);

// The same for an operator's own command line (`warder exec`): no manifest, no schema, empty stdin
// input, no expansion. `cwd` is absolute, relative to the workspace root, or "" for that root; a
// relative program starts from it.
absl::StatusOr<PreparedCall> PrepareCommand(const std::vector<std::string>& argv,
                                            const std::string& cwd, const CallContext& context);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_PREPARED_CALL_H_
