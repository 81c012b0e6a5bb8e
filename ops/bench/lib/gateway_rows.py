"""The rows of bench-gateway that wrk measures: the gateway in turns with nginx and MapCache."""
import gzip
import os
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path[:0] = [str(ROOT / "ops"), str(ROOT / "ops/lib"), str(ROOT / "ops/gateway")]
import ports  # noqa: E402
from acceptance import Skip, expect, wait  # noqa: E402
from gateway_site import Gateway, Site  # noqa: E402
from made_catalog import MadeCatalog  # noqa: E402
from web_proxy import Nginx, proxy  # noqa: E402
from wrk import Wrk  # noqa: E402

MIB = 1 << 20
PACKAGES = 600
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
MaxRequestWorkers 384
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


def cpu_seconds(pids):
    """What processes used of processors so far."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def workers(server):
    """The process ids of the workers of an nginx."""
    master = int((server.folder / "nginx.pid").read_text())
    return [int(pid) for pid in pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()]


def fetch(url, **fields):
    """The body as it came: nothing is unpacked."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=fields)) as answer:
        return answer.read()


class Turns:
    """What candidates measured in turns: one after the other in each round, so that all meet the same machine."""

    def __init__(self, rounds, candidates):
        """candidates: {name: (pids, function)}; the processor time of the pids is measured, too."""
        self.found = {name: [] for name in candidates}
        for _ in range(rounds):
            for name, (pids, work) in candidates.items():
                before = cpu_seconds(pids)
                result = work()
                self.found[name].append({**result, "cpu": cpu_seconds(pids) - before})

    def ratio(self, ours, theirs, value):
        """The median of the ratios of the rounds."""
        return statistics.median(value(a) / value(b) for a, b in zip(self.found[ours], self.found[theirs]))

    def median(self, name, value):
        return statistics.median(value(one) for one in self.found[name])


def rate(result):
    return result["rate"]


def bytes_rate(result):
    return result["bytes_rate"]


def cpu_of_bytes(result):
    """Processor milliseconds for a gigabyte."""
    return 1e12 * result["cpu"] / result["bytes"]


