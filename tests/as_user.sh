#!/usr/bin/env bash
# as_user.sh DIR COMMAND...: root runs COMMAND as a user without any privilege, whose home and temporary directory is DIR.
#
# The source tree is readable for that user even when it lies in a directory that is not (a clone below /root): a mount
# namespace that ends with the command shows it through a world-readable path. Nothing changes on the host but DIR's owner.
set -euo pipefail
[[ $(id -u) == 0 && $# -ge 2 ]] || { echo "as_user.sh: needs root, a directory and a command" >&2; exit 2; }
uid=${WARDER_TEST_UID:-65432}  # in the range that Debian reserves and gives to nobody
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
home=$(realpath "$1")
shift
chown -R "$uid:$uid" "$home"
mkdir -p "$home/run"
chown "$uid:$uid" "$home/run"
as_user=(setpriv "--reuid=$uid" "--regid=$uid" --clear-groups env -i
  PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 "HOME=$home" "TMPDIR=$home" "XDG_RUNTIME_DIR=$home/run")
may_pass() { setpriv "--reuid=$uid" "--regid=$uid" --clear-groups test -x "$1"; }

# The first directory on the way to the tree that the user cannot pass.
closed=""
walk=""
IFS=/ read -ra parts <<<"${tree#/}"
for part in "${parts[@]}"; do
  walk+=/$part
  if ! may_pass "$walk"; then closed=$walk; break; fi
done
cd "$tree"
[[ -n $closed ]] || exec "${as_user[@]}" "$@"

stage=$home/.stage
mkdir -p "$stage"
# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare --mount --propagation private bash -euo pipefail -c '
  tree=$1 stage=$2 closed=$3
  shift 3
  mount --bind "$tree" "$stage"
  mount -t tmpfs -o mode=755 tmpfs "$closed"
  mkdir -p "$tree"
  for entry in "$stage"/*; do
    target=$tree/${entry##*/}
    if [[ -d $entry ]]; then mkdir "$target"; else touch "$target"; fi
    mount --bind "$entry" "$target"
  done
  umount "$stage"
  cd "$tree"
  exec "$@"' as_user "$tree" "$stage" "$closed" "${as_user[@]}" "$@"
