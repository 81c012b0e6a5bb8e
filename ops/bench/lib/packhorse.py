"""Packhorse as a candidate: a coordinator, workers, a job, a verified package."""
import json
import os
import shutil
import sqlite3
import subprocess
import time

from process import Cost, Process

PROGRAM = os.environ.get("PACKHORSE", os.path.abspath(f"{os.path.dirname(__file__)}/../../../.build/release/packhorse"))


class Cluster:
    """A coordinator and workers of their own in an empty folder."""

    def __init__(self, folder, workers=1, coordinator=(), slots=None):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.folder = folder
        self.log = open(f"{folder}/log", "w")
        self.coordinator = self.start("coordinator", "coordinator", "--data", f"{folder}/data", "--control",
                                      "tcp://127.0.0.1:*", "--work", "tcp://127.0.0.1:*", *coordinator)
        end, file = time.monotonic() + 60, f"{folder}/data/endpoints.json"
        while not os.path.exists(file):
            if time.monotonic() > end:
                raise RuntimeError(f"the coordinator does not start; see {folder}/log")
            time.sleep(0.01)
        with open(file) as endpoints:
            self.endpoints = json.load(endpoints)
        self.workers = [self.start(f"worker {n + 1}", "worker", "--connect", self.endpoints["work"], "--blobs",
                                   f"{folder}/data/blobs", "--name", f"w{n + 1}",
                                   *(["--slots", slots] if slots else [])) for n in range(workers)]
        # Until all are known: their start is not part of a job.
        for _ in range(200):
            said = subprocess.run([PROGRAM, "workers", "--json", "--coordinator", self.endpoints["control"]],
                                  capture_output=True, text=True).stdout
            if said.count('"w') >= workers:
                break
            time.sleep(0.05)

    def start(self, name, *words):
        return Process(name, PROGRAM, *words, log=self.log)

    def submit(self, *words, limit=1800):
        """Submits, waits for the end and returns wall seconds and the client's CPU seconds."""
        start = time.monotonic()
        client = Process("submit", PROGRAM, "submit", *words, "--coordinator", self.endpoints["control"], "--wait",
                         log=self.log)
        code = client.wait(limit)
        if code:
            raise RuntimeError(f"submit ended with {code}; see {self.folder}/log")
        return time.monotonic() - start, client.cpu

    def stop(self):
        """Ends all processes; the CPU seconds of their lives, and their largest memory in MiB."""
        processes = self.workers + [self.coordinator]
        for process in processes:
            process.stop()
        self.log.close()
        return sum(p.cpu for p in processes), {p.name: p.final_peak for p in processes}


def tileset(folder, url, connections, http2=False):
    """A tileset file for an address of tiles or of a TileJSON."""
    path = f"{folder}/tiles.yaml"
    with open(path, "w") as file:
        file.write(f"id: bench\nurl: {url}\nhttp2: {str(http2).lower()}\npoliteness:\n  concurrency: {connections}\n")
        if "{z}" in url:
            file.write(f"format: {url.rsplit('.', 1)[1]}\nzoom: 0-14\nattribution: test data\n")
    return path


def area(manifest):
    return "bbox({:.9f},{:.9f},{:.9f},{:.9f})".format(*manifest["bbox"])


def build(manifest, url, folder, workers=1, connections=64, slots=None, http2=False):
    """From nothing to a verified package of the tree; its Cost. The package is counted by another SQLite than ours."""
    cluster = Cluster(folder, workers, slots=slots)
    try:
        file = tileset(folder, url, connections, http2)
        wall, client = cluster.submit(area(manifest), "--id", "bench", "--tileset", file, "--zoom", "0-14",
                                      "--tile-limit", "1000000")
    finally:
        cpu, peaks = cluster.stop()
    check(f"{folder}/data/catalog", manifest["tiles"])
    return Cost(wall, cpu + client, peaks)


def packages(catalog):
    return sorted(f"{at}/{name}" for at, _, names in os.walk(catalog) for name in names if name.endswith(".mbtiles"))


def check(catalog, tiles):
    found = packages(catalog)
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} packages in {catalog} instead of one")
    with sqlite3.connect(f"file:{found[0]}?mode=ro", uri=True) as database:
        (count,) = database.execute("SELECT count(*) FROM tiles").fetchone()
    if count != tiles:
        raise RuntimeError(f"the package has {count} tiles instead of {tiles}")
