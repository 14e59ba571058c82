# title: Unix sockets between one's own processes: by path, abstract, pairs, passed descriptors
# needs: python3
exec python3 - <<'PY'
import os, socket, tempfile
for address in ("./s", os.path.join(tempfile.mkdtemp(), "s"), "\0warder-case"):
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect(address)
    accepted, _ = server.accept()
    accepted.sendall(b"hello")
    print(client.recv(5).decode())
left, right = socket.socketpair()
read_end, write_end = os.pipe()
socket.send_fds(left, [b"x"], [write_end])
_, fds, _, _ = socket.recv_fds(right, 1, 1)
os.write(fds[0], b"passed")
print(os.read(read_end, 6).decode())
os.remove("s")
PY
#=> hello
#=> hello
#=> hello
#=> passed
