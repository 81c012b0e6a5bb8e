"""A server with the planet under every kind of address that a tileset file can follow. Python's standard library only."""
import datetime
import hashlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import planet


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """A client that was killed in the middle of an answer is no event."""


class Sources:
    """Archives and documents by path. `delay` is waited before the answer to a tile or a range. There will be `builds` builds."""

    def __init__(self, builds):
        self.builds = builds
        self.files, self.tiles, self.build = {}, {}, None
        self.delay, self.received = 0.0, 0
        sources = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(False)

            def do_GET(self):
                self.answer(True)

            def answer(self, with_body):
                body, etag = sources.find(self.path)
                if body is None:
                    return self.reply(404, b"", {}, with_body)
                headers = {"ETag": etag} if etag else {}
                if self.path.endswith(".pbf"):
                    sources.wait()
                    headers |= {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                if not asked or self.headers.get("If-Range", etag) != etag:
                    return self.reply(200, body, headers, with_body)
                if asked[1] != "0":
                    sources.wait()
                first, last = int(asked[1]), min(int(asked[2] or len(body) - 1), len(body) - 1)
                if first > last:
                    return self.reply(416, b"", {"Content-Range": f"bytes */{len(body)}"}, with_body)
                headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
                self.reply(206, body[first:last + 1], headers, with_body)

            def reply(self, status, body, headers, with_body):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body)), "Accept-Ranges": "bytes"}.items():
                    self.send_header(name, value)
                self.end_headers()
                if with_body:
                    sources.received += len(body)
                    self.wfile.write(body)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def find(self, path):
        """The body and the ETag of a path; tile addresses of every build answer the newest tiles, as OpenFreeMap's do."""
        if found := re.fullmatch(r"/tiles/\d{8}_\d{6}_pt/(\d+)/(\d+)/(\d+)\.pbf", path):
            return self.tiles.get(tuple(map(int, found.groups()))), None
        return self.files.get(path, (None, None))

    def put(self, path, body):
        self.files[path] = (body, f'"{hashlib.md5(body).hexdigest()}"')

    def wait(self):
        """Waits for `delay`; one that becomes shorter holds for answers that wait already."""
        began = time.monotonic()
        while (left := began + self.delay - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))

    # The kinds of sources: each publishes tiles as the build of a month, and returns the lines of the tileset file.

    def days_ago(self, month):
        """The age of a dated build: the first has nine days, because ten are looked at, the last has none."""
        return (self.builds - month) * 9 // self.builds

    def name(self, month):
        """A date of the year for the name of a build."""
        return f"{datetime.date(2026, 1, 1) + datetime.timedelta(days=month * 330 // self.builds):%Y%m%d}"

    def pattern(self, tiles, month):
        day = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=self.days_ago(month))
        self.put(f"/dated/{day:%Y%m%d}.pmtiles", planet.archive(tiles))
        return f"latest: {self.url}/dated/{{date}}.pmtiles\n"

    def index(self, tiles, month):
        body, name = planet.archive(tiles), f"{self.name(month)}.pmtiles"
        self.put(f"/builds/{name}", body)
        known = [build for build in json.loads(self.files.get("/builds.json", (b"[]", None))[0]) if build["key"] != name]
        known.append({"key": name, "size": len(body)})
        self.put("/builds.json", json.dumps(known).encode())
        return f"latest:\n  index: {self.url}/builds.json\n  url: {self.url}/builds/{{build}}\n  size: size\n"

    def tilejson(self, tiles, month):
        self.tiles = dict(tiles)
        document = {"tilejson": "3.0.0", "tiles": [f"{self.url}/tiles/{self.name(month)}_001001_pt/{{z}}/{{x}}/{{y}}.pbf"],
                    "minzoom": 0, "maxzoom": planet.ZOOM, "attribution": "synthetic",
                    "vector_layers": [{"id": "places", "fields": {"name": "String"}}]}  # fmt: skip
        self.put("/tiles.json", json.dumps(document).encode())
        return f"latest: {self.url}/tiles.json\n"

    def overwritten(self, tiles, month):
        self.put("/planet.pmtiles", planet.archive(tiles))
        self.put("/planet.txt", self.name(month).encode())
        return f"latest:\n  text: {self.url}/planet.txt\n  url: {self.url}/planet.pmtiles\n"
