"""Web servers for the files of a catalog: one that gives them, one that gives other bytes, and one that is gone. Python's standard library only."""
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ports
from sources import Server

LISTS = {"catalog.json", "catalog.json.sig", "share.json"}


class Site:
    """Serves a folder at a port that stays its own while nothing listens there.

    `lies`: every file but the lists has one wrong byte in its middle. `sent` has the path of each answer with its bytes.
    """

    def __init__(self, folder):
        self.folder, self.port = folder, ports.take()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.lies, self.sent, self.server = False, [], None
        self.come_back()

    def come_back(self):
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                path = self.path.split("?")[0].lstrip("/")
                try:
                    body = (site.folder / path).read_bytes()
                except OSError:
                    return self.reply(path, 404, b"", {})
                if site.lies and path not in LISTS:
                    body = body[:len(body) // 2] + bytes([body[len(body) // 2] ^ 1]) + body[len(body) // 2 + 1:]
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                if not asked:
                    return self.reply(path, 200, body, {})
                first, last = int(asked[1]), min(int(asked[2] or len(body) - 1), len(body) - 1)
                if first > last:
                    return self.reply(path, 416, b"", {"Content-Range": f"bytes */{len(body)}"})
                self.reply(path, 206, body[first:last + 1], {"Content-Range": f"bytes {first}-{last}/{len(body)}"})

            def reply(self, path, status, body, headers):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body)), "Accept-Ranges": "bytes"}.items():
                    self.send_header(name, value)
                self.end_headers()
                site.sent.append((path, len(body)))
                self.wfile.write(body)

        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def vanish(self):
        """Nothing listens at its port any more: connections are refused."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    close = vanish


class Sites:
    """The address of a catalog, and its two mirrors."""

    def __init__(self, folder):
        self.own, self.first, self.second = Site(folder), Site(folder), Site(folder)
        self.all = [self.own, self.first, self.second]

    def close(self):
        for site in self.all:
            site.close()

    def calm(self):
        """All are there and give the right bytes; nothing was sent yet."""
        for site in self.all:
            site.lies = False
            if not site.server:
                site.come_back()
            site.sent.clear()

    def sent(self, words=""):
        """What all of them sent of files with these words in their paths."""
        return [(path, size) for site in self.all for path, size in site.sent if words in path]
