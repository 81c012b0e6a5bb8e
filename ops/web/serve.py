"""Serves the page from its folder in front of a running gateway, so that it is tested without a build.

usage: serve.py GATEWAY_URL PORT [LIBRARY]   LIBRARY: a folder with maplibre-gl.js and maplibre-gl.css

Everything that is no file of the page is passed on to the gateway. The policy of the page is the gateway's own.
"""

import http.client
import http.server
import json
import pathlib
import sys
import urllib.parse
import urllib.request

GATEWAY = urllib.parse.urlsplit(sys.argv[1])
PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources/CLibraries/CWebPage/page"
LIBRARY = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8"}
with urllib.request.urlopen(sys.argv[1] + "/") as answer:
    POLICY = answer.headers["Content-Security-Policy"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def file(self):
        """The file of the page that a path names; None for paths of the gateway."""
        path = urllib.parse.urlsplit(self.path).path
        if path == "/":
            return PAGE / "index.html"
        folder, _, name = path.rpartition("/")
        if folder == "/ui/lib" and LIBRARY:
            return LIBRARY / name
        return PAGE / name if folder == "/ui" and (PAGE / name).is_file() else None

    def serve(self):
        if self.path == "/ui/lib/files.json":
            return self.send(json.dumps({"library": LIBRARY is not None}).encode(), "application/json")
        file = self.file()
        if file is None or not file.is_file():
            return self.forward()
        self.send(file.read_bytes(), TYPES[file.suffix])

    def send(self, body, kind):
        self.send_response(200)
        for name, value in [("Content-Type", kind), ("Content-Length", len(body)), ("Cache-Control", "no-cache"),
                            ("Content-Security-Policy", POLICY)]:
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        gateway = http.client.HTTPConnection(GATEWAY.hostname, GATEWAY.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("connection", "content-length")}
        gateway.request(self.command, self.path, body or None, headers)
        answer = gateway.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        # Event streams have no length: the end of the connection ends them.
        self.send_header("Connection", "close")
        self.end_headers()
        while part := answer.read1(65536):
            self.wfile.write(part)
            self.wfile.flush()
        gateway.close()
        self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            # The browser has left.
            self.close_connection = True


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
