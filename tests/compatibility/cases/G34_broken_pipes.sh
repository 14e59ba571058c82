# title: SIGPIPE ends a writer at once
set -o pipefail
yes | head -1
echo $?
#=> y
#=> 141
