#include "manifest/program_resolution.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "manifest/pinning.h"
#include "manifest/shebang.h"

namespace warder::manifest {
namespace {

// What became of the entries of PATH, for the message when none of them had the program.
struct SearchReport {
  std::vector<std::string> searched;  // directories that exist
  std::size_t absent = 0, relative = 0;
  std::vector<std::string> untrusted;
  absl::Status first_refusal;  // a file of that name that cannot be used
};

// Only directories that exist are named: any other entry may be a secret that a manifest put there
// with ${...}.
std::string Describe(const SearchReport& report, const NamedPolicy& policy) {
  const auto list = [](const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + Quoted(path);
    return text;
  };
  std::string text = report.searched.empty() ? "no directory to search" : list(report.searched);
  if (report.absent > 0) text += absl::StrFormat("; %d that are no directories", report.absent);
  if (report.relative > 0) text += absl::StrFormat("; %d relative ones skipped", report.relative);
  if (!report.untrusted.empty()) {
    text += absl::StrFormat(
        "; skipped, because policy %s trusts only directories that root alone can change: %s",
        Quoted(policy.name), list(report.untrusted));
  }
  return text;
}

// Opens and holds one program file. `written` is absolute, or relative to `base_path`.
absl::StatusOr<PinnedFile> OpenProgram(int base_fd, const std::string& base_path,
                                       const std::string& written, FileRole role,
                                       const CellView& view) {
  absl::StatusOr<HostPath> file = OpenHostPath(base_fd, written);
  if (!file.ok()) return file.status();
  const std::string absolute = written.starts_with('/') ? written : base_path + "/" + written;
  absl::Status seen = view.CheckWithLinks(absolute, *file);
  if (!seen.ok()) return seen;
  return Pin(*file, view, role, written);
}

// Faults of the machine or of the moment, which another directory of PATH cannot mend.
bool EndsTheSearch(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsAborted(status) ||
         absl::IsFailedPrecondition(status);
}

absl::StatusOr<PinnedFile> SearchDirectory(const std::string& entry, const std::string& name,
                                           const CellView& view, SearchReport* report) {
  absl::StatusOr<HostPath> directory = OpenHostPath(AT_FDCWD, entry);
  if (!directory.ok() && EndsTheSearch(directory.status())) return directory.status();
  if (!directory.ok() || !S_ISDIR(directory->status.st_mode)) {
    ++report->absent;
    return absl::NotFoundError("no directory");
  }
  if (view.policy().environment.trusted_path_only && OthersMayChange(*directory)) {
    report->untrusted.push_back(directory->path);
    return absl::NotFoundError("not trusted");
  }
  report->searched.push_back(directory->path);
  return OpenProgram(directory->fd.get(), directory->path, name, FileRole::kProgram, view);
}

absl::StatusOr<PinnedFile> SearchPath(const ProgramRequest& request, const CellView& view) {
  const std::string& name = request.argv.front();
  SearchReport report;
  std::string_view rest = request.search_path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string entry(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!entry.starts_with('/')) {
      ++report.relative;
      continue;
    }
    absl::StatusOr<PinnedFile> found = SearchDirectory(entry, name, view, &report);
    if (found.ok() || EndsTheSearch(found.status())) return found;
    if (!absl::IsNotFound(found.status()) && report.first_refusal.ok()) {
      report.first_refusal =
          WithPrefix(found.status(), absl::StrFormat("found in %s", Quoted(entry)));
    }
  }
  if (!report.first_refusal.ok()) return report.first_refusal;
  return absl::NotFoundError(
      absl::StrFormat("this name has no '/', so it was looked up in PATH (%s), and is not there: "
                      "write the path of the program, or set "
                      "PATH in the tool's `env`",
                      Describe(report, view.policy())));
}

absl::StatusOr<PinnedFile> FindProgram(const ProgramRequest& request, const CellView& view) {
  const std::string& word = request.argv.front();
  absl::StatusOr<PinnedFile> found =
      word.find('/') == std::string::npos
          ? SearchPath(request, view)
          : OpenProgram(request.base_fd, request.base_path, word, FileRole::kProgram, view);
  if (found.ok()) {
    found->written = word;
    return found;
  }
  std::string where = absl::StrFormat("%s: %s", request.field, Quoted(request.shown));
  // The place is told only where nothing was expanded into it.
  if (absl::IsNotFound(found.status()) && word == request.shown &&
      word.find('/') != std::string::npos && !word.starts_with('/')) {
    where += absl::StrFormat(" (from %s)", Quoted(request.base_path));
  }
  return WithPrefix(found.status(), where);
}

absl::StatusOr<ProgramHead> ReadHead(const PinnedFile& file) {
  std::array<char, kProgramHeadBytes> buffer;
  const ssize_t size = pread(file.fd.get(), buffer.data(), buffer.size(), 0);
  if (size < 0) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: cannot be read", Quoted(file.path)));
  }
  return ReadProgramHead(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
}

absl::StatusOr<PinnedFile> OpenInterpreter(const PinnedFile& script, const std::string& interpreter,
                                           const CellView& view) {
  const std::string where = absl::StrFormat("%s: the interpreter %s that its first line names",
                                            Quoted(script.path), Quoted(interpreter));
  if (!interpreter.starts_with('/')) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is a relative path, which would depend on the directory that it runs "
                        "in: write an absolute one",
                        where));
  }
  absl::StatusOr<PinnedFile> opened =
      OpenProgram(AT_FDCWD, "/", interpreter, FileRole::kInterpreter, view);
  if (opened.ok()) return opened;
  if (absl::IsNotFound(opened.status()) && interpreter.ends_with('\r')) {
    return absl::NotFoundError(absl::StrFormat(
        "%s does not exist and ends in a carriage return: save the file with Unix line ends",
        where));
  }
  return WithPrefix(opened.status(), where);
}

