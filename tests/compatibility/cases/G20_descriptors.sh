# title: inotify, timerfd, signalfd, eventfd, epoll, memfd with exec, pidfd, openat2, statx, FIFOs
# needs: python3 mkfifo
set -e
python3 - <<'PY'
import ctypes, errno, mmap, os, select, signal, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    value = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    print(name, "ok" if value >= 0 else os.strerror(ctypes.get_errno()))
    return value
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b".", 0x100)
open("made", "w").close()
print("inotify", len(os.read(watch, 4096)) > 0)
timer = call("timerfd", 283, 1, 0)
call("eventfd", 290, 0, 0)
mask = ctypes.create_string_buffer(8)
call("signalfd", 289, -1, ctypes.addressof(mask), 8, 0)
poll = select.epoll()
read_end, write_end = os.pipe()
poll.register(read_end)
os.write(write_end, b"x")
print("epoll", len(poll.poll(1)))
memory = os.memfd_create("m", 0)
os.write(memory, open("/bin/echo", "rb").read())
print(subprocess.run([f"/proc/self/fd/{memory}", "from memory"], pass_fds=[memory], capture_output=True, text=True).stdout.strip())
child = subprocess.Popen(["true"])
pidfd = os.pidfd_open(child.pid)
print("pidfd", os.waitid(os.P_PIDFD, pidfd, os.WEXITED).si_status)
how = struct.pack("QQQ", os.O_RDONLY, 0, 0x08)
buffer = ctypes.create_string_buffer(how)
path = ctypes.create_string_buffer(b"made")
answer = libc.syscall(ctypes.c_long(437), ctypes.c_long(-100), path, buffer, ctypes.c_long(24))
print("openat2", answer >= 0 or ctypes.get_errno() == errno.ENOSYS)  # its callers fall back on ENOSYS
call("membarrier", 324, 0, 0, 0)
call("close_range", 436, 900, 1000, 0)
print("copy_file_range", os.copy_file_range(os.open("/bin/true", os.O_RDONLY), os.open("copy", os.O_WRONLY | os.O_CREAT), 10))
print("getrandom", len(os.getrandom(8)))
PY
mkfifo f
(echo through >f) &
cat f
#=> inotify True
#=> timerfd ok
#=> eventfd ok
#=> signalfd ok
#=> epoll 1
#=> from memory
#=> pidfd 0
#=> openat2 True
#=> membarrier ok
#=> close_range ok
#=> copy_file_range 10
#=> getrandom 8
#=> through
