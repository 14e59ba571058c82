#!/usr/bin/env bash
# image.sh CACHE TREE: makes, below CACHE, what a virtual machine boots: `vmlinuz`, `initramfs`, `system.ext4` and `tree.ext4`.
#
# The system is the files of packages.txt as they are installed here; it and the kernel are made again when the packages have changed.
# The tree is this source tree with what is built in TREE/build, at the same path as here.
set -euo pipefail
[[ $(id -u) == 0 ]] || { echo "image.sh: needs root: the files in the image keep their owners" >&2; exit 2; }
PATH+=:/usr/sbin:/sbin
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$1 tree=$2
mkdir -p "$cache"
stage=$(mktemp -d "$cache/stage.XXXXXX")
trap 'rm -rf --one-file-system "$stage"' EXIT

# asked FORMAT PACKAGE...: FORMAT of those of the packages that are installed.
asked() {
  local format=$1
  shift
  { dpkg-query -W -f "\${db:Status-Status} $format\n" "$@" 2>/dev/null || true; } | sed -n 's/^installed //p'
}

# Those that own the libraries of our binaries. Lists of packages name them with /usr or without.
libraries() {
  local paths
  mapfile -t paths < <(ldd "$tree"/build/bin/*_tests "$tree/build/bin/warder" |
    sed -n 's/.* => \(\/usr\)\?\(\/[^ ]*\) .*/\2\n\/usr\2/p' | sort -u)
  { dpkg-query -S "${paths[@]}" 2>/dev/null || true; } | sed 's/:.*//' | sort -u
}

# The packages of packages.txt and of our libraries and, over and over, those that they depend on, as far as they are installed.
# shellcheck disable=SC2016  # dpkg-query's own fields
closure() {
  local known="" next all
  next=$(sed '/^#/d' "$here/packages.txt"; libraries)
  while [[ -n $next ]]; do
    known=$(printf '%s\n' "$known" "$next" | sed '/^$/d' | sort -u)
    mapfile -t all <<<"$next"
    next=$(asked '${Pre-Depends}, ${Depends}' "${all[@]}" |
      tr ',|' '\n' | sed 's/(.*)//; s/:any//; s/ //g; /^$/d' | sort -u | comm -13 <(echo "$known") -)
  done
  mapfile -t all <<<"$known"
  asked '${binary:Package}=${Version}' "${all[@]}"
}

# ext4_image FILE FOLDER MIB: a file system with what is in FOLDER and MIB of room.
ext4_image() {
  local size
  size=$(du -sm --apparent-size "$2" | cut -f1)
  rm -f "$1"
  mke2fs -q -t ext4 -O ^has_journal -m 0 -N 65536 -d "$2" "$1" "$((size * 5 / 4 + $3))M" >/dev/null
}

kernel() {
  local package
  kernel_package() { apt-cache depends --important linux-image-cloud-amd64 | sed -n '0,/Depends: /s/^ *Depends: //p'; }
  mkdir -p "$stage/kernel"
  package=$(kernel_package)
  # The lists of packages may be missing, or name a version that is no longer kept.
  if [[ -z $package ]] || ! (cd "$stage/kernel" && apt-get -qq -o APT::Sandbox::User=root download "$package"); then
    apt-get -qq update
    package=$(kernel_package)
    (cd "$stage/kernel" && apt-get -qq -o APT::Sandbox::User=root download "$package")
  fi
  dpkg-deb -x "$stage"/kernel/*.deb "$stage/kernel"
  cp "$stage"/kernel/boot/vmlinuz-* "$cache/vmlinuz"
  mkdir -p "$cache/modules"
  find "$stage/kernel/lib/modules" -name 'virtio*.ko' -exec cp -t "$cache/modules" {} +
}

initramfs() {
  local root=$stage/initramfs
  mkdir -p "$root"/{bin,dev,proc,new}
  cp /bin/busybox "$root/bin/busybox"
  cp "$here/init" "$root/init"
  cp -r "$cache/modules" "$root/"
  (cd "$root" && find . | cpio --quiet -o -H newc) | gzip -1 >"$cache/initramfs"
}

system() {
  local root=$stage/system packages
  mkdir -p "$root"/{proc,sys,dev,run,tmp,root,home,var/{tmp,lib,log,cache}}
  mapfile -t packages < <(sed 's/=.*//' "$stage/packages")
  # /bin and the like are links into /usr, of which the lists of packages know nothing.
  for link in bin sbin lib lib32 lib64 libx32; do
    [[ ! -L /$link ]] || cp -a "/$link" "$root/"
  done
  mkdir -p "$root/usr"
  { dpkg-query -L "${packages[@]}"
    find /etc/alternatives /etc/ld.so.cache /etc/passwd /etc/group /etc/nsswitch.conf /etc/shadow
    find /usr/lib/python3.* -name '*.pyc' -not -path '*/test/*'  # without them each start compiles the library anew
  } | grep -vE '^/usr/share/(doc|man|locale|info|lintian|bash-completion)/' |
    xargs -d '\n' sh -c 'find "$@" -maxdepth 0 ! -type d 2>/dev/null || true' sh |
    sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#; s#^/##' | sort -u >"$stage/files"
  tar -C / --ignore-failed-read -cf - -T "$stage/files" 2>/dev/null | tar -C "$root" -xpf -
  chmod 1777 "$root/tmp" "$root/var/tmp"
  cp -a "$stage"/kernel/lib/modules "$root/usr/lib/"
  depmod -b "$root" "$(ls "$root/usr/lib/modules")"
  ext4_image "$cache/system.ext4.new" "$root" 2048
  mv "$cache/system.ext4.new" "$cache/system.ext4"
}

tree() {
  local root=$stage/tree name
  mkdir -p "$root/build/bin/programs"
  tar -C "$tree" --exclude='./build*' --exclude=./.git --exclude=node_modules -cf - . | tar -C "$root" -xf -
  for name in warder sandbox_tests supervisor_tests end_to_end_tests attacks_tests; do
    strip -g -o "$root/build/bin/$name" "$tree/build/bin/$name"
  done
  cp "$tree"/build/bin/programs/* "$root/build/bin/programs/"
  cp -a "$tree/build/share" "$root/build/"
  (cd "$tree" && find build -name 'CTestTestfile.cmake' -o -name '*_tests*.cmake' | tar -T - -cf -) | tar -C "$root" -xf -
  chown -R 0:0 "$root"
  ext4_image "$cache/tree.ext4" "$root" 64
}

closure >"$stage/packages"
{ cat "$stage/packages"; sha256sum <"${BASH_SOURCE[0]}"; } >"$stage/made_of"
if ! cmp -s "$stage/made_of" "$cache/made_of"; then
  rm -f "$cache/made_of"
  kernel
  system
  mv "$stage/made_of" "$cache/made_of"
fi
initramfs
tree
