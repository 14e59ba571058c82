# title: servers on the cell's own loopback, by address and by name
# needs: python3 curl
set -e
cat >server.py <<'PY'
import http.server, socket
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
server = Server(("::", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_address[1], flush=True)
server.serve_forever()
PY
mkdir site
echo served >site/index.html
mkfifo port
(cd site && exec python3 ../server.py >../port 2>/dev/null) &
server=$!
read -r port <port
for host in 127.0.0.1 '[::1]' localhost; do curl -s "http://$host:$port/"; done
kill $server
python3 -c 'import socket; print(sorted({a[4][0] for a in socket.getaddrinfo("localhost", 80)})[0] in ("127.0.0.1", "::1"))'
#=> served
#=> served
#=> served
#=> True
