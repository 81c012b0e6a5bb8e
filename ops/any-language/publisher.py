"""A signed catalog with two versions of Liechtenstein in MBTiles and PMTiles, published by a coordinator and a worker, and a web server that can fail.

Python's standard library only.
"""
import os
import pathlib
import shutil
import subprocess

import ports
from acceptance import expect, wait
from world import WebServer


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
            self.run("submit", "LI", "--tileset", "tiles.yaml", "--format", "pmtiles", "--replace-area", "--wait", "--progress", "none")
            shutil.copytree(self.folder / "data/catalog", self.folder / name)
        self.serve("one")
        self.web = WebServer(self.served)

    def serve(self, name):
        """From now on the web server has this state of the catalog."""
        if self.served.is_symlink():
            self.served.unlink()
        self.served.symlink_to(self.folder / name)

    def published(self, name, kind):
        """The bytes of the newest file of a state of the catalog."""
        return (self.folder / name / f"packages/{1 if name == 'one' else 2}/LI.{kind}").read_bytes()

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
