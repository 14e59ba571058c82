#!/usr/bin/env bash
# top_level.sh [ROOT]: the top level holds these entries and no others (build directories aside).
set -euo pipefail
cd "${1:-.}"
expected='.ci .clang-format .clang-tidy .editorconfig .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md DECISIONS.md LICENSE README.md SECURITY.md approval dev examples manifest policies sandbox supervisor tests'
found=$(find . -mindepth 1 -maxdepth 1 ! -name '.git' ! -name 'build*' ! -name compile_commands.json ! -name .cache -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ')
[[ $found == "$expected " ]] || { printf 'top level: found    %s\ntop level: expected %s\n' "$found" "$expected"; exit 1; }
