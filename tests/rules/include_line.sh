#!/usr/bin/env bash
# include_line.sh [ROOT]: a file includes its own folder and folders to its left in this line, written from the root.
set -euo pipefail
cd "${1:-.}"
line=(sandbox manifest approval supervisor)
failed=0
allowed=""
for folder in "${line[@]}"; do
  allowed+=${allowed:+|}$folder
  while IFS= read -r hit; do
    echo "$hit: may include only from: ${allowed//|/ }"
    failed=1
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$folder"/*.h "$folder"/*.cc 2>/dev/null |
    grep -vE "include +\"(($allowed)/[a-z0-9_]+\.h|absl/[a-z_/]+\.h|re2/re2\.h)\"" || true)
done
exit "$failed"
