#!/usr/bin/env bash
# file_length.sh [ROOT]: a .cc file has at most 400 lines, a .h file at most 200. (Functions: clang-tidy, 60 lines.)
set -euo pipefail
cd "${1:-.}"
failed=0
while IFS= read -r -d '' file; do
  limit=400
  [[ $file == *.cc ]] || limit=200
  lines=$(wc -l <"$file")
  if ((lines > limit)); then
    echo "$file: $lines lines, the limit is $limit: split it along a noun"
    failed=1
  fi
done < <(find sandbox manifest approval supervisor tests -name node_modules -prune -o \( -name '*.cc' -o -name '*.h' \) -print0)
exit "$failed"
