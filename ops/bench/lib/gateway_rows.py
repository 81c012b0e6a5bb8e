"""The rows of bench-gateway: the gateway next to nginx and MapCache, with wrk as the client."""
import os
import pathlib
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path[:0] = [str(ROOT / "ops"), str(ROOT / "ops/lib"), str(ROOT / "ops/gateway")]
import ports  # noqa: E402
from acceptance import wait  # noqa: E402
from checks_load import idle_connections, memory  # noqa: E402
from gateway_site import Gateway, Site  # noqa: E402
from web_proxy import Nginx, proxy  # noqa: E402

# wrk's script: a random path of a file, other ones in each thread; with PAUSE each connection waits, so the rate is fixed.
SCRIPT = """local paths = {}
for line in io.lines("%s") do paths[#paths + 1] = line end
local thread_number = 0
function setup(thread) thread:set("number", thread_number); thread_number = thread_number + 1 end
function init(args) math.randomseed(number or 0) end
request = function() return wrk.format("GET", paths[math.random(#paths)], {%s}) end
%s
"""
APACHE = """LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mapcache_module {modules}/mod_mapcache.so
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error.log
MaxKeepAliveRequests 0
StartServers 2
ThreadsPerChild 64
MapCacheAlias /map {folder}/mapcache.xml
"""
MAPCACHE = """<mapcache>
  <cache name="tiles" type="mbtiles"><dbfile>{file}</dbfile></cache>
  <format name="pbf" type="RAW"><extension>pbf</extension><mime_type>application/vnd.mapbox-vector-tile</mime_type></format>
  <tileset name="demo"><cache>tiles</cache><grid>GoogleMapsCompatible</grid><format>pbf</format><read-only>true</read-only></tileset>
  <service type="tms" enabled="true"/><errors>report</errors>
</mapcache>
"""


def row(piece, value, unit, bound, is_floor, note):
    met = value >= bound if is_floor else value <= bound
    return {"piece": piece, "value": value, "unit": unit, "bound": f"{'≥' if is_floor else '≤'} {bound:g}", "met": met, "note": note}


class Wrk:
    """Requests by wrk: rate, bytes a second and p99."""

    def __init__(self, folder):
        self.folder, self.count = pathlib.Path(folder), 0

    def __call__(self, base, paths, connections=64, seconds=6, rate=None, headers=None):
        self.count += 1
        listed, script = self.folder / f"paths-{self.count}", self.folder / f"wrk-{self.count}.lua"
        listed.write_text("\n".join(paths) + "\n")
        fields = ", ".join(f'["{name}"] = "{value}"' for name, value in (headers or {}).items())
        # A connection waits between two requests so that all together have the rate.
        pause = f"delay = function() return {1000 * connections / rate:.3f} * (0.5 + math.random()) end" if rate else ""
        script.write_text(SCRIPT % (listed, fields, pause))
        done = subprocess.run(["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--latency", "--timeout", "10s",
                               "-s", str(script), base], capture_output=True, text=True, check=True)
        text = done.stdout
        wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
        if wrong or "Socket errors" in text and not re.search(r"connect 0, read 0, write 0, timeout 0", text):
            raise RuntimeError(f"wrk of {base}: {text}")
        return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), "bytes": amount(re.search(r"Transfer/sec:\s+(\S+)", text)[1]),
                "p99": milliseconds(re.search(r"99%\s+(\S+)", text)[1])}


