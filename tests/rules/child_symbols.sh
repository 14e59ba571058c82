#!/usr/bin/env bash
# child_symbols.sh OBJECT LIST: the code between clone and exec uses exactly the outside symbols of LIST. A line that starts
# with "?" is what some compiler settings add and others do not.
set -euo pipefail
object=$1 list=$2
[[ -f $object ]] || { echo "child_symbols: $object: no such object file: build warder_sandbox first"; exit 1; }
used=$(nm --undefined-only "$object" | awk '{print $NF}' | sort)
always=$(grep -vE '^(#|\?|$)' "$list" | sort)
sometimes=$(sed -n 's/^? *//p' "$list" | sort)
extra=$(comm -23 <(echo "$used") <(printf '%s\n%s\n' "$always" "$sometimes" | sort))
absent=$(comm -13 <(echo "$used") <(echo "$always"))
[[ -z $extra ]] || printf 'child_symbols: not on the list, may allocate, lock or log: %s\n' "${extra//$'\n'/ }"
[[ -z $absent ]] || printf 'child_symbols: on the list, no longer used: %s\n' "${absent//$'\n'/ }"
[[ -z $extra && -z $absent ]]
