#!/usr/bin/env bash
# Groups without a memory controller: policies that insist on limits of the whole cell refuse, others say that they are degraded.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
works as_root default '"name":"control group","required":true,"state":"degraded"' "cgroup_disable"
refused as_root ci-runner "control group" "memory" "cgroup_disable"
