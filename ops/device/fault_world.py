"""What the fault table works on: a publisher's catalog at two moments, kept as bytes, and the tiles of a server.

`first` has EE and LI in version 1, LV, a style and tile packs. In `second` EE and LI have version 2: a few tiles are others, and
there are patches. Each is a mapping from paths to answers, as ops/chaos/origin.py serves them.
"""
import hashlib
import math
import pathlib
import sqlite3
import urllib.request

import world
from origin import save
from world import expect

# The region that is filled tile by tile, and the two whose packs overlap: west, south, east, north.
FILLED = (24.5, 58.6, 25.5, 59.2)
WEST, EAST = "21.5,56.5,22.3,57.3", "22.0,56.5,23.5,57.3"
FILLED_ZOOMS = range(6, 10)
STAGES = ("first", "second")


class FaultWorld(world.World):
    """Publishes, records, and needs no process afterwards."""

    def publish_all(self):
        for name in ("EE", "LV", "LI"):
            self.publish(name, "0-9")
        self.run("style-pack", f"{self.tiles}/style.json", "-o", self.folder / "style", "--quiet")
        self.run("catalog", "style", self.catalog, self.folder / "style", "--id", "demo", "--signing-key", self.key)
        self.run("packs", self.catalog, "--signing-key", self.key)
        self.record("first")
        for name in ("EE", "LI"):
            self.put(self.other(name), name)
        self.run("catalog", "patch", self.catalog, "--previous", "1", "--signing-key", self.key)
        self.run("packs", self.catalog, "--signing-key", self.key)
        self.record("second")
        # Adopted by a device: a file that no catalog knows.
        (self.folder / "AD.mbtiles").write_bytes((self.folder / "LI-0-9.mbtiles").read_bytes())

    def other(self, name):
        """The same tiles, but the last three have the bodies of others: a patch has only these."""
        source = sqlite3.connect(self.folder / f"{name}-0-9.mbtiles")
        rows = source.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles ORDER BY 1, 2, 3").fetchall()
        target = self.folder / f"{name}-other.mbtiles"
        made = sqlite3.connect(target)
        made.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
        made.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
        made.executemany("INSERT INTO metadata VALUES (?, ?)", source.execute("SELECT name, value FROM metadata WHERE name <> 'packhorse_seal'").fetchall())
        moved = [(*row[:3], rows[number - 4][3] if number >= len(rows) - 3 else row[3]) for number, row in enumerate(rows)]
        made.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", moved)
        made.commit()
        made.close()
        return target

    def record(self, stage):
        """Keeps every file of the catalog, and the tiles of the filled region, as they are now."""
        answers = {}
        for file in sorted(self.catalog.rglob("*")):
            if file.is_file():
                body = file.read_bytes()
                answers["/" + str(file.relative_to(self.catalog))] = (200, {"ETag": f'"{hashlib.sha256(body).hexdigest()[:16]}"'}, body)
        for zoom, column, row in tiles(FILLED, FILLED_ZOOMS):
            path = f"/tiles/{zoom}/{column}/{row}.pbf"
            with urllib.request.urlopen(self.tiles + path, timeout=20) as answer:
                # Expires in a fixed year, so that two runs store the same.
                kept = {name: value for name, value in answer.getheaders() if name.lower() in ("content-type", "content-encoding", "etag")}
                answers[path] = (answer.status, {**kept, "Expires": "Fri, 01 Jan 2100 00:00:00 GMT"}, answer.read())
        save(answers, self.folder / stage)

    def files(self):
        """The catalog's paths by what they are, of the stage `second`."""
        index = self.index()
        newest = {package["id"]: package["versions"][0] for package in index["packages"]}
        patch = next(patch["url"] for patch in newest["EE"]["patches"])
        packs = sorted("/" + str(path.relative_to(self.catalog)) for path in (self.catalog / "packs").rglob("*.mbtiles"))
        expect(packs, "the catalog has no packs")
        return {
            "list": "/catalog.json", "signature": "/catalog.json.sig", "package": "/" + newest["LV"]["files"][0]["url"], "patch": "/" + patch,
            "pack": packs[0], "style": "/" + index["styles"][0]["url"],
        }  # fmt: skip


def tiles(box, zooms):
    """The tiles (XYZ) that a box in degrees touches."""
    west, south, east, north = box
    for zoom in zooms:
        def column(longitude):
            return int((longitude + 180) / 360 * 2**zoom)

        def row(latitude):
            return int((1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2 * 2**zoom)

        for x in range(column(west), column(east) + 1):
            for y in range(row(north), row(south) + 1):
                yield zoom, x, y


def make(folder, program):
    """Publishes into a folder; returns what is needed of it."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    place = FaultWorld(folder, program)
    place.close()
    return place
