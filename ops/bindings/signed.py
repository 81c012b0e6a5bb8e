"""A signed catalog with two versions of a map, a patch between them, and a style, made by commands that need no server.

Python's standard library only.
"""
import os
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import zlib

from acceptance import expect
from server import Server

ZOOMS = 5
SIDE = 64
STYLE = """{"version": 8, "sources": {"photos": {"type": "raster", "tiles": ["https://tiles.example.com/{z}/{x}/{y}.png"], "tileSize": 64}},
"layers": [{"id": "photos", "type": "raster", "source": "photos"}]}"""


def picture(seed):
    """A PNG of random pixels, which no compression makes smaller."""
    chance = random.Random(seed)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    rows = b"".join(b"\0" + chance.randbytes(3 * SIDE) for _ in range(SIDE))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def tiles(number):
    """The tiles of a version by (z, x, y): the second one has two other bodies."""
    found = {}
    for z in range(ZOOMS):
        for x in range(2**z):
            for y in range(2**z):
                changed = number > 1 and (z, x, y) in ((0, 0, 0), (3, 1, 2))
                found[z, x, y] = picture(f"{z} {x} {y} {number if changed else 1}")
    return found


def write(file, content):
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
    database.executemany("INSERT INTO metadata VALUES (?, ?)", [
        ("name", "Photos"), ("format", "png"), ("minzoom", "0"), ("maxzoom", str(ZOOMS - 1)), ("bounds", "-180,-85.0511,180,85.0511"),
        ("attribution", "Test")])
    database.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
    database.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", [(z, x, 2**z - 1 - y, body) for (z, x, y), body in sorted(content.items())])
    database.execute("CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row)")
    database.commit()
    database.close()


class Signed:
    """`one` and `two` are copies of the catalog after each version; the web server serves `served`."""

    def __init__(self, folder, program, library):
        self.folder, self.program, self.library = pathlib.Path(folder), str(program), pathlib.Path(library)
        expect(self.library.exists(), f"{library} is missing; `make library` builds it")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PACKHORSE_", "AWS_"))}
        # What a catalog without packages is.
        (self.folder / "catalog").mkdir()
        (self.folder / "catalog/packages.json").write_text('{"packages": []}')
        self.run("catalog", "keygen", "catalog.key")
        self.run("catalog", "keygen", "other.key")
        self.key, self.other_key = ((self.folder / f"{name}.pub").read_text().strip() for name in ("catalog", "other"))
        (self.folder / "style.json").write_text(STYLE)
        self.run("style-pack", "style.json", "--style-url", "https://maps.example.com/style.json", "-o", "style")
        self.tiles = {name: tiles(number) for name, number in (("one", 1), ("two", 2))}
        for name in ("one", "two"):
            write(self.folder / f"{name}.mbtiles", self.tiles[name])
            self.run("catalog", "import", "catalog", f"{name}.mbtiles", "--id", "photos", "--tileset", "photos", "--rewrite",
                     "--name", "en=World/Photos", "--signing-key", "catalog.key")
            if name == "one":
                self.run("catalog", "style", "catalog", "style", "--id", "plain", "--signing-key", "catalog.key")
            else:
                self.run("catalog", "patch", "catalog", "--signing-key", "catalog.key")
            shutil.copytree(self.folder / "catalog", self.folder / name)
        self.serve("one")
        self.web = Server(self.folder / "served")

    def serve(self, name):
        """From now on the web server has this state of the catalog."""
        new = self.folder / "serving"
        new.symlink_to(self.folder / name)
        os.replace(new, self.folder / "served")

    def published(self, name):
        return (self.folder / name / f"packages/{1 if name == 'one' else 2}/photos.mbtiles").read_bytes()

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        expect(done.returncode == 0, f"packhorse {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()}")

    def close(self):
        self.web.down()
