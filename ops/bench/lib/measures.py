"""What is measured, and the targets it is held against."""
import json
import os
import shutil
import statistics
import subprocess
import sys

import limits
import origin
import packhorse
import process
import starts
import tree

SLOW = {"mapproxy-seed": 1, "landez": 1, "mapcache_seed": 2, "mapcache_seed into MBTiles": 1}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Target:
    """One row of the table of targets."""

    def __init__(self, what, value, bound, at_least=False, digits=2):
        self.what, self.value, self.bound, self.at_least, self.digits = what, value, bound, at_least, digits

    @property
    def is_met(self):
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def row(self):
        sign = "≥" if self.at_least else "≤"
        return (f"| {self.what} | {self.value:.{self.digits}f} | {sign} {self.bound:g} | "
                f"{'met' if self.is_met else '**missed**'} |")


class Bench:
    def __init__(self, work, server, floor, others, rounds):
        self.work, self.server, self.floor, self.others, self.rounds = work, server, floor, others, rounds
        self.tables, self.targets = [], []

    def run(self, part):
        say(f"{part}, load {os.getloadavg()[0]:.1f}")
        self.tables, self.targets = [], []
        parts = {"far": self.far, "protocols": self.protocols, "catalog": self.catalog, "pieces": self.pieces, "coordinator": self.many_workers,
                 "limits": self.hidden_limits}
        parts.get(part, lambda: self.side_by_side(part))()
        return "\n\n".join(self.tables), [target.row() for target in self.targets]

    # MARK: trees

    def tree(self, name):
        folder = f"{self.work}/trees/{name}"
        if not os.path.exists(f"{folder}/manifest.json"):
            say(f"making the tree {name}")
        manifest = tree.make(name, folder)
        with open(f"{folder}/tilejson.json", "w") as file:
            file.write(tree.tilejson(manifest, self.base()))
        return manifest, folder

    @staticmethod
    def base(port=origin.PLAIN):
        return f"http{'s' if port in (origin.TLS, origin.TLS_FAR) else ''}://127.0.0.1:{port}"

    def build(self, manifest, workers=1, port=origin.PLAIN, connections=64, slots=None, tells_layers=True, http2=False):
        """Builds a package of a tree in an empty folder, which is gone afterwards; from a TileJSON, or from an address that tells no layers."""
        folder = f"{self.work}/packhorse"
        path = "tilejson.json" if port == origin.PLAIN and tells_layers else "{z}/{x}/{y}." + manifest["ext"]
        try:
            return packhorse.build(manifest, f"{self.base(port)}/{manifest['name']}/{path}", folder, workers, connections, slots, http2)
        finally:
            self.keep_log(folder)

    @staticmethod
    def keep_log(folder):
        if sys.exc_info()[0] is None:
            shutil.rmtree(folder, ignore_errors=True)

    # MARK: side by side

    def side_by_side(self, name):
        manifest, folder = self.tree(name)
        out = f"{self.work}/floor.mbtiles"

        def floor(mode):
            def go():
                cost = process.run(mode, self.floor, "fetch", f"{self.base()}/{name}", manifest["ext"], f"{folder}/list.txt",
                                   64, mode, out)
                os.remove(out)
                return cost
            return go

        careful = "careful" if manifest["kind"] == "vector" else "bare"
        candidates = {"F1: C, nothing looked at": floor("bare"), "F2: C, inflated, parsed, hashed": floor("careful")}
        candidates["Packhorse, one worker"] = lambda: self.build(manifest)
        candidates["Packhorse, two workers"] = lambda: self.build(manifest, workers=2)
        if name == "vector-20k":
            candidates["Packhorse, one worker, layers not told"] = lambda: self.build(manifest, tells_layers=False)
        missing = self.others.missing()
        if "curl" not in missing:
            candidates["curl --parallel, bodies dropped"] = lambda: self.others.curl(manifest, self.base(), folder)
        if "mapcache_seed" not in missing:
            candidates["mapcache_seed"] = lambda: self.others.mapcache(manifest, self.base())
            # Of vector tiles it stores none there, and exits 0.
            if manifest["kind"] == "png":
                candidates["mapcache_seed into MBTiles"] = lambda: self.others.mapcache(manifest, self.base(), "mbtiles")
        if "mapproxy-seed" not in missing and manifest["kind"] == "png":
            candidates["mapproxy-seed"] = lambda: self.others.mapproxy(manifest, self.base())
        if "landez" not in missing and not name.endswith("100k"):
            candidates["landez"] = lambda: self.others.landez(manifest, self.base())
        costs = {label: [] for label in candidates}
        for turn in range(self.rounds):
            for label, go in candidates.items():
                if turn >= SLOW.get(label, self.rounds):
                    continue
                process.warm(self.work)
                costs[label].append(go())
                last = costs[label][-1]
                say(f"{name} {label}: wall {last.wall:.2f} s, CPU {last.cpu:.2f} s")
        middle = {label: self.median(found) for label, found in costs.items()}
        self.tables.append(self.table(name, manifest, middle))
        floor_cost = middle["F2: C, inflated, parsed, hashed" if careful == "careful" else "F1: C, nothing looked at"]
        which = "F2" if careful == "careful" else "F1"
        ours = middle["Packhorse, one worker"]
        self.targets.append(Target(f"{name}: CPU / {which}", ours.cpu / floor_cost.cpu, 2.0))
        if careful == "careful":
            self.targets.append(Target(f"{name}: wall / F2", ours.wall / floor_cost.wall, 1.5))
        for peer, bound in (("mapcache_seed", 4), ("mapcache_seed into MBTiles", 4), ("mapproxy-seed", 20)):
            if peer in middle:
                self.targets.append(Target(f"{name}: wall of {peer} / ours", middle[peer].wall / ours.wall, bound, True, 1))
        self.targets.append(Target(f"{name}: memory of the worker, MiB", ours.peaks["worker 1"], 120, digits=0))
        self.targets.append(Target(f"{name}: memory of the coordinator, MiB", ours.peaks["coordinator"], 60, digits=0))

    @staticmethod
    def median(costs):
        peaks = {name: max(cost.peaks[name] for cost in costs) for name in costs[0].peaks}
        return process.Cost(statistics.median(c.wall for c in costs), statistics.median(c.cpu for c in costs), peaks)

    @staticmethod
    def table(name, manifest, middle):
        f2 = middle["F2: C, inflated, parsed, hashed"]
        lines = [f"### {name}: {manifest['tiles']:,} tiles, {manifest['bytes'] / 1e6:.0f} MB", "",
                 "| candidate | wall s | CPU s | peak MiB | tiles/s | wall / F2 | CPU / F2 |", "|---|---|---|---|---|---|---|"]
        for label, cost in middle.items():
            peak = " + ".join(f"{p:.0f}" for p in cost.peaks.values())
            lines.append(f"| {label} | {cost.wall:.2f} | {cost.cpu:.2f} | {peak} | {manifest['tiles'] / cost.wall:,.0f} | "
                         f"{cost.wall / f2.wall:.2f} | {cost.cpu / f2.cpu:.2f} |")
        return "\n".join(lines)

    # MARK: a far origin

    def far(self):
        if not self.server.has_far:
            say("nginx's echo module is not here: no far origin")
            return
        manifest, folder = self.tree("vector-20k")
        port, delay = origin.FAR
        self.server.requests(port)
        process.run("floor", self.floor, "fetch", f"{self.base(port)}/{manifest['name']}", manifest["ext"], f"{folder}/list.txt", 64,
                    "bare", f"{self.work}/floor.mbtiles")
        os.remove(f"{self.work}/floor.mbtiles")
        carried = self.rate(port)
        cost = self.build(manifest, port=port)
        rate = self.rate(port)
        lines = [f"### An origin {delay * 1000:.0f} ms away, 64 connections", "",
                 f"{manifest['tiles']:,} tiles in {cost.wall:.2f} s with the merge; {rate:,.0f} requests/s between the first and the last. F1, which does nothing "
                 f"else, has {carried:,.0f} with as many connections; an answer after exactly {delay * 1000:.0f} ms would allow {64 / delay:,.0f}."]
        self.targets.append(Target("30 ms away: rate / what 64 connections carry (F1)", rate / carried, 0.95, True))
        small, _ = self.tree("vector-2k")
        port, delay = origin.FARTHER
        rates = []
        for workers, slots in ((1, None), (1, 1), (2, 1)):
            self.server.requests(port)
            self.build(small, workers=workers, port=port, connections=256, slots=slots)
            rates.append(self.rate(port))
        lines.append(f"{small['tiles']:,} tiles {delay * 1000:.0f} ms away: one worker alone has {rates[0]:,.0f} requests/s, which is what the 256 connections allow that an "
                     f"origin may have; where workers have one slot each, one has {rates[1]:,.0f} and two have {rates[2]:,.0f}.")
        self.targets.append(Target("300 ms away, one slot each: two workers / one", rates[2] / rates[1], 1.9, True))
        self.tables.append("\n".join(lines))

    def rate(self, port):
        times = [request[0] for request in self.server.requests(port)]
        return (len(times) - 1) / (times[-1] - times[0])

    # MARK: protocols

    def protocols(self):
        """One job over each protocol, near and far; pictures, because they show the transport and not the checks."""
        manifest, _ = self.tree("png-20k")
        os.environ["SSL_CERT_FILE"] = self.server.certificate
        kinds = [("HTTP/1.1", origin.COUNTED, origin.FAR[0], False), ("HTTP/1.1, TLS", origin.TLS, origin.TLS_FAR, False),
                 ("HTTP/2, TLS", origin.TLS, origin.TLS_FAR, True)]
        found = {(name, is_far): [] for name, *_ in kinds for is_far in (False, True)}
        for is_far in (False, True) if self.server.has_far else (False,):
            for _ in range(1 if is_far else self.rounds):
                for name, near, far, http2 in kinds:
                    port = far if is_far else near
                    self.server.requests(port)
                    process.warm(self.work)
                    cost = self.build(manifest, port=port, http2=http2)
                    requests = self.server.requests(port)
                    rate = (len(requests) - 1) / (requests[-1][0] - requests[0][0])
                    found[name, is_far].append((cost.wall, cost.cpu, rate, len({connection for *_, connection in requests})))
                    say(f"{name}{' far' if is_far else ''}: wall {cost.wall:.2f} s, CPU {cost.cpu:.2f} s")
        lines = [f"### Protocols: {manifest['tiles']:,} PNG tiles, at most 64 requests in flight", "",
                 "| protocol | origin | wall s | CPU s | requests/s | connections |", "|---|---|---|---|---|---|"]
        for (name, is_far), runs in found.items():
            if runs:
                wall, cpu, rate, connections = (statistics.median(values) for values in zip(*runs))
                where = f"{origin.FAR[1] * 1000:.0f} ms away" if is_far else "near"
                lines.append(f"| {name} | {where} | {wall:.2f} | {cpu:.2f} | {rate:,.0f} | {connections:.0f} |")
        self.tables.append("\n".join(lines))

    # MARK: overlapping packages

    def catalog(self):
        manifest, folder = self.tree("vector-20k")
        west, south, east, north = manifest["bbox"]
        boxes = [("continent", manifest["bbox"])]
        for c in range(5):
            left, right = (west + (east - west) * k / 5 for k in (c, c + 1))
            boxes.append((f"country-{c}", [left, south, right, north]))
            for r in range(5 if c < 4 else 4):
                low, high = (south + (north - south) * k / 5 for k in (r, r + 1))
                boxes.append((f"region-{c}-{r}", [left, low, right, high]))
        alone, together, fetched = [], [], []
        for _ in range(self.rounds):
            alone.append(self.boxes(manifest, boxes[:1])[0])
            wall, paths, sizes = self.boxes(manifest, boxes)
            together.append(wall)
            fetched.append(len(paths) / len(set(paths)))
        with_all = statistics.median(together)
        first = statistics.median(alone)
        cost = process.run("insert", self.floor, "insert", f"{folder}/pack.bin", f"{folder}/pack.idx", f"{self.work}/floor.mbtiles")
        os.remove(f"{self.work}/floor.mbtiles")
        writing = cost.wall * (sum(sizes) - max(sizes)) / manifest["bytes"]
        self.tables.append("\n".join([
            f"### {len(boxes)} overlapping packages: a continent, its countries, their regions", "",
            f"Largest alone {first:.2f} s, all together {with_all:.2f} s; writing the others takes a bare SQLite {writing:.2f} s. "
            f"Requests per distinct tile: {max(fetched):.4f}."]))
        self.targets.append(Target("catalog: requests per distinct tile", max(fetched), 1.0, digits=4))
        self.targets.append(Target("catalog: all / (largest alone + writing the others)", with_all / (first + writing), 1.25))

    def boxes(self, manifest, boxes):
        folder = f"{self.work}/packhorse"
        process.warm(self.work)
        self.server.requests(origin.COUNTED)
        cluster = packhorse.Cluster(folder, 1)
        try:
            with open(f"{folder}/packages.yaml", "w") as file:
                for name, box in boxes:
                    file.write(f"- id: {name}\n  bbox: {','.join(f'{v:.9f}' for v in box)}\n")
            # From the other port, so that the log has tiles alone.
            with open(f"{self.work}/trees/{manifest['name']}/tilejson-counted.json", "w") as file:
                file.write(tree.tilejson(manifest, self.base(origin.COUNTED)))
            url = f"{self.base()}/{manifest['name']}/tilejson-counted.json"
            tileset = packhorse.tileset(folder, url, 64)
            wall, _ = cluster.submit("--packages", f"{folder}/packages.yaml", "--tileset", tileset, "--zoom", "0-14",
                                     "--tile-limit", "1000000")
        finally:
            cluster.stop()
        sizes = [os.path.getsize(path) for path in packhorse.packages(f"{folder}/data/catalog")]
        if len(sizes) != len(boxes):
            raise RuntimeError(f"{len(sizes)} packages instead of {len(boxes)}; see {folder}/log")
        shutil.rmtree(folder)
        return wall, [request[1] for request in self.server.requests(origin.COUNTED)], sizes

    # MARK: a coordinator under load

    def many_workers(self):
        """One coordinator process, 1,000 simulated workers on sockets of their own, a job of 100 million tiles; without and with CURVE."""
        ran = subprocess.run([f"{os.path.dirname(__file__)}/../coordinator"], capture_output=True, text=True)
        rows = [line for line in ran.stdout.splitlines() if line.startswith("|")]
        plain = next((row for row in rows if row.startswith("| plain")), None)
        if ran.returncode or plain is None:
            raise RuntimeError(f"ops/bench/coordinator ended with {ran.returncode}: {ran.stderr[-300:]}")
        self.tables.append("\n".join(["### A coordinator under 1,000 workers (`make bench-coordinator`)", "", *rows]))
        cells = [cell.strip() for cell in plain.split("|")[1:-1]]
        self.targets += [Target("coordinator: durable batch transitions per second", float(cells[5]), 5000, True, 0),
                         Target("coordinator: connected workers", float(cells[1]), 1000, True, 0)]

    # MARK: origins that refuse

    def hidden_limits(self):
        """Origins that refuse what is beyond a rate or a number of connections, and do not say what it is."""
        table, targets = limits.run(self.work, say, Target)
        self.tables.append(table)
        self.targets += targets

    # MARK: pieces

    def pieces(self):
        """The rows of `packhorse-bench pieces` that a target is set for, and how soon the command line answers."""
        said = subprocess.run([f"{packhorse.PROGRAM}-bench", "pieces", "--json"], capture_output=True, text=True).stdout
        rows = {row["piece"]: row for row in json.loads(said)["rows"]}
        lines = ["### Pieces (`make bench-pieces`), of CPU time", "", "| piece | rate | baseline | its rate | ratio |", "|---|---|---|---|---|"]
        for row in rows.values():
            if "baseline" in row:
                lines.append(f"| {row['piece']} | {row['value']:,.0f} {row['unit']} | {row['baseline']} | {row['baseline_value']:,.0f} | "
                             f"{row['ratio']:.2f} |")
        self.tables.append("\n".join(lines))
        self.targets += [
            Target("merge: rate / that of a bare SQLite insert, wall", rows["merge"]["wall_ratio"], 0.7, True),
            Target("PMTiles: rate / that of a plain file copy, wall", rows["pmtiles export"]["wall_ratio"], 0.8, True),
            Target("planning: masks of all countries at z14, s", rows["masks of all countries"]["value"], 2),
            Target("planning: mask of Russia at z14, s", rows["mask of Russia"]["value"], 0.5),
            Target("planning: batches of the planet z0-14, MB", rows["planet batches"]["value"], 200, digits=0)]
        for words in (["--help"], ["mask", "EE"]):
            self.targets.append(Target(f"first byte of `packhorse {' '.join(words)}`, ms", starts.median(packhorse.PROGRAM, words)[0], 30, digits=0))
