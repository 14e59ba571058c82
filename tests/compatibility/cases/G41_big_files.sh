# title: a file of 300 MiB: allocation, mapping, holes, copies, sendfile, splice
# needs: python3
exec python3 - <<'PY'
import ctypes, mmap, os, shutil, subprocess
size = 300 << 20
with open("big", "wb+") as f:
    os.posix_fallocate(f.fileno(), 0, size)
    with mmap.mmap(f.fileno(), size) as m:
        m[size - 1] = 1
        m.flush()
    libc = ctypes.CDLL(None, use_errno=True)
    print("hole", libc.fallocate(f.fileno(), 3, ctypes.c_long(0), ctypes.c_long(250 << 20)))
subprocess.run(["cp", "--reflink=auto", "--sparse=auto", "big", "copy"], check=True)
print("copy", os.path.getsize("copy") == size)
with open("copy", "rb") as a, open("sent", "wb") as b:
    print("sendfile", os.sendfile(b.fileno(), a.fileno(), 0, 1 << 20))
r, w = os.pipe()
with open("copy", "rb") as a:
    print("splice", os.splice(a.fileno(), w, 4096))
for name in ("big", "copy", "sent"):
    os.remove(name)
PY
#=> hole 0
#=> copy True
#=> sendfile 1048576
#=> splice 4096
