# title: POSIX and System V shared memory, semaphores, message queues, 64 MiB in /dev/shm
# needs: python3
exec python3 - <<'PY'
import ctypes, multiprocessing, os
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=1 << 20)
block.buf[0] = 7
other = shared_memory.SharedMemory(block.name)
print("shm", other.buf[0])
other.close()
block.close()
block.unlink()
lock = multiprocessing.Semaphore(1)
print("sem", lock.acquire(timeout=1))
libc = ctypes.CDLL(None, use_errno=True)
shm = libc.shmget(0, 4096, 0o1600)
print("shmget", shm >= 0, libc.shmctl(shm, 0, None) == 0)
queue = libc.msgget(0, 0o1600)
print("msgget", queue >= 0, libc.msgctl(queue, 0, None) == 0)
rt = ctypes.CDLL("librt.so.1", use_errno=True)
name = b"/warder-%d" % os.getpid()
print("mq", rt.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0, rt.mq_unlink(name) == 0)
with open("/dev/shm/big", "wb") as f:
    for _ in range(64):
        f.write(b"\0" * (1 << 20))
print("big", os.path.getsize("/dev/shm/big") >> 20)
os.remove("/dev/shm/big")
PY
#=> shm 7
#=> sem True
#=> shmget True True
#=> msgget True True
#=> mq True True
#=> big 64
#free=> shm 7
#free=> sem True
#free=> shmget True True
#free=> msgget True True
#free=> mq True True
#free=> big 64
