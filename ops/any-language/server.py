"""A web server with ranges that can be slow or silent, cut an answer and change a byte, and that keeps what was requested.

Python's standard library only.
"""
import http.server
import pathlib
import re
import threading
import time


class Server:
    """Serves a folder on a port of 127.0.0.1."""

    def __init__(self, folder):
        self.folder, self.requests = pathlib.Path(folder), []
        self.rate = None  # bytes a second of each answer
        self.cut_after = None  # bytes of the next whole file of more than that, after which the connection is closed
        self.pause_after = None  # bytes of each answer of more than that, after which nothing comes as long as this is set
        self.flip = None  # a path whose middle byte is changed
        self.silent = None  # a path that is not answered as long as this is set
        self.token = None  # who does not send it gets 401
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.answer(self)

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that went away

        self.server = Threads(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def paths(self):
        return [path for path, _ in self.requests]

    def answer(self, handler):
        path, wanted = handler.path.lstrip("/"), handler.headers.get("Range")
        self.requests.append((path, wanted))
        while path == self.silent:
            time.sleep(0.05)
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return self.head(handler, 401, 0)
        file = self.folder / path
        if not file.is_file():
            return self.head(handler, 404, 0)
        body = bytearray(file.read_bytes())
        if path == self.flip:
            body[len(body) // 2] ^= 1
        start, end = 0, len(body)
        if wanted:
            first, last = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted).groups()
            start, end = int(first), min(end, int(last) + 1) if last else end
            if start >= end:
                return self.head(handler, 416, 0, ("Content-Range", f"bytes */{len(body)}"))
        range_said = [("Content-Range", f"bytes {start}-{end - 1}/{len(body)}")] if wanted else []
        self.head(handler, 206 if wanted else 200, end - start, *range_said)
        if not wanted and self.cut_after and end > self.cut_after:
            end, self.cut_after, handler.close_connection = self.cut_after, None, True
        step = self.rate // 20 if self.rate else self.pause_after or 1 << 20
        for place in range(start, end, step):
            while self.pause_after and place >= start + self.pause_after:
                time.sleep(0.05)
            handler.wfile.write(body[place:min(end, place + step)])
            if self.rate:
                time.sleep(0.05)

    def head(self, handler, status, length, *fields):
        handler.send_response(status)
        for name, value in (("Content-Length", str(length)), *fields):
            handler.send_header(name, value)
        handler.end_headers()

    def down(self):
        self.server.shutdown()
        self.server.server_close()
