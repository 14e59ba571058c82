#!/usr/bin/env bash
# skips.sh RESULTS: the tests that CTest skipped (its JUnit file) are exactly those of skips_root.txt or skips_user.txt. Both hold
# one "test: kernel feature that is missing" a line.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$folder/skips_user.txt
[[ $(id -u) != 0 ]] || list=$folder/skips_root.txt
names() { sed -n 's/.*<testcase name="\([^"]*\)".*/\1/p' | sed 's/ *# GetParam.*//' | sort; }
skipped=$({ grep -B1 '<skipped' "$1" || true; } | names)
expected=$(sed -n 's/^\([^#:]*\):.*/\1/p' "$list" | sort)
ran=$(names <"$1")
new=$(comm -23 <(echo "$skipped") <(echo "$expected") | sed '/^$/d')
# A listed test that this run did not select says nothing.
gone=$(comm -13 <(echo "$skipped") <(echo "$expected") | comm -12 - <(echo "$ran") | sed '/^$/d')
[[ -z $new ]] || printf 'skips: skipped, and not in %s:\n%s\n' "$list" "$new"
[[ -z $gone ]] || printf 'skips: in %s, and not skipped:\n%s\n' "$list" "$gone"
[[ -z $new && -z $gone ]]
echo "skips: $(sed '/^$/d' <<<"$skipped" | wc -l) skipped, as listed"
