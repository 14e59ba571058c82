# title: the usual devices and the names of one's own streams
set -e
echo gone >/dev/null
head -c 3 /dev/zero | od -An -tx1
head -c 8 /dev/urandom | wc -c
head -c 8 /dev/random | wc -c
(echo x >/dev/full) 2>/dev/null || echo full
echo in | cat /dev/stdin
echo out >/dev/stdout
echo err >/dev/stderr
echo fd >/dev/fd/1
(: </dev/tty) 2>/dev/null && echo terminal || echo none
#=>  00 00 00
#=> 8
#=> 8
#=> full
#=> in
#=> out
#=> fd
#=> none
