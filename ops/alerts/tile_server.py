"""Two small web servers in threads: a tile server that fails in three ways, and a page of metrics that a test writes.

Python's standard library only.
"""
import http.server
import threading


class Pages(http.server.ThreadingHTTPServer):
    """Serves below /html a web page instead of tiles, below /error errors, below /wait requests to wait; at /metrics its text."""
    daemon_threads = True

    def __init__(self, port):
        self.text = ""
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, body, headers, code = "text/plain", b"", {}, 200
        if self.path == "/metrics":
            kind, body = "text/plain; version=0.0.4", self.server.text.encode()
        elif self.path.startswith("/html/"):
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
