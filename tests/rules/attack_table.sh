#!/usr/bin/env bash
# attack_table.sh [ROOT]: the table of tests/attacks/README.md is what table.sh prints, and every test that it names exists.
set -euo pipefail
cd "${1:-.}"
failed=0
if ! diff <(sed '1,/^<!-- table.sh -->$/d' tests/attacks/README.md) <(tests/attacks/table.sh); then
  echo "tests/attacks/README.md: not the table of its cases: run tests/attacks/table.sh --write"
  failed=1
fi
# The formatter may break the line between the two names.
tests_there() {
  local folder
  for folder in tests/*/; do
    find "$folder" -maxdepth 1 -name '*_test.cc' -exec cat {} + | tr -d ' \n' | { grep -oE 'TEST(_F|_P)?\([A-Za-z0-9]+,[A-Za-z0-9]+\)' || true; } |
      sed -E "s/.*\((.*),(.*)\)/$(basename "$folder").\1.\2/"
  done
}
named=$(sed -nE 's/^ +tested by ([A-Za-z0-9_.]+).*/\1/p' tests/attacks/*.cases | sort -u)
while read -r test; do
  echo "tests/attacks: tested by $test: there is no such test"
  failed=1
done < <(comm -23 <(echo "$named") <(tests_there | sort -u) | sed '/^$/d')
exit "$failed"
