#!/usr/bin/env bash
# tour.sh WARDER: shows Warder at work on a copy of examples/workspace. Each command line shown is the one that runs, and each exit
# code is checked: the tour fails when something does not happen as it says. `./dev demo` builds and runs it.
set -euo pipefail
umask 022
[[ $# == 1 && -x $1 ]] || { echo "usage: examples/tour.sh PATH-OF-WARDER" >&2; exit 2; }
binary=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# Cells see the system's directories, so programs are looked up there and nowhere else.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
room=$(mktemp -d)
started=()
clean_up() {
  [[ ${#started[@]} == 0 ]] || kill "${started[@]}" 2>/dev/null || true
  rm -rf --one-file-system "$room"
}
trap clean_up EXIT
cd "$room"

bold="" plain=""
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
fi
chapter=0
heading() { printf '\n%s%s. %s%s\n' "$bold" "$((++chapter))" "$1" "$plain"; }
note() { printf '   %s\n' "$1"; }
# Its own configuration and audit log, so that neither the machine's rules nor its log have a part in the tour.
warder() { "$binary" --config-dir "$room/config" --state-dir "$room/state" "$@"; }

# shown WORD...: the words as a person would type them.
shown() {
  local word line=""
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./:=,-]+$ ]]; then line+=" $word"; else line+=" '${word//\'/\'\\\'\'}'"; fi
  done
  printf '   $%s\n' "$line"
}
wrong() { printf 'tour: %s\n' "$1" >&2; exit 1; }
# expect CODE COMMAND...: shows the command, runs it, and ends the tour when its exit code is another one.
expect() {
  local wanted=$1 got=0
  shift
  shown "$@"
  "$@" </dev/null || got=$?
  [[ $got == "$wanted" ]] || wrong "exit code $got instead of $wanted"
  [[ $wanted == 0 ]] || note "(exit code $got)"
}

# What the tour needs around the workspace: history, a build server on the loopback, a listening socket, a secret.
cp -r "$here/workspace" shop
cp "$here/rules.json" rules.json
mkdir -m 700 config state
commit() {
  git -C shop add -- "${@:2}"
  GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com GIT_AUTHOR_DATE="2025-0$((++month))-03T09:00:00Z" \
    GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com git -C shop commit -q -m "$1"
}
month=0
git -c init.defaultBranch=main init -q shop
commit "Start the shop" README.md shop
commit "Document discounts" docs
commit "Add the sales of the first half-year" data
commit "Declare tools" .basis tools
export JENKINS_TOKEN="tour-$RANDOM$RANDOM"
python3 -I "$here/jenkins_server.py" "$room/port" &
started+=($!)
python3 -I -c 'import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True: listener.accept()' "$room/host.sock" &
started+=($!)
for _ in {1..100}; do
  [[ -s port && -S host.sock ]] && break
  sleep 0.1
done
[[ -s port && -S host.sock ]] || wrong "the build server did not start within 10 s"
port=$(cat port)
export JENKINS_URL=http://127.0.0.1:$port

echo "Each call below also gets --config-dir and --state-dir in a fresh directory: the tour leaves no trace."

heading "A repository declares tools; Warder reads them, strictly"
expect 0 warder --workspace shop list

heading "What exactly would run: the preview, as an approver sees it. Nothing runs"
expect 0 warder --workspace shop preview git_history --input '{"path": "shop/pricing.py", "limit": 3}'

heading "Nobody allows it: it does not run"
expect 126 warder --workspace shop call git_history --approve deny-all
note "With no terminal and no approver the answer is the same:"
expect 126 warder --workspace shop call git_history

heading "Allowed calls, each in a cell of its own"
expect 0 warder --workspace shop call git_history --approve allow-all --input '{"limit": 3}'
expect 0 warder --workspace shop call query_sales --approve allow-all \
  --input '{"sql": "SELECT product, SUM(units) AS units FROM sales GROUP BY product"}'
# shellcheck disable=SC2016  # "$(reboot)" is data, and stays data
expect 0 warder --workspace shop call format_json --approve allow-all \
  --input '{"text": "{\"b\": [1, 2], \"a\": \"$(reboot)\"}", "indent": 0, "sort_keys": true}'

heading "An operator's rules decide instead of a person"
expect 0 warder --workspace shop call report --approve rules:rules.json --input '{"month": "2025-03"}'
expect 0 warder --workspace shop call jenkins_job --approve rules:rules.json --input '{"job": "nightly", "action": "build"}'
note "This one a rule denies:"
expect 126 warder --workspace shop call jenkins_job --approve rules:rules.json --input '{"job": "deploy", "action": "build"}'

heading "Input that breaks the tool's schema is refused before anybody is asked"
expect 126 warder --workspace shop call report --approve allow-all --input '{"month": "march"}'

outside=$(dirname "$binary")/warder-was-here  # no directory of a cell
heading "An attack that the cell stops: allowed, and still it gets nowhere"
expect 0 warder --workspace shop call try_to_leave --approve allow-all \
  --input "{\"tcp_port\": $port, \"unix_socket\": \"$room/host.sock\", \"pid\": $$, \"outside_file\": \"$outside\"}"
[[ ! -e $outside && ! -e /etc/warder-was-here && ! -e /usr/bin/warder-was-here ]] || wrong "a file got out"
if pgrep -x left-behind >/dev/null; then wrong "a child outlived its call"; fi
note "Checked from outside: no such file was written, and no process named left-behind is alive."

heading "A deadline means that the whole tree is gone"
expect 124 warder --workspace shop call slow --approve allow-all

heading "The attestation: what was required of the cell, and what was proven"
json_call=(warder --workspace shop --json call report --approve allow-all --input '{"region": "north"}')
printf '%s > outcome.json\n' "$(shown "${json_call[@]}")"
"${json_call[@]}" </dev/null >outcome.json
cp "$here/attestation.jq" .
expect 0 jq -r -f attestation.jq outcome.json

heading "All of it is in the audit log, each record chained to the one before"
expect 0 warder audit verify
[[ ! -e shop/left-behind.txt ]] || wrong "a child outlived its call"
