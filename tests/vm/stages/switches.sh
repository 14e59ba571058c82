#!/usr/bin/env bash
# Settings of the kernel that take something away from cells.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
lsm=$(</sys/kernel/security/lsm)
[[ $lsm == *landlock*yama*apparmor* ]] || fault "not the security modules of a Debian host: $lsm"

# The limits of namespaces hold for root, too.
for pair in user:user pid:pid mnt:mount ipc:ipc uts:uts net:network cgroup:cgroup; do
  sysctl=user.max_${pair%:*}_namespaces
  with "/proc/sys/${sysctl//.//}" 0 tells as_root default "${pair#*:} namespace" "$sysctl"
done
with /proc/sys/user/max_user_namespaces 0 refused as_user default "user namespace" user.max_user_namespaces
with /proc/sys/user/max_net_namespaces 0 refused as_user default "network namespace" user.max_net_namespaces

# Debian's own switch is for ordinary users.
with /proc/sys/kernel/unprivileged_userns_clone 0 refused as_user default "user namespace" kernel.unprivileged_userns_clone
with /proc/sys/kernel/unprivileged_userns_clone 0 works as_root default '"tier":"root"'

# Ubuntu's is not in Debian's kernel; if it comes, it has to be tried here.
switch=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
[[ ! -e $switch ]] || with "$switch" 1 refused as_user default "user namespace" AppArmor

# A host's own hard limit below the policy's.
ulimit -n 700
works as_root ci-runner "the host's own Max open files 700"

# A file system that nobody loads.
mkdir -p /etc/modprobe.d
echo 'install overlay /bin/false' >/etc/modprobe.d/none.conf
modprobe -r overlay 2>/dev/null
refused as_root untrusted-review "modprobe overlay"
rm /etc/modprobe.d/none.conf
works as_root untrusted-review

# Yama's last step cannot be taken back.
for scope in 1 2; do
  with /proc/sys/kernel/yama/ptrace_scope "$scope" works as_root default
  with /proc/sys/kernel/yama/ptrace_scope "$scope" works as_user default
done
echo 3 >/proc/sys/kernel/yama/ptrace_scope
refused as_root default kernel.yama.ptrace_scope
