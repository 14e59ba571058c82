"""A very small Jenkins: two jobs, a bearer token, one port of the loopback interface.

Usage: JENKINS_TOKEN=... jenkins_server.py PORT_FILE. The port is chosen by the kernel and written to PORT_FILE.
"""

import http.server
import json
import os
import sys
import urllib.parse

TOKEN = os.environ["JENKINS_TOKEN"]
BUILDS = {"nightly": {"number": 41, "result": "SUCCESS"}, "deploy": {"number": 7, "result": "FAILURE"}}


class Handler(http.server.BaseHTTPRequestHandler):
    def job(self, suffix):
        path = urllib.parse.unquote(self.path)
        name = path.removeprefix("/job/").removesuffix(suffix)
        return BUILDS.get(name) if path == f"/job/{name}{suffix}" else None

    def answer(self, code, body=None):
        content = json.dumps(body or {}).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def allowed(self):
        if self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.answer(401)
        return False

    def do_GET(self):
        if self.allowed():
            build = self.job("/api/json")
            self.answer(200, {"lastBuild": build}) if build else self.answer(404)

    def do_POST(self):
        # The body is read even when the answer is no: an unread body resets the connection.
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.allowed():
            build = self.job("/buildWithParameters")
            if build:
                build["number"] += 1
                self.answer(201, {"number": build["number"]})
            else:
                self.answer(404)

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # Renamed into place: who waits for the file never reads half of it.
    with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
        file.write(str(server.server_port))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


main()
