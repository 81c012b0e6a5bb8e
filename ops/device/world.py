"""A publisher and its devices for ops/device-check: real maps, a web server that can fail, and `packhorse device` in processes.

Python's standard library only.
"""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from acceptance import Skip, Wrong, expect, wait  # noqa: E402, F401 - the checks import all of them from here


class WebServer:
    """Serves a folder with ranges, and keeps what was requested; it can be slow, cut answers, change bytes and be down."""

    def __init__(self, folder):
        self.folder, self.requests, self.sent = pathlib.Path(folder), [], 0
        self.rate = None  # bytes a second of each answer
        self.cut_after = None  # bytes of the next answer of a package, after which the connection is closed
        self.flip = None  # a path whose middle byte is changed
        self.port, self.server = 0, None
        self.up()

    def up(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.answer(self)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, allow_reuse_address = True, True

            def handle_error(self, *_):
                pass  # a client that went away

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def down(self):
        """Refuses connections until up(); answers that are being sent are cut."""
        if self.server:
            server, self.server = self.server, None
            server.shutdown()
            server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def paths(self):
        return [path for path, _ in self.requests]

    def answer(self, handler):
        path = handler.path.split("?")[0].lstrip("/")
        wanted = handler.headers.get("Range")
        self.requests.append((path, wanted))
        file = self.folder / path
        if not file.is_file():
            handler.send_response(404)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        body = bytearray(file.read_bytes())
        if path == self.flip:
            body[len(body) // 2] ^= 1
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else 0
        if wanted and start >= len(body):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(body)}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206 if wanted else 200)
        if wanted:
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        handler.send_header("Access-Control-Allow-Origin", "*")
        handler.send_header("Content-Length", str(len(body) - start))
        handler.end_headers()
        end = len(body)
        if self.cut_after is not None and len(body) > 20_000:
            end, self.cut_after = min(end, start + self.cut_after), None
        step = max(1, self.rate // 20) if self.rate else 1 << 16
        own = self.server
        for place in range(start, end, step):
            if self.server is not own or own is None:
                break
            piece = bytes(body[place:min(end, place + step)])
            handler.wfile.write(piece)
            self.sent += len(piece)
            if self.rate:
                time.sleep(0.05)
        else:
            if end == len(body):
                return
        handler.close_connection = True


class World:
    """The publisher's folder, its catalog and its web server."""

    def __init__(self, folder, program):
        self.folder, self.program = pathlib.Path(folder), str(program)
        self.running = []
        self.tiles = self.serve("demo-origin", "--port", "0", "--padding", "20000")
        self.catalog = self.folder / "catalog"
        self.catalog.mkdir()
        (self.catalog / "packages.json").write_text('{"packages":[]}')
        (self.folder / "tiles.yaml").write_text(
            f"id: demo\nurl: {self.tiles}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-10\nattribution: Demo\n")
        self.key = self.folder / "catalog.key"
        self.run("catalog", "keygen", self.key)
        self.public = self.key.with_suffix(".pub")
        self.publish_all()
        self.web = WebServer(self.catalog)

    def publish_all(self):
        for name, zooms in (("EE", "0-9"), ("LV", "0-9")):
            self.publish(name, zooms)
        # LI in four versions of the same area: each has one zoom more.
        for last in (7, 8, 9, 10):
            self.publish("LI", f"0-{last}", "--replace-area")
        self.run("catalog", "patch", self.catalog, "--previous", "2", "--signing-key", self.key)
        self.run("style-pack", f"{self.tiles}/style.json", "-o", self.folder / "style", "--quiet")
        self.run("catalog", "style", self.catalog, self.folder / "style", "--id", "demo", "--signing-key", self.key)
        self.run("packs", self.catalog, "--signing-key", self.key)

    def publish(self, name, zooms, *more):
        target = self.folder / f"{name}-{zooms}.mbtiles"
        if not target.exists():
            self.run("build", name, "--tileset", self.folder / "tiles.yaml", "--zoom", zooms, "-o", target, "--progress", "none")
        self.put(target, name, *more)

    def put(self, target, name, *more):
        self.run("catalog", "import", self.catalog, target, "--id", name, "--tileset", "demo", "--rewrite",
                 "--signing-key", self.key, *more)

    def index(self):
        return json.loads((self.catalog / "catalog.json").read_text())

    def run(self, *words, status=0):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        expect(done.returncode == status, f"packhorse {' '.join(map(str, words))} ended with {done.returncode}, not {status}: {done.stderr.strip()}")
        return done

    def start(self, *words, **more):
        process = subprocess.Popen([self.program, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)
        self.running.append(process)
        return process

    def serve(self, *words):
        """Starts a server and returns the address that it prints."""
        process = self.start(*words)
        line = process.stdout.readline().strip()
        expect(line.startswith("http://"), f"packhorse {' '.join(map(str, words))} does not serve")
        return line

    def close(self):
        for process in self.running:
            process.kill()
            process.wait()
        self.web.down()


class Device:
    """One store, and commands on it."""

    def __init__(self, world, name):
        self.world, self.store = world, world.folder / f"device-{name}"
        self.options = ["--store", self.store]
        self.source = ["--catalog", world.web.url, "--public-key", world.public]

    def __call__(self, *words, status=0):
        return self.world.run("device", *words, *self.options, status=status)

    def json(self, *words):
        return json.loads(self(*words, "--json").stdout)

    def install(self, *words, status=0):
        return self("install", *words, *self.source, status=status)

    def start(self, *words):
        return self.world.start("device", *words, *self.options)

    def serve(self, *words):
        return self.world.serve("device", "serve", "--port", "0", *words, *self.options)

    def installed(self):
        return {row["item"]["id"]: row for row in self.json("list", "--installed")}

    def bytes(self):
        """What the folder takes on disk, without the reserve and the databases."""
        return sum(path.stat().st_size for folder in ("units", "packs", "parts") for path in (self.store / folder).rglob("*") if path.is_file())

    def parts(self):
        return sum(path.stat().st_size for path in (self.store / "parts").glob("*.part"))

    def remove(self):
        shutil.rmtree(self.store, ignore_errors=True)


def is_root():
    return os.geteuid() == 0
