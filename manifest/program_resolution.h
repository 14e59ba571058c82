// Program resolution: from the first word of a command to the files that the kernel loads, each one
// held, and the argv.
#ifndef WARDER_MANIFEST_PROGRAM_RESOLUTION_H_
#define WARDER_MANIFEST_PROGRAM_RESOLUTION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/host_path.h"
#include "manifest/prepared_call.h"

namespace warder::manifest {

// Scripts that may stand in a row before an ELF file; the kernel gives up after as many
// (exec_binprm in fs/exec.c).
inline constexpr std::size_t kMaxScripts = 5;

struct ProgramRequest {
  std::vector<std::string> argv;  // the program's word first; not empty
  std::string shown;      // how messages name argv[0]: unexpanded, so that no value is in it
  std::string field;      // where argv[0] stands, for messages: "command[0]"
  int base_fd = -1;       // directory that a relative path starts from; borrowed
  std::string base_path;  // its real path
  std::string
      search_path;  // PATH of the tool's final environment; only used for a word without '/'
};

struct ResolvedProgram {
  std::vector<std::string> argv;  // what execve gets
  std::vector<PinnedFile> files;  // in the order of execution, the ELF file first, the script last
};

// A word with '/' is a path, relative to the base; any other is looked up in the absolute
// directories of PATH that the cell sees, as execvp(3) does but without its shell. Then "#!" lines
// are followed to an ELF file. Scripts are named in argv by their real paths; argv[0] stays as the
// command or the "#!" line has it, because programs find themselves by it.
//
// Errors: kNotFound (program, interpreter), kPermissionDenied (not executable, not readable, not in
//   view of a cell), kInvalidArgument (not a program, link of /proc, relative interpreter, too many
//   scripts), kResourceExhausted, kAborted, kFailedPrecondition.
absl::StatusOr<ResolvedProgram> ResolveProgram(const ProgramRequest& request, const CellView& view);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_PROGRAM_RESOLUTION_H_
