#!/usr/bin/env bash
# table.sh [--write]: the table of README.md, from the *.cases beside it. With --write it goes into README.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
table() {
  local file group
  # In the order of their ids.
  grep -m1 -HoE '^[A-Z][0-9]+' ./*.cases | sort -t: -k2 | while IFS=: read -r file _; do
    group=$(basename "$file" .cases)
    printf '\n### %s\n\n| Id | Attack | Held by | Result |\n|---|---|---|---|\n' "${group^}"
    awk '
      function finish() {
        if (id == "") return
        held = probes == 0 ? "" : probes == 1 ? "1 probe" : probes " probes"
        if (tests != "") held = held (held == "" ? "" : ", ") tests
        if (held != "") held = "held: " held
        if (reasons != "") held = held (held == "" ? "" : "; ") reasons
        printf "| %s | %s | %s | %s |\n", id, title, layer, held
      }
      { sub(/ *#.*/, "") }
      /^[A-Z]/ {
        finish()
        split($0, part, / *\| */)
        id = part[1]; layer = part[2]; title = part[3]; probes = 0; tests = ""; reasons = ""
        next
      }
      /^ +under: / { next }
      /^ +tested by / { tests = tests (tests == "" ? "" : ", ") "`" $3 "`"; next }
      /^ +(open|no boundary|not here): / {
        sub(/^ +/, ""); sub(/^open:/, "**open**:")
        reasons = reasons (reasons == "" ? "" : "; ") $0
        next
      }
      / -> / { ++probes }
      END { finish() }' "$file" | LC_ALL=C sort
  done
}
if [[ ${1:-} == --write ]]; then
  text=$(sed '/^<!-- table.sh -->$/q' README.md && table)
  printf '%s\n' "$text" >README.md
else
  table
fi
