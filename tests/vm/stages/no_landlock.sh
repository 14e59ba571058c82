#!/usr/bin/env bash
# A kernel that was booted without Landlock.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
for who in as_root as_user; do refused "$who" default landlock "lsm="; done
