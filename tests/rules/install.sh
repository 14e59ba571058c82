#!/usr/bin/env bash
# install.sh CMAKE BUILD_DIR: `cmake --install` gives a warder that finds its policies beside itself.
set -euo pipefail
cmake=$1 build=$2
umask 022
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/warder" --version
"$prefix/bin/warder" policy list | grep -qw default ||
  { echo "install: the installed warder does not list the policy \`default\`: is $prefix/share/warder complete?"; exit 1; }
