# title: pipes, here-documents, process substitution, tests of files, subshells
# needs: bash
set -eu
set -o pipefail
cat <<TEXT | tr a-z A-Z
here
TEXT
diff <(printf '1\n2\n') <(printf '1\n3\n') || echo differ
[[ -r $0 && ! -r /no/such ]] && echo readable
read -rt 1 line </dev/null || echo nothing
(((1 + 1 == 2))) && ( ( (echo deep) ) )
ulimit -a >/dev/null && echo limits
coproc cat
echo through >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
exec {COPROC[1]}>&-
wait
#=> HERE
#=> 2c2
#=> < 2
#=> ---
#=> > 3
#=> differ
#=> readable
#=> nothing
#=> deep
#=> limits
#=> through
