"""What is true: the tiles of the origin, the package without faults, and everything the catalog ever showed."""

import hashlib
import json
import sqlite3
import subprocess
import threading
import time

from harness import PROGRAM, Trouble


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def path_of(zoom, column, tms_row):
    return f"/tiles/{zoom}/{column}/{(1 << zoom) - 1 - tms_row}.pbf"


def tiles_of(package):
    """Every tile of an MBTiles file by its path, read by sqlite alone."""
    database = sqlite3.connect(f"{package.resolve().as_uri()}?immutable=1", uri=True)
    try:
        rows = database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles")
        return {path_of(zoom, column, row): body for zoom, column, row, body in rows}
    finally:
        database.close()


class Judgement:
    """Lost tiles and wrong bytes of a package against the truth."""

    def __init__(self, truth, package, honest=()):
        expected = {path: body for path, (status, _, body) in truth.items() if status == 200 and path not in honest}
        found = tiles_of(package)
        self.lost = len(expected.keys() - found.keys())
        self.wrong = len(found.keys() - expected.keys())
        self.wrong += sum(1 for path in expected.keys() & found.keys() if expected[path] != found[path])


class Watcher:
    """Opens every file of a catalog when it appears: it must be whole, and packages.json must be true, at any time."""

    def __init__(self, catalog):
        self.catalog, self.findings, self.seen = catalog, [], {}
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.closed.is_set():
            self.look()
            time.sleep(0.01)

    def look(self):
        for file in self.catalog.glob("packages/*/[!.]*"):
            key = str(file.relative_to(self.catalog))
            try:
                digest = sha256(file)
            except FileNotFoundError:
                continue
            if key not in self.seen:
                self.seen[key] = digest
                done = subprocess.run([str(PROGRAM), "verify", str(file)], capture_output=True, text=True)
                if done.returncode != 0:
                    self.findings.append(f"{key} was visible and not verified: {done.stdout}{done.stderr}".strip())
            elif self.seen[key] != digest:
                self.findings.append(f"{key} changed its bytes")
        try:
            listed = json.loads((self.catalog / "packages.json").read_text())
        except FileNotFoundError:
            return
        except ValueError as error:
            self.findings.append(f"packages.json was torn: {error}")
            return
        for entry in listed["packages"]:
            place = "packages/" + entry["url"].split("/packages/")[-1]
            if not (self.catalog / place).is_file():
                self.findings.append(f"packages.json lists {place}, which is not there")
            elif place in self.seen and self.seen[place] != entry["sha256"]:
                self.findings.append(f"packages.json has another digest for {place}")

    def close(self):
        """The findings of a whole life, and of the catalog as it is left."""
        self.closed.set()
        self.thread.join(30)
        self.look()
        if self.findings:
            raise Trouble("catalog: " + "; ".join(dict.fromkeys(self.findings)))
