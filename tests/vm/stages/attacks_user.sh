#!/usr/bin/env bash
# The attack corpus, as an ordinary user.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
# Where a debugger may do most, and there is an interface that a cell must not have.
echo 0 >/proc/sys/kernel/yama/ptrace_scope
modprobe dummy
no_test_fails '^attacks\.' in_session
