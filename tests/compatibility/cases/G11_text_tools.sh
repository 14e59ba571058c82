# title: perl, awk, sed, sort -R, xargs, find, ls
# needs: perl awk
set -e
set -o pipefail
perl -e 'my $p = fork; if (!$p) { exit 3 } waitpid $p, 0; print "perl child ", $? >> 8, "\n"'
seq 5 | awk '{ s += $1 } END { print "awk", s }'
echo abc | sed 's/b/-/'
seq 100 | sort -R | sort -n | tail -1
seq 4 | xargs -P2 -n1 | sort | xargs
mkdir -p d/e && touch d/e/f
find d -type f -printf '%p\n'
ls -l d | tail -1 | cut -c1-10
#=> perl child 3
#=> awk 15
#=> a-c
#=> 100
#=> 1 2 3 4
#=> d/e/f
#=> drwxr-xr-x
