"""Two small web servers in threads: a tile server that fails in four ways, and a page of metrics that a test writes.

Python's standard library only.
"""
import http.server
import sys
import threading


class Pages(http.server.ThreadingHTTPServer):
    """Serves below /html a web page instead of tiles, below /part one for each fourth column and no tiles, below /error errors, below /wait requests to wait; at /metrics its text."""
    daemon_threads = True

    def __init__(self, port):
        self.text = ""
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Says nothing when a worker that gives up has closed its connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, body, headers, code = "text/plain", b"", {}, 200
        if self.path == "/metrics":
            kind, body = "text/plain; version=0.0.4", self.server.text.encode()
        elif self.path.startswith("/part/") and int(self.path.split("/")[3]) % 4:
            code = 204
        elif self.path.startswith(("/html/", "/part/")):
            kind, body = "text/html", b"<!DOCTYPE html><html><body>Sign in</body></html>"
        elif self.path.startswith("/wait/"):
            code, headers = 429, {"Retry-After": "60"}
        else:
            code = 500
        self.send_response(code)
        for name, value in {"Content-Type": kind, "Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass
