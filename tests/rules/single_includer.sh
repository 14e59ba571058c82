#!/usr/bin/env bash
# single_includer.sh [ROOT]: within the named folders, exactly the files of single_includer.txt include each of its headers.
set -euo pipefail
list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/single_includer.txt
cd "${1:-.}"
failed=0
while read -r pattern folders files; do
  [[ $pattern != "" && $pattern != \#* ]] || continue
  IFS=, read -ra within <<<"$folders"
  found=$(grep -rlE "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]$pattern" --include='*.cc' --include='*.h' \
    --exclude-dir=node_modules "${within[@]}" | sort | tr '\n' ' ' || true)
  expected=$(tr ' ' '\n' <<<"$files" | sort | tr '\n' ' ')
  if [[ $found != "$expected" ]]; then
    printf 'header %s: included by: %s\n  expected exactly: %s\n' "$pattern" "${found:-nobody}" "$expected"
    failed=1
  fi
done <"$list"
exit "$failed"