class GatewayBench:
    """The site, a catalog of 600 packages, nginx, and the rows."""

    def __init__(self, folder, program, rounds, seconds, region="FI", zooms="0-12", largest=2 << 30):
        self.folder, self.rounds, self.seconds = pathlib.Path(folder).absolute(), rounds, seconds
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.sizes = {"mid": 64 * MIB, "large": largest}
        self.wrk, self.random = Wrk(self.folder / "wrk"), random.Random(1)
        self.site, self.nginx = Site(self.folder, program, padding=0), None
        try:
            self._make_tiles(region, zooms)
            self.catalog = MadeCatalog(self.site.catalog, self.folder / "catalog", "deep", PACKAGES, self.sizes)
            self.gateway = self.make_gateway()
            packed = gzip.compress((self.catalog.folder / "packages.json").read_bytes(), 6)
            (self.catalog.folder / "packages.json.gz").write_bytes(packed)
            self.nginx = Nginx(self.folder / "nginx", f"root {self.catalog.folder}; location /plain/ {{ alias {self.folder}/plain/; types {{ }} "
                               "default_type application/vnd.mapbox-vector-tile; }")
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.nginx:
            self.nginx.stop()
        self.site.close()

    def make_gateway(self, *more):
        """A gateway of the catalog of 600 packages, without a coordinator."""
        return Gateway(self.site, "--max-connections", "20000", *more, catalog=self.catalog.folder)

    def _make_tiles(self, region, zooms):
        """A package with enough tiles, once in the catalog, once as files for nginx, once for MapCache."""
        (self.folder / "deep.yaml").write_text(
            f"id: deep\nurl: {self.site.origin}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-14\npoliteness:\n  concurrency: 64\n")
        self.site.run("submit", region, "--id", "deep", "--tileset", self.folder / "deep.yaml", "--zoom", zooms, "--format", "mbtiles,pmtiles", "--wait",
                      "--coordinator", self.site.control)
        target = self.site.catalog / self.site.file("deep")[0]
        self.normalized = self.folder / "mapcache.mbtiles"
        self.site.run("convert", target, "--format", "mbtiles-normalized", "-o", self.normalized)
        database = sqlite3.connect(target)
        self.picked = []
        for z, x, row_, body in database.execute("SELECT * FROM tiles"):
            y = 2**z - 1 - row_
            self.picked.append((z, x, y))
            path = self.folder / f"plain/{z}/{x}"
            path.mkdir(parents=True, exist_ok=True)
            (path / f"{y}.pbf").write_bytes(body)
        database.close()
        self.picked = self.random.sample(self.picked, min(20_000, len(self.picked)))

    def tile_requests(self, form):
        return [(f"/tiles/deep@1/{z}/{x}/{y}?format={form}", {"Accept-Encoding": "gzip"}) for z, x, y in self.picked]

    def plain_requests(self):
        return [f"/plain/{z}/{x}/{y}.pbf" for z, x, y in self.picked]

    @staticmethod
    def by_clients(requests):
        """The same requests as a proxy passes them on: by 4,000 clients, because each has a rate."""
        both = ((one, {}) if isinstance(one, str) else one for one in requests)
        return [(path, {**fields, "X-Forwarded-For": f"10.0.{number % 4_000 // 250}.{1 + number % 250}"})
                for number, (path, fields) in enumerate(both)]

    def compare(self, peer, requests, connections, **others):
        """Turns of the gateway and of nginx with these requests; others: {name: (pids, url, requests)}."""
        candidates = {"gateway": ([self.gateway.process.pid], self.gateway.url, requests),
                      "nginx": (workers(self.nginx), self.nginx.url, peer), **others}
        return Turns(self.rounds, {name: (pids, lambda url=url, sent=sent: self.wrk(url, sent, connections, self.seconds))
                                   for name, (pids, url, sent) in candidates.items()})

    # MARK: parts

    def files(self):
        """Files of 64 MiB and 2 GiB with 4 connections, by the gateway and by nginx behind it."""
        front_gateway = self.make_gateway("--accel", "/catalog-files/", "--trusted-proxy", "127.0.0.1")
        # The proxy passes on whom the request names, as it would name its own clients.
        lines = proxy(front_gateway.port).replace("$remote_addr", "$http_x_forwarded_for")
        front = Nginx(self.folder / "front", f"{lines} location /catalog-files/ {{ internal; alias {self.catalog.folder}/; }}")
        for name, size in self.sizes.items():
            sent = [f"/packages/1/{name}.mbtiles"]
            fast = {"accel": (workers(front) + [front_gateway.process.pid], front.url, self.by_clients(4_000 * sent))}
            found = self.compare(sent, sent, 4, **fast)
            words = f"{size // MIB} MiB files, 4 connections"
            figures = [found.median(one, bytes_rate) / 1e6 for one in ("gateway", "accel", "nginx")]
            yield row(f"{words} ÷ nginx", found.ratio("gateway", "nginx", bytes_rate), "×", 0.5, True,
                      f"{figures[0]:.0f} and {figures[2]:.0f} MB/s")
            yield row(f"{words}, --accel behind nginx ÷ nginx", found.ratio("accel", "nginx", bytes_rate), "×", 0.9, True,
                      f"{figures[1]:.0f} and {figures[2]:.0f} MB/s")
            yield row(f"{words}: processor time of a byte ÷ nginx", found.ratio("gateway", "nginx", cpu_of_bytes), "×", 3, False,
                      f"{found.median('gateway', cpu_of_bytes):.0f} and {found.median('nginx', cpu_of_bytes):.0f} ms/GB")
        front.stop()
        front_gateway.kill()

    def ranges(self):
        """Random ranges of 64 KiB with 64 connections."""
        size, length, sent, path = self.sizes["large"], 64 << 10, [], "/packages/1/large.mbtiles"
        for _ in range(20_000):
            first = self.random.randrange(size - length)
            sent.append((path, {"Range": f"bytes={first}-{first + length - 1}"}))
        expect(len(fetch(self.gateway.url + path, **sent[0][1])) == length, "the gateway gave another range")
        found = self.compare(sent, sent, 64)
        yield row("random ranges of 64 KiB, 64 connections ÷ nginx", found.ratio("gateway", "nginx", rate), "×", 0.4, True,
                  f"{found.median('gateway', rate):.0f} and {found.median('nginx', rate):.0f} a second")

    def lists(self):
        """The packed list of 600 packages, and 304 answers."""
        sent = [("/packages.json", {"Accept-Encoding": "gzip"})]
        ours, theirs = (len(fetch(f"{one}/packages.json", **{"Accept-Encoding": "gzip"})) for one in (self.gateway.url, self.nginx.url))
        found = self.compare(sent, sent, 64)
        yield row(f"gzip list of {PACKAGES} packages, 64 connections ÷ nginx", found.ratio("gateway", "nginx", rate), "×", 0.6, True,
                  f"{found.median('gateway', rate):.0f} and {found.median('nginx', rate):.0f} a second; {ours} and {theirs} bytes")
        tags = []
        for url in (self.gateway.url, self.nginx.url):
            with urllib.request.urlopen(f"{url}/catalog.json") as answer:
                tags.append([("/catalog.json", {"If-None-Match": answer.headers["ETag"]})])
        found = self.compare(tags[1], tags[0], 64)
        yield row("304 answers, 64 connections ÷ nginx", found.ratio("gateway", "nginx", rate), "×", 0.6, True,
                  f"{found.median('gateway', rate):.0f} and {found.median('nginx', rate):.0f} a second")

    def tiles(self):
        """Random vector tiles out of MBTiles and PMTiles, next to nginx over files and to MapCache."""
        pid = [self.gateway.process.pid]
        others = {"pmtiles": (pid, self.gateway.url, self.tile_requests("pmtiles"))}
        server, url = self.start_mapcache()
        try:
            if server:
                mapped = [f"/map/tms/1.0.0/demo@GoogleMapsCompatible/{z}/{x}/{2**z - 1 - y}.pbf" for z, x, y in self.picked]
                one = fetch(url + mapped[0])
                same = fetch(self.gateway.url + self.tile_requests("mbtiles")[0][0], **{"Accept-Encoding": "gzip"})
                expect(one == same, "MapCache has other tiles")
                others["mapcache"] = ([server.pid], url, mapped)
            found = self.compare(self.plain_requests(), self.tile_requests("mbtiles"), 64, **others)
            for name, ours in (("MBTiles", "gateway"), ("PMTiles", "pmtiles")):
                for peer, theirs, bound in (("nginx over files", "nginx", 0.35), ("MapCache", "mapcache", 1)):
                    if theirs in found.found:
                        yield row(f"{len(self.picked)} random tiles of {name} ÷ {peer}", found.ratio(ours, theirs, rate), "×", bound, True,
                                  f"{found.median(ours, rate):.0f} and {found.median(theirs, rate):.0f} a second")
        finally:
            if server:
                server.terminate()
                server.wait()

    def start_mapcache(self):
        """Apache with MapCache over the same tiles, and its address; None where it is not installed."""
        modules = pathlib.Path("/usr/lib/apache2/modules")
        if not (modules / "mod_mapcache.so").exists():
            print("skipped: MapCache is missing (apt-get install libapache2-mod-mapcache)", flush=True)
            return None, None
        folder, port = self.folder / "apache", ports.take()
        folder.mkdir(exist_ok=True)
        (folder / "mapcache.xml").write_text(MAPCACHE.format(file=self.normalized))
        (folder / "httpd.conf").write_text(APACHE.format(modules=modules, folder=folder, port=port))
        server = subprocess.Popen(["/usr/sbin/apache2", "-d", str(folder), "-f", str(folder / "httpd.conf"), "-D", "FOREGROUND"])
        wait("the start of MapCache", lambda: not ports.is_free(port), 20)
        return server, f"http://127.0.0.1:{port}"

    def many_connections(self):
        """Latency of tiles at 1,000 connections and 70 % of the top rate."""
        # Connections of a trusted proxy are not counted by address; all 1,000 are from one.
        gateway = self.make_gateway("--trusted-proxy", "127.0.0.1")
        sent, plain, seconds = self.by_clients(self.tile_requests("mbtiles")), self.by_clients(self.plain_requests()), max(2, self.seconds)
        top = statistics.median(self.wrk(gateway.url, sent, 64, seconds)["rate"] for _ in range(min(3, self.rounds)))
        wanted = 0.7 * top
        found = Turns(self.rounds, {
            name: ([], lambda url=url, paths=paths: self.wrk(url, paths, 1_000, seconds + 2, wanted))
            for name, url, paths in (("gateway", gateway.url, sent), ("nginx", self.nginx.url, plain))})
        gateway.kill()
        a, b = (found.median(name, lambda one: one["p99"]) for name in ("gateway", "nginx"))
        late = found.median("gateway", lambda one: one["p999"])
        words = "tiles at 1,000 connections, 70 % of the top rate"
        got = found.median("gateway", rate)
        yield row(f"{words}: p99 ÷ nginx", found.ratio("gateway", "nginx", lambda one: one["p99"]), "×", 3, False,
                  f"{a:.1f} and {b:.1f} ms at {got:.0f} a second; the top is {top:.0f}")
        yield row(f"{words}: p99", a, "ms", 50, False, f"p50 {found.median('gateway', lambda one: one['p50']):.1f} ms")
        yield row(f"{words}: p99.9", late, "ms", 200, False, f"nginx {found.median('nginx', lambda one: one['p999']):.1f} ms")

    def rows(self, parts):
        """The rows of these parts; one that fails is a row that is missed."""
        for part in parts:
            try:
                for found in part():
                    print(f"{'met' if found['met'] else 'MISSED'}: {found['piece']}: {found['value']:.2f} {found['unit']} ({found['bound']}), "
                          f"{found['note']}; load {os.getloadavg()[0]:.1f}", flush=True)
                    yield found
            except Skip as reason:
                print(f"skipped: {part.__name__}: {reason}", flush=True)
            except Exception as problem:  # noqa: BLE001: the other parts are measured, and the run has failed
                said = f"{type(problem).__name__}: {problem}"[:300].replace("\n", " ")
                print(f"FAILED: {part.__name__}: {said}", flush=True)
                yield row(f"part {part.__name__}", float("nan"), "", 0, True, said)
