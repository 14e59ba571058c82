#!/usr/bin/env bash
# words.sh [ROOT]: no file has a word of words.txt (extended regular expressions, one a line, case-sensitive).
set -euo pipefail
list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/words.txt
cd "${1:-.}"
hits=$(grep -rnIE -f <(grep -vE '^(#|$)' "$list") . --exclude-dir=.git --exclude-dir=node_modules --exclude-dir='build*' \
  --exclude=LICENSE --exclude=words.txt --exclude=package-lock.json || true)
[[ -z $hits ]] || { printf '%s\n' "$hits"; echo "words: see tests/rules/words.txt for what is wrong with them"; exit 1; }
