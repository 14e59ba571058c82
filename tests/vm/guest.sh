#!/bin/bash
# guest.sh: pid 1 of the machine, once its disks are there. Runs the stages that the kernel's command line names, then switches off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
tree=$(cd "$(dirname "$0")/../.." && pwd -P)
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t securityfs security /sys/kernel/security
mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup  # as systemd does
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
busybox ip link set lo up
busybox hostname vm
cd "$tree" || exit
exec </dev/null >/dev/ttyS1 2>&1
for stage in $(sed -n 's/.*warder\.stages=\([^ ]*\).*/\1/p' /proc/cmdline | tr , ' '); do
  from=$SECONDS
  echo "stage $stage: started"
  end=FAILED
  if setsid -w bash "tests/vm/stages/$stage.sh"; then end=passed; fi
  echo "stage $stage: $end in $((SECONDS - from)) s"
done
busybox poweroff -f
