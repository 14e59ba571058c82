# title: curl and TLS to a server on the host, under a policy with the network
# needs: curl openssl python3
# policy: network
set -e
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 1 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost 2>/dev/null
cat >server.py <<'PY'
import http.server, ssl
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.handle_request()
PY
mkfifo port
python3 server.py >port 2>/dev/null &
read -r port <port
curl -s --cacert cert.pem -o /dev/null -w '%{http_code}\n' "https://localhost:$port/"
[ -s /etc/ssl/certs/ca-certificates.crt ] && [ -e /etc/resolv.conf ] && [ -e /etc/nsswitch.conf ] && echo files
#=> 200
#=> files
