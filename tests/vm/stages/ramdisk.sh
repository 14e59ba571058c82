#!/usr/bin/env bash
# A system that runs from its initial RAM disk: pivot_root(2) cannot leave it.
# shellcheck source=tests/vm/expect.sh
. tests/vm/expect.sh
refused as_root default pivot-root switch_root
