#!/usr/bin/env bash
# self_test.sh: each rule accepts a small tree that keeps it, and refuses the same tree with one fault.
set -euo pipefail
rules=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
failed=0

fresh_tree() {
  rm -rf "${room:?}/tree"
  mkdir -p "$room"/tree/{sandbox,manifest,approval,supervisor,tests/sandbox}
  cd "$room/tree"
  printf '#include "sandbox/a.h"\n' >sandbox/a.cc
  touch sandbox/a.h tests/sandbox/a_test.cc
  local pattern file files mirror header
  while read -r pattern _ files; do
    [[ $pattern != "" && $pattern != \#* ]] || continue
    for file in $files; do
      mkdir -p "$(dirname "$file")"
      header=${pattern//\\/}
      printf "#include <%s\n" "${header/(cell|spawn)/cell}" >>"$file"
      mirror=tests/${file%.cc}_test.cc
      mkdir -p "$(dirname "$mirror")"
      grep -qE "^$file " "$rules/mirror_exceptions.txt" || touch "$mirror"
    done
  done <"$rules/single_includer.txt"
  # The exceptions of the mirror rule name files that exist.
  while read -r file _; do
    [[ $file == "" || $file == \#* ]] || touch "$file"
  done <"$rules/mirror_exceptions.txt"
}
# refuses TITLE COMMAND...
refuses() {
  local title=$1
  shift
  if "$@" >"$room/output" 2>&1; then
    echo "self_test: not refused: $title"
    failed=1
  fi
}
accepts() {
  local title=$1
  shift
  if ! "$@" >"$room/output" 2>&1; then
    echo "self_test: refused: $title:"
    cat "$room/output"
    failed=1
  fi
}

fresh_tree
accepts "own folder" "$rules/include_line.sh" .
printf '#include "manifest/json.h"\n' >>sandbox/a.cc
refuses "a folder to the right" "$rules/include_line.sh" .
printf '#include "a.h"\n' >sandbox/a.cc
refuses "not written from the root" "$rules/include_line.sh" .

fresh_tree
accepts "the includers of the list" "$rules/single_includer.sh" .
printf '#include <seccomp.h>\n' >>sandbox/a.cc
refuses "a second includer of <seccomp.h>" "$rules/single_includer.sh" .

fresh_tree
accepts "short files" "$rules/file_length.sh" .
yes '//' | head -n 401 >sandbox/a.cc || true
refuses "a .cc of 401 lines" "$rules/file_length.sh" .
fresh_tree
yes '//' | head -n 201 >sandbox/a.h || true
refuses "a .h of 201 lines" "$rules/file_length.sh" .

fresh_tree
accepts "a test for each file" "$rules/mirror.sh" .
rm tests/sandbox/a_test.cc
refuses "a .cc without a test" "$rules/mirror.sh" .

fresh_tree
accepts "no word of the list" "$rules/words.sh" .
# In two pieces, or this file would break the rule itself.
printf '// TO%s: later\n' DO >>sandbox/a.cc
refuses "a word of the list" "$rules/words.sh" .

fresh_tree
mkdir -p tests/attacks
cp "$rules/../attacks/table.sh" tests/attacks
printf 'X1 | layer | title\n  tested by attacks.Some.Test\n' >tests/attacks/kernel.cases
printf 'TEST(Some,\n     Test) {}\n' >tests/attacks/some_test.cc
printf '# Title\n<!-- table.sh -->\n' >tests/attacks/README.md
refuses "a table that lacks a case" "$rules/attack_table.sh" .
tests/attacks/table.sh --write
accepts "the table of its cases" "$rules/attack_table.sh" .
: >tests/attacks/some_test.cc
refuses "a case whose test does not exist" "$rules/attack_table.sh" .

fresh_tree
refuses "a top level of other entries" "$rules/top_level.sh" .

cat >"$room/child.cc" <<'CODE'
extern "C" int chdir(const char*);
int Run() { return chdir("/"); }
CODE
printf 'chdir\n? _GLOBAL_OFFSET_TABLE_\n' >"$room/list"
g++ -c -O1 -fno-exceptions -o "$room/child.o" "$room/child.cc"
accepts "listed symbols" "$rules/child_symbols.sh" "$room/child.o" "$room/list"
printf 'int* More() { return new int; }\n' >>"$room/child.cc"
g++ -c -O1 -fno-exceptions -o "$room/child.o" "$room/child.cc"
refuses "an allocation" "$rules/child_symbols.sh" "$room/child.o" "$room/list"

printf '<testcase name="sandbox.A.B" status="run">\n</testcase>\n' >"$room/results.xml"
accepts "no skipped test" "$rules/skips.sh" "$room/results.xml"
printf '<testcase name="sandbox.A.B" status="notrun">\n<skipped message=""/>\n' >"$room/results.xml"
refuses "a skipped test that is not listed" "$rules/skips.sh" "$room/results.xml"

exit "$failed"