def amount(text):
    number, unit = re.match(r"([\d.]+)(\w*)", text).groups()
    return float(number) * {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[unit]


def milliseconds(text):
    number, unit = re.match(r"([\d.]+)(\w+)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}[unit]


class GatewayBench:
    def __init__(self, folder, program, rounds, seconds, region="FI", zooms="0-12"):
        self.folder, self.rounds, self.seconds = pathlib.Path(folder).absolute(), rounds, seconds
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.site = Site(self.folder, program, padding=0)
        self.wrk, self.random = Wrk(self.folder), random.Random(1)
        self._make_tiles(region, zooms)
        self.nginx = Nginx(self.folder / "nginx", f"root {self.site.catalog}; location /plain/ {{ alias {self.folder}/plain/; types {{ }} "
                           "default_type application/vnd.mapbox-vector-tile; }")

    def close(self):
        self.nginx.stop()
        self.site.close()

    def _make_tiles(self, region, zooms):
        """A package with enough tiles, once in the catalog, once as files for nginx, once for MapCache."""
        (self.folder / "deep.yaml").write_text(
            f"id: deep\nurl: {self.site.origin}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-14\npoliteness:\n  concurrency: 64\n")
        self.site.run("submit", region, "--id", "deep", "--tileset", self.folder / "deep.yaml", "--zoom", zooms, "--format", "pmtiles", "--wait",
                      "--coordinator", self.site.control)
        target = self.site.catalog / self.site.file("deep")[0]
        self.normalized = self.folder / "mapcache.mbtiles"
        self.site.run("convert", target, "--format", "mbtiles-normalized", "-o", self.normalized)
        database = sqlite3.connect(target)
        self.tiles = []
        for z, x, row_, body in database.execute("SELECT * FROM tiles"):
            y = 2**z - 1 - row_
            self.tiles.append((z, x, y))
            path = self.folder / f"plain/{z}/{x}"
            path.mkdir(parents=True, exist_ok=True)
            (path / f"{y}.pbf").write_bytes(body)
        database.close()
        self.tiles = self.random.sample(self.tiles, min(20_000, len(self.tiles)))

    def ratio(self, ours, theirs, key="rate"):
        """The median of the ratios of turns, and what was measured."""
        found = [(ours()[key], theirs()[key]) for _ in range(self.rounds)]
        return statistics.median(a / b for a, b in found), statistics.median(a for a, _ in found), statistics.median(b for _, b in found)

    def rows(self, only=None):
        parts = [self.files, self.small_answers, self.vector_tiles, self.mapcache, self.many_connections, self.memory, self.page, self.coordinator]
        return [found for part in parts if not only or part.__name__ in only for found in part()]

    def files(self):
        path = "/" + self.site.file("deep")[0]
        url, seconds = self.site.gateway.url, self.seconds
        plain = lambda: self.wrk(self.nginx.url, [path], 4, seconds)  # noqa: E731
        found, ours, theirs = self.ratio(lambda: self.wrk(url, [path], 4, seconds), plain, "bytes")
        note = "{:.0f} and {:.0f} MB/s"
        yield row("files, 4 connections: bytes a second ÷ nginx", found, "×", 0.5, True, note.format(ours / 1e6, theirs / 1e6))
        fast = self.site.make_gateway("--accel", "/catalog-files/", "--trusted-proxy", "127.0.0.1")
        front = Nginx(self.folder / "front", proxy(fast.port) + f" location /catalog-files/ {{ internal; alias {self.site.catalog}/; }}")
        found, ours, theirs = self.ratio(lambda: self.wrk(front.url, [path], 4, seconds), plain, "bytes")
        yield row("files through nginx with --accel ÷ nginx", found, "×", 0.9, True, note.format(ours / 1e6, theirs / 1e6))
        front.stop()
        fast.kill()

    def small_answers(self):
        url = self.site.gateway.url
        tag = self.site.gateway.get("/catalog.json").headers["etag"]
        mine = {"If-None-Match": tag}
        theirs_tag = subprocess.run(["curl", "-sI", f"{self.nginx.url}/catalog.json"], capture_output=True, text=True, check=True).stdout
        theirs = {"If-None-Match": re.search(r'(?i)etag: (.*?)\r?$', theirs_tag, re.M)[1].replace('"', '\\"')}
        mine = {"If-None-Match": tag.replace('"', '\\"')}
        found, a, b = self.ratio(lambda: self.wrk(url, ["/catalog.json"], 64, self.seconds, headers=mine),
                                 lambda: self.wrk(self.nginx.url, ["/catalog.json"], 64, self.seconds, headers=theirs))
        yield row("304 answers ÷ nginx", found, "×", 0.6, True, f"{a:.0f} and {b:.0f} a second")

    def vector_tiles(self):
        plain = [f"/plain/{z}/{x}/{y}.pbf" for z, x, y in self.tiles]
        for kind in ("mbtiles", "pmtiles"):
            paths = [f"/tiles/deep@1/{z}/{x}/{y}" + ("?format=pmtiles" if kind == "pmtiles" else "") for z, x, y in self.tiles]
            head = {"Accept-Encoding": "gzip"}
            found, a, b = self.ratio(lambda: self.wrk(self.site.gateway.url, paths, 64, self.seconds, headers=head),
                                     lambda: self.wrk(self.nginx.url, plain, 64, self.seconds))
            yield row(f"random tiles of {kind} ÷ nginx over files", found, "×", 0.35, True, f"{a:.0f} and {b:.0f} a second")

    def mapcache(self):
        modules = pathlib.Path("/usr/lib/apache2/modules")
        if not (modules / "mod_mapcache.so").exists():
            print("skipped: MapCache is missing (apt-get install libapache2-mod-mapcache)", flush=True)
            return
        folder, port = self.folder / "apache", ports.take()
        folder.mkdir()
        (folder / "mapcache.xml").write_text(MAPCACHE.format(file=self.normalized))
        (folder / "httpd.conf").write_text(APACHE.format(modules=modules, folder=folder, port=port))
        server = subprocess.Popen(["/usr/sbin/apache2", "-d", str(folder), "-f", str(folder / "httpd.conf"), "-D", "FOREGROUND"])
        try:
            wait("the start of MapCache", lambda: not ports.is_free(port), 20)
            theirs = [f"/map/tms/1.0.0/demo@GoogleMapsCompatible/{z}/{x}/{2**z - 1 - y}.pbf" for z, x, y in self.tiles]
            ours = [f"/tiles/deep@1/{z}/{x}/{y}" for z, x, y in self.tiles]
            found, a, b = self.ratio(lambda: self.wrk(self.site.gateway.url, ours, 64, self.seconds, headers={"Accept-Encoding": "gzip"}),
                                     lambda: self.wrk(f"http://127.0.0.1:{port}", theirs, 64, self.seconds))
            yield row("random tiles of MBTiles ÷ MapCache", found, "×", 1, True, f"{a:.0f} and {b:.0f} a second")
        finally:
            server.terminate()
            server.wait()

    def many_connections(self):
        paths = [f"/tiles/deep@1/{z}/{x}/{y}" for z, x, y in self.tiles]
        plain = [f"/plain/{z}/{x}/{y}.pbf" for z, x, y in self.tiles]
        gateway = Gateway(self.site, "--max-connections", "20000", "--max-connections-each", "20000")
        head = {"Accept-Encoding": "gzip"}
        top = self.wrk(gateway.url, paths, 64, self.seconds, headers=head)["rate"]
        rate = 0.7 * top
        found, a, b = self.ratio(lambda: self.wrk(gateway.url, paths, 1_000, self.seconds, rate, head),
                                 lambda: self.wrk(self.nginx.url, plain, 1_000, self.seconds, rate), "p99")
        gateway.kill()
        yield row("p99 at 1,000 connections, 70 % of the top rate ÷ nginx", found, "×", 3, False, f"{a:.1f} and {b:.1f} ms at {rate:.0f} a second")

    def memory(self):
        path = "/" + self.site.file("deep")[0]
        gateway = Gateway(self.site, "--max-connections", "20000", "--max-connections-each", "20000")
        idle = idle_connections(gateway.port, 10_000)
        slow = [subprocess.Popen(["curl", "-s", "--limit-rate", "65536", "--parallel", "--parallel-max", "100", "-o", "/dev/null",
                                  f"{gateway.url}{path}?n=[1-100]"], stderr=subprocess.DEVNULL) for _ in range(10)]
        time.sleep(8)
        worst = max(memory(gateway.process.pid) for _ in range(5) if not time.sleep(0.4))
        for process in slow:
            process.kill()
            process.wait()
        for connection in idle:
            connection.close()
        gateway.kill()
        yield row("memory at 10,000 idle connections and 1,000 slow downloads", worst / (1 << 20), "MiB", 256, False, f"{len(idle)} idle")

    def page(self):
        try:
            from page_paint import paints
        except ImportError as error:
            print(f"skipped: the page needs Playwright ({error})", flush=True)
            return
        files = self.folder / "page"
        for name in ["", *page_files(self.site.gateway)]:
            target = files / (name or "index.html")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.site.gateway.get("/" + name).body)
        server = Nginx(self.folder / "page-nginx", f"root {files};")
        ours, theirs = paints(self.site.gateway.url, self.rounds * 3), paints(server.url, self.rounds * 3)
        server.stop()
        yield row("page: first contentful paint ÷ the same files from nginx", ours / theirs, "×", 1.5, False, f"{ours:.0f} and {theirs:.0f} ms")

    def coordinator(self):
        """What a gateway with one open page costs the coordinator."""
        pid = self.site.coordinator.pid
        gateway = self.site.gateway
        quiet = cpu_share(pid, 20, lambda: time.sleep(1))

        def view():
            for name in ("status", "jobs", "workers", "origins"):
                gateway.get(f"/v1/{name}", role="viewer")
            time.sleep(1)

        watched = cpu_share(pid, 20, view)
        yield row("coordinator's core with a page that asks each second", max(0.0, watched - quiet) * 100, "%", 0.5, False,
                  f"{watched * 100:.2f} % with it, {quiet * 100:.2f} % without")


def page_files(gateway):
    """The files that the page loads from its own server."""
    seen, open_ = [], re.findall(r'(?:href|src)="/?(ui/[^"]+)"', gateway.get("/").body.decode())
    while open_:
        name = open_.pop()
        if name in seen:
            continue
        seen.append(name)
        if name.endswith(".js"):
            folder = os.path.dirname(name)
            open_ += [f"{folder}/{found}" for found in re.findall(r"from '\./([^']+)'", gateway.get("/" + name).body.decode())]
    return seen


def cpu_share(pid, turns, work):
    def ticks():
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before, began = ticks(), time.monotonic()
    for _ in range(turns):
        work()
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)


