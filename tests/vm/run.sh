#!/usr/bin/env bash
# run.sh CACHE TREE [BOOT...]: boots what image.sh made, once for each line of boots.txt (or each BOOT), and says what its stages found.
#
# A machine has a deadline: the emulator is killed then, and nothing is left, as its disks take no writes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$1 tree=$2
shift 2
seconds=900      # of one boot: emulated, on two processors that were busy otherwise, the longest took two thirds of that
memory_mib=3072  # two tests at a time, of which one may touch half a GiB

# boot NAME PARAMETERS STAGES: what the stages print goes to our stdout, the kernel's log to CACHE/NAME.console.
boot() {
  timeout --foreground -k 5 "$seconds" qemu-system-x86_64 -accel kvm -accel tcg,thread=multi -cpu max -smp 2 -m "$memory_mib" \
    -nodefaults -no-reboot -display none -kernel "$cache/vmlinuz" -initrd "$cache/initramfs" \
    -append "console=ttyS0 quiet panic=-1 warder.tree=$tree warder.stages=$3 $2" \
    -drive "file=$cache/system.ext4,if=virtio,format=raw,snapshot=on" \
    -drive "file=$cache/tree.ext4,if=virtio,format=raw,snapshot=on" \
    -serial "file:$cache/$1.console" -serial stdio </dev/null 2>"$cache/$1.emulator"
}

for file in "$here"/stages/*.sh; do
  stage=$(basename "$file" .sh)
  grep -v '^#' "$here/boots.txt" | grep -qw "$stage" || { echo "vm: no boot runs the stage $stage" >&2; exit 1; }
done
passed=0 failed=0
while IFS='|' read -r name parameters stages; do
  name=${name// /} stages=${stages// /}
  [[ -n $name && $name != \#* ]] || continue
  [[ $# == 0 || " $* " == *" $name "* ]] || continue
  from=$SECONDS
  boot "$name" "$parameters" "$stages" | sed -u 's/\r$//' | tee "$cache/$name.log" || true
  # A stage that said nothing has not passed: the machine stopped, or its time was up.
  for stage in ${stages//,/ }; do
    if grep -q "^stage $stage: passed" "$cache/$name.log"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "vm: $name: stage $stage did not pass: see $cache/$name.log and $cache/$name.console"
    fi
  done
  echo "vm: $name: $((SECONDS - from)) s"
done <"$here/boots.txt"
echo "vm: $passed stages passed, $failed failed"
[[ $failed == 0 && $passed -gt 0 ]]
