"""The rows of make bench-device that need other programs and a web server."""
import hashlib
import os
import shutil
import statistics
import subprocess

import nginx
import process
import starts

BIN = ".build/release"
NGINX = """
{user}
daemon on; pid {run}/nginx.pid; error_log {run}/error.log warn; worker_processes 1;
events {{ worker_connections 256; }}
http {{
  log_format wire '$request_length $bytes_sent $status $request_uri';
  access_log {run}/wire.log wire;
  sendfile on; tcp_nopush on; keepalive_timeout 65;
  default_type application/octet-stream;
  client_body_temp_path {run}/b; proxy_temp_path {run}/p; fastcgi_temp_path {run}/f; uwsgi_temp_path {run}/u; scgi_temp_path {run}/s;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def row(piece, value, unit, limit, note):
    """A row with its verdict."""
    return {"piece": piece, "value": value, "unit": unit, "threshold": limit, "met": value <= limit, "note": note}


class Nginx:
    """Debian's nginx on one folder, loopback only, with a log of the bytes of each request and answer."""

    PORT = 18091

    def __init__(self, root, run):
        self.root, self.run = os.path.abspath(root), os.path.abspath(run)
        self.url = f"http://127.0.0.1:{self.PORT}"

    def __enter__(self):
        os.makedirs(self.run, exist_ok=True)
        config = f"{self.run}/nginx.conf"
        with open(config, "w") as file:
            # Root's folders are closed to nginx's own user.
            file.write(NGINX.format(run=self.run, root=self.root, port=self.PORT, user="user root;" if os.geteuid() == 0 else ""))
        nginx.start(config, f"{self.url}/none", self.run)
        return self

    def __exit__(self, *_):
        nginx.stop(self.run)

    def wire(self):
        """(bytes of the request, bytes of the answer, status, path) of each request since the last call."""
        with open(f"{self.run}/wire.log") as file:
            lines = [line.split() for line in file]
        os.truncate(f"{self.run}/wire.log", 0)
        return [(int(sent), int(got), int(status), path) for sent, got, status, path in lines]


class DeviceBench:
    def __init__(self, work, rounds, packages=600, megabytes=1024):
        self.work, self.rounds, self.packages, self.megabytes = work, rounds, packages, megabytes
        self.catalog, self.store = f"{work}/catalog", f"{work}/store"

    def make(self):
        """Writes the catalog once; the files stay for the next run."""
        mark = f"{self.catalog}/{self.packages}-{self.megabytes}.made"
        if not os.path.exists(mark):
            shutil.rmtree(self.catalog, ignore_errors=True)
            os.makedirs(self.catalog)
            subprocess.run([f"{BIN}/bench-device", "catalog", "--folder", self.catalog, "--packages", str(self.packages),
                            "--megabytes", str(self.megabytes)], check=True)
            open(mark, "w").close()

    def device(self, name, *words, store=None):
        return process.run(name, f"{BIN}/packhorse", "device", *words, "--store", store or self.store)

    def rows(self):
        self.make()
        with Nginx(self.catalog, f"{self.work}/nginx") as server:
            shutil.rmtree(self.store, ignore_errors=True)
            self.device("install 20", "install", *[f"P{n}" for n in range(20)], "--catalog", f"{server.url}/", "--unsigned")
            return [*self.start_rows(), self.list_row(server), *self.install_rows(server)]

    # Starts and memory

    def start_rows(self):
        """From the start of a process to its first tile, and the most memory, in turns with the baselines."""
        tile = ["7", "40", "40"]
        maps = [f"{BIN}/bench-maps-start", self.store, *tile]
        sqlite = [f"{BIN}/bench-sqlite-start", f"{self.catalog}/packages/1/P0.mbtiles"]
        same = [f"{BIN}/bench-maps-start", sqlite[1]]
        times = {name: [] for name in ("maps", "same", "sqlite")}
        for _ in range(self.rounds * 5 + 1):
            for name, words in (("maps", maps), ("same", same), ("sqlite", sqlite)):
                times[name].append(starts.start_of(words)[0])
        # The first start reads the files from the disk.
        mine, same_ms, other = (statistics.median(times[name][1:]) for name in ("maps", "same", "sqlite"))
        least = ", ".join(f"{min(values):.1f}" for values in times.values())
        peaks = [int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]) / 1024
                 for words in (maps, [f"{BIN}/bench-sqlite-start"])]
        return [
            row(f"start to first tile, {self.packages} listed, 20 installed", mine / same_ms, "× SQLite alone, with Foundation", 3,
                f"{mine:.1f} ms, {same_ms:.1f} ms; least of the three {least} ms"),
            row(f"start to first tile, {self.packages} listed, 20 installed", mine / other, "× SQLite alone, without Foundation", 3,
                f"{mine:.1f} ms, {other:.1f} ms"),
            row(f"memory, {self.packages} listed", peaks[0] - peaks[1], "MB above an empty program", 30,
                f"{peaks[0]:.1f} MB, empty {peaks[1]:.1f} MB"),
        ]

    # The list

    def list_row(self, server):
        """Bytes of all requests and answers, with their heads, when the list has not changed."""
        server.wire()
        self.device("list", "list")
        seen = server.wire()
        if not seen:
            raise RuntimeError("the list was not asked for")
        return row("unchanged list", sum(sent + got for sent, got, _, _ in seen), "bytes on the wire", 2048,
                   ", ".join(f"{path} {status}: {sent} + {got}" for sent, got, status, path in seen))

    # An installation

    def install_rows(self, server):
        """1 GB from nginx into a store, in turns with curl and then sha256sum; the disk is flushed before each, not after."""
        ours, others = [], []
        big = f"{self.catalog}/packages/1/BIG.mbtiles"
        size = os.path.getsize(big)
        for turn in range(self.rounds + 1):
            store = f"{self.work}/install"
            shutil.rmtree(store, ignore_errors=True)
            os.sync()
            cost = self.device("install", "install", "BIG", "--catalog", f"{server.url}/", "--unsigned", store=store)
            if turn == 0:
                self.check(store, big)
            shutil.rmtree(store)
            copy = f"{self.work}/copy"
            os.sync()
            curl = process.run("curl", "curl", "-sf", "-o", copy, f"{server.url}/packages/1/BIG.mbtiles")
            digest = process.run("sha256sum", "sha256sum", copy)
            os.remove(copy)
            ours.append((cost.wall, cost.cpu))
            others.append((curl.wall + digest.wall, curl.cpu + digest.cpu))
        rows = []
        # The first turn warms the page cache.
        for place, name, unit, limit in [(0, "wall time", "s", 1.0), (1, "processor time", "s", 1.5)]:
            ratios = [mine[place] / other[place] for mine, other in zip(ours[1:], others[1:])]
            mine, other = (statistics.median(turn[place] for turn in turns[1:]) for turns in (ours, others))
            rows.append(row(f"install {size / 1e9:.2f} GB, {name}", statistics.median(ratios), "× curl, sha256sum", limit,
                            f"{mine:.2f} {unit}, curl and sha256sum {other:.2f} {unit}; ratios "
                            + " ".join(f"{ratio:.2f}" for ratio in ratios)))
        return rows

    @staticmethod
    def check(store, big):
        """The installed bytes are those of the server."""
        def digest(path):
            with open(path, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        found = [f"{folder}/{name}" for folder, _, names in os.walk(f"{store}/units") for name in names if name.endswith(".mbtiles")]
        if [digest(path) for path in found] != [digest(big)]:
            raise RuntimeError(f"the installed file is not the server's: {found}")
