# title: setarch, nice, taskset, timeout, nohup, setsid, env -i around a program
set -e
setarch -R echo setarch
nice -n 5 echo nice
taskset -c 0 echo taskset
timeout 0.1 sleep 5 || echo timeout $?
nohup echo nohup 2>/dev/null
setsid -w echo setsid
env -i /bin/echo clean
#=> setarch
#=> nice
#=> taskset
#=> timeout 124
#=> nohup
#=> setsid
#=> clean
