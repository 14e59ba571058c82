#!/usr/bin/env bash
# mirror.sh [ROOT]: <folder>/<file>.cc has tests/<folder>/<file>_test.cc, or a line with a reason in mirror_exceptions.txt.
set -euo pipefail
list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/mirror_exceptions.txt
cd "${1:-.}"
failed=0
for file in {sandbox,manifest,approval,supervisor}/*.cc; do
  [[ -e $file ]] || continue
  mirror=tests/${file%.cc}_test.cc
  excepted=$(grep -cE "^$file +[^ ]" "$list" || true)
  if [[ ! -e $mirror && $excepted == 0 ]]; then
    echo "$file: no $mirror, and no reason in tests/rules/mirror_exceptions.txt"
    failed=1
  elif [[ -e $mirror && $excepted != 0 ]]; then
    echo "$file: has $mirror: its exception in tests/rules/mirror_exceptions.txt is out of date"
    failed=1
  fi
done
while read -r file _; do
  [[ $file == "" || $file == \#* || -e $file ]] || { echo "$file: named in mirror_exceptions.txt, does not exist"; failed=1; }
done <"$list"
exit "$failed"
