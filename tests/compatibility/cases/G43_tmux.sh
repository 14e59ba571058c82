# title: a terminal multiplexer with a shell inside
# needs: tmux
set -e
export TMUX_TMPDIR=$PWD TERM=xterm
tmux -f /dev/null new-session -d -x 80 -y 24 'echo inside >result; tmux wait-for -S done'
for _ in $(seq 100); do [ -s result ] && break; sleep 0.05; done
cat result
#=> inside
