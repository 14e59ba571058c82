# expect.sh: what stages share. Sourced by root, in the source tree.
# shellcheck shell=bash
set -uo pipefail
tree=$(pwd -P)
warder=$tree/build/bin/warder
failures=0
trap 'exit "$((failures > 0))"' EXIT
fault() {
  failures=$((failures + 1))
  printf 'FAULT: %s\n' "$@"
}

# no_test_fails PATTERN [COMMAND...]: CTest's tests by that name pass, and none of them is skipped. COMMAND runs ctest.
no_test_fails() {
  local pattern=$1 room
  shift
  room=$(mktemp -d /tmp/results.XXXXXX)
  chmod 777 "$room"
  printf 'subdirs("%s/build")\n' "$tree" >"$room/CTestTestfile.cmake"
  "$@" ctest --test-dir "$room" --parallel "$(nproc)" --output-on-failure --no-tests=error \
    --output-junit "$room/junit.xml" -R "$pattern" || fault "tests failed"
  if grep -B1 '<skipped' "$room/junit.xml"; then fault "skipped: this kernel has all that they need"; fi
}

# An ordinary user with a home and a workspace, outside of any group that could be delegated.
mkdir -p /tmp/home/workspace /tmp/root/workspace
as_user() { tests/as_user.sh /tmp/home "$@"; }
as_root() { HOME=/tmp/root "$@"; }

# The same in a session: a group that is delegated to the user, as systemd does it.
in_session() {
  local group=/sys/fs/cgroup/session
  echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
  mkdir -p "$group/shell"
  chown -R 65432 "$group"/{,cgroup.procs,cgroup.subtree_control,cgroup.threads} "$group"/shell/{,cgroup.procs}
  (echo "$BASHPID" >"$group/shell/cgroup.procs" && as_user "$@")
}

# call WHO POLICY: runs a program; leaves what it said in `out`, and its exit code in `code`.
call() {
  local home=/tmp/root
  [[ $1 == as_root ]] || home=/tmp/home
  out=$("$1" "$warder" -w "$home/workspace" exec --policy "$2" --approve allow-all --json -- /bin/echo it-ran 2>&1 </dev/null)
  code=$?
}
doctor() {
  out=$("$1" "$warder" --policy "$2" doctor 2>&1 </dev/null)
  code=$?
}

# works WHO POLICY WORD...: a call runs, no layer is absent, and its attestation has each WORD.
works() {
  local who=$1 policy=$2 word
  shift 2
  call "$who" "$policy"
  [[ $code == 0 && $out == it-ran$'\n'* && $out != *'"state":"absent"'* ]] ||
    fault "$who, $policy: the call does not work: $code: $out"
  for word in "$@"; do [[ $out == *"$word"* ]] || fault "$who, $policy: the attestation lacks: $word: $out"; done
  doctor "$who" "$policy"
  [[ $code == 0 && $out == *"can run here"* && $out != *problem:* ]] || fault "$who, $policy: the doctor sees a problem: $out"
}

# refuses CALL|DOCTOR WHO POLICY WORD...: nothing runs, and each WORD is said.
refuses() {
  local command=$1 who=$2 policy=$3 word
  shift 3
  "$command" "$who" "$policy"
  [[ $code != 0 && $out != it-ran* ]] || fault "$who, $policy: $command: not refused: $code: $out"
  [[ $command == call ]] || out=$(sed -n '/^problem:/,$p' <<<"$out")
  for word in "$@"; do [[ $out == *"$word"* ]] || fault "$who, $policy: $command does not say: $word: $out"; done
}
tells() { refuses doctor "$@"; }  # it tries a call of its own
refused() { refuses call "$@" && tells "$@"; }

# with FILE VALUE COMMAND...: what COMMAND finds while FILE, a setting of the kernel, is VALUE.
with() {
  local file=$1 value=$2 before
  shift 2
  before=$(<"$file")
  echo "$file is $value: $*"
  echo "$value" >"$file"
  "$@"
  echo "$before" >"$file"
}
