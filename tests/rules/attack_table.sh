#!/usr/bin/env bash
# attack_table.sh [ROOT]: the table of tests/attacks/README.md is what table.sh prints, and every test that it names exists.
set -euo pipefail
cd "${1:-.}"
failed=0
if ! diff <(sed '1,/^<!-- table.sh -->$/d' tests/attacks/README.md) <(tests/attacks/table.sh); then
  echo "tests/attacks/README.md: not the table of its cases: run tests/attacks/table.sh --write"
  failed=1
fi
while read -r folder suite name; do
  # The formatter may break the line after the suite.
  cat "tests/$folder"/*_test.cc 2>/dev/null | tr -d ' \n' | grep -qE "TEST(_F|_P)?\($suite,$name\)" ||
    { echo "tests/attacks: tested by $folder.$suite.$name: there is no such test"; failed=1; }
done < <(sed -nE 's/^ +tested by ([a-z_]+)\.([A-Za-z0-9]+)\.([A-Za-z0-9]+).*/\1 \2 \3/p' tests/attacks/*.cases | sort -u)
exit "$failed"