// `argv` as the kernel builds it, but with the script's real path: whatever name led to the script
// may lead elsewhere later.
void PutInterpreterFirst(const ProgramHead& head, const std::string& script,
                         std::vector<std::string>* argv) {
  argv->front() = script;
  if (head.argument) argv->insert(argv->begin(), *head.argument);
  argv->insert(argv->begin(), head.interpreter);
}

}  // namespace

absl::StatusOr<ResolvedProgram> ResolveProgram(const ProgramRequest& request,
                                               const CellView& view) {
  absl::StatusOr<PinnedFile> file = FindProgram(request, view);
  if (!file.ok()) return file.status();
  ResolvedProgram resolved;
  resolved.argv = request.argv;
  resolved.files.push_back(*std::move(file));
  // The held bytes are read, not the file's: with other bytes the kernel would follow another line
  // than the one seen here.
  for (std::size_t scripts = 0;; ++scripts) {
    const PinnedFile& front = resolved.files.back();
    absl::StatusOr<ProgramHead> head = ReadHead(front);
    if (!head.ok()) return head.status();
    if (head->kind == ProgramKind::kElf) break;
    if (head->kind == ProgramKind::kUnstartable) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: %s is not a program that the kernel can start: it begins neither as "
                          "an ELF file nor with a `#!` line that "
                          "names an interpreter",
                          request.field, Quoted(front.path)));
    }
    if (scripts == kMaxScripts) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: %s: more than %d scripts that are each other's interpreter",
                          request.field, Quoted(front.path), kMaxScripts));
    }
    absl::StatusOr<PinnedFile> interpreter = OpenInterpreter(front, head->interpreter, view);
    if (!interpreter.ok()) return WithPrefix(interpreter.status(), request.field);
    PutInterpreterFirst(*head, front.path, &resolved.argv);
    resolved.files.push_back(*std::move(interpreter));
  }
  std::reverse(resolved.files.begin(), resolved.files.end());
  return resolved;
}

}  // namespace warder::manifest
