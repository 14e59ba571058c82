# title: nested namespaces fail at once and honestly; a program's own seccomp filter and Landlock work
# denied: unshare
# needs: unshare python3
unshare -r true 2>message && echo nested
grep -o 'Operation not permitted' message
python3 - <<'PY'
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
handled = ctypes.create_string_buffer(struct.pack("Q", 2))  # write to files
ruleset = libc.syscall(444, handled, ctypes.c_size_t(8), 0)
libc.prctl(38, 1, 0, 0, 0)
print("landlock", libc.syscall(446, ruleset, 0))
try:
    open("f", "w")
except PermissionError:
    print("landlock holds")
class Filter(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("code", ctypes.c_char_p)]
instructions = (struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, 110) +
                struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | 13) + struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
program = Filter(4, instructions)
print("seccomp", libc.syscall(317, 1, 0, ctypes.byref(program)))
print("seccomp holds", libc.syscall(110) == -1 and ctypes.get_errno() == 13)
PY
#=> Operation not permitted
#=> landlock 0
#=> landlock holds
#=> seccomp 0
#=> seccomp holds True
#free=> nested
#free=> landlock 0
#free=> landlock holds
#free=> seccomp 0
#free=> seccomp holds True
