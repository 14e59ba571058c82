# title: programs that make a terminal of their own
# needs: python3 script
set -e
python3 - <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", "tty >/dev/null && stty size && echo inside"])
text = b""
try:
    while chunk := os.read(fd, 1024):
        text += chunk
except OSError:
    pass
os.waitpid(pid, 0)
print(text.decode().split())
PY
script -qec 'test -t 1 && echo terminal' /dev/null | tr -d '\r'
#=> ['0', '0', 'inside']
#=> terminal
