"""The catalogs, the schedule and the device of the year, and the oracle that reads their files with SQLite alone."""
import json
import random
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("lib", "chaos")]
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness
import pmtiles
from acceptance import Wrong, expect, wait
from planet import TILES, Planet
from sites import Sites
from sources import Sources

REGIONS = ("EE LV LT FI SE NO DK DE PL CZ SK HU AT CH IT FR ES PT NL BE LU IE GB IS RO BG GR RS HR SI BA ME MK AL UA BY MD TR CY MT").split()
DEVICE = ["EE", "LV", "CH", "MT", "IS"]
# Regions with a routing graph; the device has theirs.
ROUTED = DEVICE[:2]
GROUP = "groups/routing-valhalla/"


PLACES = {pmtiles.tile_id(*tile): tile for tile in TILES}


def tiles_of(file):
    """Every tile of an MBTiles or PMTiles file, by zoom, column and row from the north."""
    if file.suffix == ".pmtiles":
        return {PLACES[number]: body for number, body in pmtiles.tiles_of(file.read_bytes()).items()}
    database = sqlite3.connect(f"{file.resolve().as_uri()}?immutable=1", uri=True)
    try:
        rows = database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles")
        return {(z, x, (1 << z) - 1 - y): body for z, x, y, body in rows}
    finally:
        database.close()


