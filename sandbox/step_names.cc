#include <algorithm>
#include <iterator>

#include "sandbox/child_main.h"

namespace warder::sandbox {
namespace {

struct StepWord {
  StepKind kind;
  const char* name;
};

constexpr StepWord kStepWords[] = {
    {StepKind::kCloseUnused, "close-unused"},
    {StepKind::kReadGo, "wait-for-launcher"},
    {StepKind::kJoinNamespace, "join-namespace"},
    {StepKind::kNewNamespace, "new-namespace"},
    {StepKind::kCloneSibling, "clone-tool"},
    {StepKind::kSetGroup, "set-group"},
    {StepKind::kClearGroups, "clear-groups"},
    {StepKind::kSetUser, "set-user"},
    {StepKind::kNewSession, "new-session"},
    {StepKind::kMakePrivate, "make-mounts-private"},
    {StepKind::kMount, "mount"},
    {StepKind::kUnmount, "unmount"},
    {StepKind::kMoveMount, "place-mount"},
    {StepKind::kMountAttributes, "mount-attributes"},
    {StepKind::kMakeDirectory, "make-directory"},
    {StepKind::kSymlink, "symlink"},
    {StepKind::kWriteFile, "write-file"},
    {StepKind::kCopyFile, "copy-pinned-file"},
    {StepKind::kBindFile, "place-pinned-file"},
    {StepKind::kChangeDirectory, "change-directory"},
    {StepKind::kPivotRoot, "pivot-root"},
    {StepKind::kOpenExpected, "open-as-shown"},
    {StepKind::kOpenSame, "open-pinned-file"},
    {StepKind::kEnterDirectory, "enter-directory"},
    {StepKind::kLoopbackUp, "loopback-up"},
    {StepKind::kSetHostName, "set-host-name"},
    {StepKind::kSetUmask, "set-umask"},
    {StepKind::kSetPriority, "set-priority"},
    {StepKind::kSetLimit, "set-limit"},
    {StepKind::kDuplicate, "standard-streams"},
    {StepKind::kDropBounding, "drop-bounding-set"},
    {StepKind::kSetCapabilities, "set-capabilities"},
    {StepKind::kNoNewPrivileges, "no-new-privileges"},
    {StepKind::kLandlockCreate, "landlock-ruleset"},
    {StepKind::kLandlockRule, "landlock-rule"},
    {StepKind::kLandlockRestrict, "landlock"},
    {StepKind::kCloseRange, "close-descriptors"},
    {StepKind::kSeccomp, "seccomp"},
    {StepKind::kDeathSignal, "death-signal"},
    {StepKind::kNotDumpable, "not-dumpable"},
    {StepKind::kIgnoreChildren, "reap-orphans"},
    {StepKind::kUnblockSignals, "unblock-signals"},
    {StepKind::kReport, "report"},
    {StepKind::kIdle, "idle"},
    {StepKind::kExec, "exec"},
};

}  // namespace

const char* StepName(StepKind kind) {
  const auto* const found =
      std::find_if(std::begin(kStepWords), std::end(kStepWords),
                   [kind](const StepWord& word) { return word.kind == kind; });
  return found == std::end(kStepWords) ? "invalid" : found->name;
}

}  // namespace warder::sandbox
