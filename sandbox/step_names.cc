#include "sandbox/child_main.h"

namespace warder::sandbox {

const char* StepName(StepKind kind) {
  switch (kind) {
    case StepKind::kReadGo:
      return "wait-for-launcher";
    case StepKind::kJoinNamespace:
      return "join-namespace";
    case StepKind::kCloneSibling:
      return "clone-tool";
    case StepKind::kSetGroup:
      return "set-group";
    case StepKind::kClearGroups:
      return "clear-groups";
    case StepKind::kSetUser:
      return "set-user";
    case StepKind::kNewSession:
      return "new-session";
    case StepKind::kMakePrivate:
      return "make-mounts-private";
    case StepKind::kMount:
      return "mount";
    case StepKind::kUnmount:
      return "unmount";
    case StepKind::kMoveMount:
      return "place-mount";
    case StepKind::kMountAttributes:
      return "mount-attributes";
    case StepKind::kMakeDirectory:
      return "make-directory";
    case StepKind::kSymlink:
      return "symlink";
    case StepKind::kWriteFile:
      return "write-file";
    case StepKind::kCopyFile:
      return "copy-pinned-file";
    case StepKind::kBindFile:
      return "place-pinned-file";
    case StepKind::kChangeDirectory:
      return "change-directory";
    case StepKind::kPivotRoot:
      return "pivot-root";
    case StepKind::kOpenExpected:
      return "open-as-shown";
    case StepKind::kOpenSame:
      return "open-pinned-file";
    case StepKind::kEnterDirectory:
      return "enter-directory";
    case StepKind::kLoopbackUp:
      return "loopback-up";
    case StepKind::kSetHostName:
      return "set-host-name";
    case StepKind::kSetUmask:
      return "set-umask";
    case StepKind::kSetPriority:
      return "set-priority";
    case StepKind::kSetLimit:
      return "set-limit";
    case StepKind::kDuplicate:
      return "standard-streams";
    case StepKind::kDropBounding:
      return "drop-bounding-set";
    case StepKind::kSetCapabilities:
      return "set-capabilities";
    case StepKind::kNoNewPrivileges:
      return "no-new-privileges";
    case StepKind::kLandlockCreate:
      return "landlock-ruleset";
    case StepKind::kLandlockRule:
      return "landlock-rule";
    case StepKind::kLandlockRestrict:
      return "landlock";
    case StepKind::kCloseRange:
      return "close-descriptors";
    case StepKind::kSeccomp:
      return "seccomp";
    case StepKind::kDeathSignal:
      return "death-signal";
    case StepKind::kNotDumpable:
      return "not-dumpable";
    case StepKind::kIgnoreChildren:
      return "reap-orphans";
    case StepKind::kUnblockSignals:
      return "unblock-signals";
    case StepKind::kReport:
      return "report";
    case StepKind::kIdle:
      return "idle";
    case StepKind::kExec:
      return "exec";
  }
  return "invalid";
}

}  // namespace warder::sandbox
