#!/usr/bin/env bash
# Each limit, by a delegated control group of version 2.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
no_test_fails '^(end_to_end\.Limits\.|sandbox\.(CellCgroup|CgroupHost|ResourceLimits|NamespaceRemedy)\.|sandbox\.Trees/Group\..*/unified|supervisor\.LimitWatch\.)' in_session