class World:
    # How many builds the source will have.
    BUILDS = 12

    def __init__(self, folder, program, chosen):
        self.folder, self.program = folder, program
        harness.PROGRAM = program
        self.random = random.Random(f"year {chosen.seed}")
        self.planet, self.sources = Planet(), Sources(self.BUILDS)
        self.key = folder / "catalog.key"
        self.files, self.store, self.late_store = folder / "files", folder / "maps", folder / "late"
        self.files.mkdir()
        (self.files / "regions.yaml").write_text("packages:\n" + "".join(f"  - region: {name}\n" for name in REGIONS))
        self.run("catalog", "keygen", self.key)
        self.metrics = harness.ports.take()
        self.live, self.staging = self.catalogs()
        self.cluster = self.make_cluster([
            "--signing-key", self.key, "--catalog", self.live, "--also-catalog", f"staging={self.staging}", "--schedule-files", self.files,
            "--metrics", f"127.0.0.1:{self.metrics}",
        ])  # fmt: skip
        self.sites = Sites(self.live)
        self.trust = ["--catalog", self.sites.own.url, "--public-key", self.key.with_suffix(".pub")]
        self.cluster.start(workers=2)
        # Graphs by region: those that staging must have, those of the live catalog, and whether the device has asked for them.
        self.extents, self.promoted, self.graphs, self.promoted_graphs, self.routes = {}, None, {}, {}, False

    def catalogs(self):
        """The folders of the live catalog and of staging."""
        return self.folder / "data/catalog", self.folder / "staging"

    def make_cluster(self, options):
        """A cluster that is not started, whose coordinator has these options."""
        return harness.Cluster(self.folder, options=options)

    def run_row(self, body, tiles):
        """A month."""
        return body(self, tiles)

    def close(self):
        self.cluster.end()
        self.sources.close()
        self.sites.close()

    # Commands

    def run(self, *words, status=0):
        """A command that must end with the status; its standard output."""
        return self.finish(*words, status=status).stdout

    def finish(self, *words, status=0):
        """The same; all that it wrote."""
        done = subprocess.run([str(self.program), *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        expect(done.returncode == status, f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
        return done

    def ask(self, *words, status=0):
        return self.run(*words, "--coordinator", self.cluster.control, "--timeout", 60, status=status)

    def killed(self, *words, within):
        """A command that is killed after a random time of at most `within` seconds; whether it was still at work then."""
        child = subprocess.Popen([str(self.program), *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(self.random.uniform(0, within))
            return False
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            return True

    def metric(self, name):
        """A value of the coordinator's page of metrics."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=30) as page:
            lines = page.read().decode().splitlines()
        return next((float(line.split()[1]) for line in lines if line.startswith(f"packhorse_{name} ")), None)

    # A month

    def publish(self, kind, tiles, month):
        """A new build at the source; the tileset file follows sources of this kind from now on."""
        (self.files / "planet.yaml").write_text("id: planet\n" + getattr(self.sources, kind)(tiles, month))

    def schedule(self, every="monthly 3 02:30"):
        """Adds the schedule, or gives it another time; its history stays."""
        self.ask("schedule", "add", "monthly", "--every", every, "--packages", self.files / "regions.yaml", "--tileset",
                 self.files / "planet.yaml", "--zoom", "0-6", "--format", "mbtiles,pmtiles", "--follow-files", "--into", "staging")  # fmt: skip

    def fire(self):
        """A firing of the schedule by hand, which makes a job in any case; the number of the job."""
        if not json.loads(self.ask("schedule", "list", "--json")):
            self.schedule()
        return int(self.ask("schedule", "run", "monthly"))

    def fire_by_rule(self):
        """A firing at the next full minute: what came of it, and the bytes that it received."""
        before = self.last_firing()["number"]
        self.schedule(f"hourly {time.gmtime(time.time() + 60).tm_min}")
        received = self.sources.received
        firing = wait("the firing", lambda: (now := self.last_firing())["number"] != before and now, 90, 0.5)
        received = self.sources.received - received
        self.schedule()
        return firing, received

    def last_firing(self):
        return next(iter(json.loads(self.ask("schedule", "history", "monthly", "--json"))), None)

    def rebuild(self, disturb=None):
        """A firing whose job ends well; `disturb` is called in its middle, and a job that saw its source change is fired again."""
        job = self.fire()
        if disturb:
            disturb(job)
        status = self.cluster.wait_end(job, 300)
        if status["state"] == "failed" and "source-changed" in json.dumps(status):
            self.sources.delay = 0
            job = self.fire()
            status = self.cluster.wait_end(job, 300)
            status["was_changed"] = True
        expect(status["state"] == "done", f"job {job} is {status['state']}: {status.get('reason')} {str(status.get('failures'))[:300]}")
        wait("the result of the firing", lambda: self.last_firing()["result"] == "published", 60)
        return status

    def middle(self, job, share=0.2):
        """Waits until a share of the batches is done."""
        wait(f"the middle of job {job}", lambda: (s := self.cluster.status(job))["batches_done"] >= share * s["batches"] > 0, 120)

    def change_graphs(self):
        """Attaches new graphs in staging: mostly the old ones in another order, with changes all over."""
        for name in ROUTED:
            graph = bytearray(self.graphs.get(name) or self.random.randbytes(300_000))
            cut = self.random.randrange(len(graph))
            graph = graph[cut:] + graph[:cut]
            for _ in range(20):
                place = self.random.randrange(len(graph) - 100)
                graph[place:place + self.random.randrange(100)] = self.random.randbytes(self.random.randrange(100))
            self.graphs[name] = bytes(graph)
            file = self.folder / f"{name}.vtiles"
            file.write_bytes(graph)
            self.run("catalog", "attach", self.staging, name, file, "--kind", "routing.valhalla", "--signing-key", self.key)

    def promote(self, *options, status=0):
        return self.ask("catalog", "promote", "staging", "main", *options, status=status)

    def is_live(self, tiles, graphs=None):
        """Says what the live catalog must have now; `None`: the graphs of staging."""
        self.promoted, self.promoted_graphs = tiles, dict(self.graphs if graphs is None else graphs)

    # The oracle

    def newest(self, catalog, edition=""):
        """The newest version of each package of an edition of a signed list."""
        packages = json.loads((catalog / "catalog.json").read_text())["packages"]
        return {package["id"]: max(package["versions"], key=lambda version: version["version"]) for package in packages if package["edition"] == edition}

    def listed(self, catalog):
        """The newest version of each package, and the paths of its files by format."""
        newest = self.newest(catalog)
        return {
            name: (version["version"], {file["format"]: catalog / file["url"] for file in version["files"]}) for name, version in newest.items()
        }  # fmt: skip

    def check_catalog(self, catalog, tiles, what):
        """Every package has exactly the tiles of its area, with the bodies that they must have."""
        self.run("catalog", "verify", catalog, "--public-key", self.key.with_suffix(".pub"))
        listed = self.listed(catalog)
        expect(sorted(listed) == sorted(REGIONS), f"{what} lists {sorted(listed)}")
        for name, (_, files) in listed.items():
            expect(sorted(files) == ["mbtiles", "pmtiles"], f"{what}, {name}: {sorted(files)}")
            for format, file in files.items():
                self.check_tiles(name, tiles_of(file), tiles, f"{what}, {name}, {format}")
        graphs = self.promoted_graphs if catalog == self.live else self.graphs
        found = {name: (catalog / version["files"][0]["url"]).read_bytes() for name, version in self.newest(catalog, GROUP).items()}
        expect(sorted(found) == sorted(graphs), f"{what} lists graphs of {sorted(found)}")
        for name, graph in graphs.items():
            expect(found[name] == graph, f"{what} has another graph of {name}")

    def check_tiles(self, name, found, tiles, what):
        # The first build is undisturbed: its extent is that of all that follow.
        extent = self.extents.setdefault(name, set(found))
        expected = {tile: tiles[tile] for tile in extent if tile in tiles}
        wrong = [tile for tile in expected.keys() & found.keys() if expected[tile] != found[tile]]
        expect(not wrong, f"{what}: {len(wrong)} of {len(found)} tiles are wrong, first {min(wrong, default=None)}")
        expect(found.keys() == expected.keys(), f"{what}: {len(expected.keys() - found.keys())} tiles are missing, "
               f"{len(found.keys() - expected.keys())} are too many")  # fmt: skip

    def check_live(self):
        self.check_catalog(self.live, self.promoted, "live")

    def update_device(self):
        """The device installs or updates; its files are those of the live catalog."""
        if self.store.exists():
            self.run("device", "update", "--store", self.store)
        else:
            self.run("device", "install", *DEVICE, "--store", self.store, *self.trust)
        self.check_device(self.store, "mbtiles")

    def wait_for_patches(self):
        """The coordinator makes patches after a promotion, and lists all at once: waits for those of the graphs."""
        wait("the patches of the live catalog", lambda: all(version["patches"] for version in self.newest(self.live, GROUP).values()), 120)

    def check_device(self, store, format):
        self.run("device", "verify", "--deep", "--store", store)
        listed, installed = self.listed(self.live), json.loads(self.run("device", "list", "--installed", "--store", store, "--json"))
        found = {item["item"]["id"]: item for item in installed}
        expect(sorted(found) == sorted(DEVICE), f"the device has {sorted(found)}")
        for name, item in found.items():
            (version, files), file = listed[name], Path(item["file"])
            expect(item["version"] == version, f"the device has version {item['version']} of {name}, live is {version}")
            expect(file.read_bytes() == files[format].read_bytes(), f"the device's file of {name} is not that of the catalog")
            self.check_tiles(name, tiles_of(file), self.promoted, f"device, {name}")
            graphs = [Path(companion["file"]).read_bytes() for companion in item.get("companions", [])]
            expected = [self.promoted_graphs[name]] if store == self.store and self.routes and name in self.promoted_graphs else []
            expect(graphs == expected, f"the device has another graph of {name}")
