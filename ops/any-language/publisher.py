"""A signed catalog with two versions of Estonia in MBTiles and PMTiles, published by a coordinator and a worker, and a web server that can fail.

Python's standard library only.
"""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import zlib

import ports
from acceptance import expect, wait
from server import Server


def picture(number):
    """A PNG of one pixel whose colour is a number below 2^24."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    pixel = zlib.compress(bytes([0]) + number.to_bytes(3, "big"))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


class Publisher:
    """`one` and `two` are copies of the catalog after the first and after the second version; the web server serves `served`."""

    def __init__(self, folder, program):
        self.folder, self.program, self.running = pathlib.Path(folder), str(program), []
        control, work, blobs = (ports.take() for _ in range(3))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PACKHORSE_", "AWS_"))}
        self.environment |= {"PACKHORSE_COORDINATOR": f"tcp://127.0.0.1:{control}", "PACKHORSE_WORK": f"tcp://127.0.0.1:{work}"}
        self.web, self.served = None, self.folder / "served"
        try:
            self.publish(control, work, blobs)
        except BaseException:
            self.close()
            raise

    def publish(self, control, work, blobs):
        tiles = self.start("demo-origin", "--port", "0", "--padding", "20000", prints=True)
        for name in ("catalog", "other"):
            self.run("catalog", "keygen", self.folder / f"{name}.key")
        self.key, self.other_key = self.folder / "catalog.pub", self.folder / "other.pub"
        self.start("coordinator", "--data", "data", "--signing-key", "catalog.key", "--control", f"tcp://127.0.0.1:{control}",
                   "--work", f"tcp://127.0.0.1:{work}", "--blob-bind", f"tcp://127.0.0.1:{blobs}")
        self.start("worker", "--blobs", "data/blobs")
        wait("a worker", lambda: self.run("health", "--workers", "1", check=False).returncode == 0, 120)
        for name, last in (("one", 8), ("two", 9)):
            (self.folder / "tiles.yaml").write_text(f"id: demo\nurl: {tiles}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-{last}\nattribution: Demo\n")
            self.run("submit", "EE", "--tileset", "tiles.yaml", "--format", "mbtiles,pmtiles", "--replace-area", "--wait", "--progress", "none")
            shutil.copytree(self.folder / "data/catalog", self.folder / name)
        self.serve("one")
        self.web = Server(self.served)

    def serve(self, name):
        """From now on the web server has this state of the catalog."""
        if self.served.is_symlink():
            self.served.unlink()
        self.served.symlink_to(self.folder / name)

    def published(self, name, kind):
        """The bytes of the newest file of a state of the catalog."""
        return (self.folder / name / f"packages/{1 if name == 'one' else 2}/EE.{kind}").read_bytes()

    def sign(self, folder):
        """Signs the list of a catalog as it is now, by openssl."""
        seed = base64.b64decode((self.folder / "catalog.key").read_text().split("ed25519-secret:")[1])
        body, key, signed = (self.folder / name for name in ("body", "signing.der", "signed"))
        body.write_bytes((folder / "catalog.json").read_bytes())
        key.write_bytes(bytes.fromhex("302e020100300506032b657004220420") + seed)  # what PKCS 8 says before the 32 bytes
        subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key, "-in", body, "-out", signed], check=True)
        own = {"sha256": hashlib.sha256(body.read_bytes()).hexdigest(), "signature": base64.b64encode(signed.read_bytes()).decode()}
        (folder / "catalog.json.sig").write_text(json.dumps({"algorithm": "ed25519", "signatures": [own]}))

    def archive_with_leaves(self):
        """A PMTiles file of 21,845 small pictures, whose directories have leaves, and its tiles by (z, x, y)."""
        file, want = self.folder / "leaves.pmtiles", {}
        for z in range(8):
            for x in range(2**z):
                for y in range(2**z):
                    want[z, x, y] = picture(z * 2**16 + x * 2**8 + y)
        if not file.exists():
            database = sqlite3.connect(self.folder / "leaves.mbtiles")
            database.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
            database.executemany("INSERT INTO metadata VALUES (?, ?)", [("name", "Leaves"), ("format", "png")])
            database.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
            database.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", [(z, x, 2**z - 1 - y, body) for (z, x, y), body in want.items()])
            database.execute("CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row)")
            database.commit()
            database.close()
            self.run("convert", "leaves.mbtiles", "-o", file)
        leaves = int.from_bytes(file.read_bytes()[48:56], "little")
        expect(leaves > 0, "the archive has no leaf")
        return file, want

    def run(self, *words, check=True):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        expect(not check or done.returncode == 0, f"packhorse {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()}")
        return done

    def start(self, *words, prints=False):
        output = subprocess.PIPE if prints else subprocess.DEVNULL
        process = subprocess.Popen([self.program, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                                   stdout=output, stderr=subprocess.DEVNULL)
        self.running.append(process)
        return process.stdout.readline().strip() if prints else None

    def close(self):
        for process in self.running:
            process.kill()
            process.wait()
        if self.web:
            self.web.down()
