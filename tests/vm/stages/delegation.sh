#!/usr/bin/env bash
# Who delegates a control group, and who does not.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
# Without one, limits of each process hold, and that is said; three policies insist.
works as_user default '"name":"control group","required":true,"state":"degraded"' "Delegate=yes"
refused as_user ci-runner "control group" "Delegate=yes"

# A unit of systemd's: nobody else is in the group. Warder moves itself out of the way.
unit=/sys/fs/cgroup/unit
echo '+memory +pids' >/sys/fs/cgroup/cgroup.subtree_control
mkdir "$unit"
chown -R 65432 "$unit"/{,cgroup.procs,cgroup.subtree_control,cgroup.threads}
in_unit() { (echo "$BASHPID" >"$unit/cgroup.procs" && exec tests/as_user.sh /tmp/home "$@"); }
call in_unit ci-runner
[[ $code == 0 && $out == *"v2 memory+pids, "* ]] || fault "the call in a unit of its own: $code: $out"
[[ -d $unit/warder.host ]] || fault "Warder did not move out of the way"
left=$(find /sys/fs/cgroup -name 'warder-*')
[[ -z $left ]] || fault "groups are left: $left"

# The operator's own choice.
mkdir -p /tmp/root/.config/warder /sys/fs/cgroup/chosen /etc/warder
echo '{"schema": 1, "cgroup_parent": "/sys/fs/cgroup/chosen"}' >/etc/warder/config.json
works as_root ci-runner "v2 memory+pids, "
grep -qw memory /sys/fs/cgroup/chosen/cgroup.subtree_control || fault "the chosen group was not used"
rm /etc/warder/config.json
