"""Numbers 6 and 7 of ops/gateway-break: a catalog that changes, and one that is damaged, while it is served."""
import collections
import json
import shutil
import threading
import time

from acceptance import Wrong, expect, wait
from break_site import Incomplete, Wire, ask, head
from gateway_site import sha256

READERS = 4


class Reader:
    """Reads a catalog again and again over one connection, and compares all that it names."""

    def __init__(self, port, number, state):
        self.port, self.source, self.state = port, f"127.9.0.{number + 1}", state
        self.seen = set()

    def run(self):
        while not self.state.stop.is_set():
            try:
                with Wire(self.port, self.source, 30) as wire:
                    self.wire = wire
                    while not self.state.stop.is_set():
                        self.once()
            except (OSError, Incomplete, Wrong, ValueError, KeyError) as problem:
                self.state.findings.append(repr(problem))

    def get(self, target, *fields):
        self.wire.send(head(target, *fields))
        return self.wire.answer()

    def once(self):
        """One catalog: its signature, its lists, and the files of it that were not read before."""
        first = self.get("/catalog.json")
        signature = self.get("/catalog.json.sig")
        digest = sha256(first.body)
        self.check(first.headers["etag"] == f'"{digest}"', f"the tag of catalog.json is {first.headers['etag']}")
        named = [one["sha256"] for one in json.loads(signature.body)["signatures"]]
        # Two publications between the requests leave no signature of the first; then the catalog is another one, too.
        self.check(digest in named or sha256(self.get("/catalog.json").body) != digest, "the signature names another catalog")
        index = json.loads(first.body)
        for edition in index["editions"]:
            reply = self.get("/" + edition["list"]["url"])
            is_right = sha256(reply.body) == edition["list"]["sha256"] or sha256(self.get("/catalog.json").body) != digest
            self.check(reply.status == 200 and is_right, f"{edition['list']['url']} is another list")
        files = [file for package in index["packages"] for version in package["versions"] for file in version["files"] + version.get("patches", [])]
        for file in files:
            if file["url"] in self.seen:
                continue
            reply = self.get("/" + file["url"])
            self.check(reply.status == 200 and sha256(reply.body) == file["sha256"], f"{file['url']}: {reply.status}, {len(reply.body)} bytes")
            self.seen.add(file["url"])

    def check(self, is_right, text):
        self.state.counts["checks"] += 1
        if not is_right:
            self.state.findings.append(text)


class State:
    def __init__(self):
        self.stop, self.counts, self.findings = threading.Event(), collections.Counter(), []


def publications(site):
    """50 publications while 4 readers compare lists, signature and files: 2,000 checks without a mismatch or a missing file."""
    folder, key = site.folder / "publications", site.folder / "break.key"
    site.run("catalog", "keygen", key)
    for number in range(3):
        site.publish(folder, "LI", last=5 + number, key=key)
    gateway, state = site.gateway_of(folder), State()
    readers = [threading.Thread(target=Reader(gateway.port, number, state).run) for number in range(READERS)]
    for reader in readers:
        reader.start()
    verified = 0
    try:
        count = site.times(50)
        for number in range(count):
            began = time.monotonic()
            site.publish(folder, "LI", last=5 + number % 3, key=key)
            if number % 10 == 5:
                site.run("catalog", "patch", folder, "--previous", "1", "--signing-key", key)
            if number % 10 == 9:
                # The signature itself, and every byte, by the program.
                done = site.call("catalog", "verify", gateway.url + "/", "--public-key", key.with_suffix(".pub"))
                expect(done.returncode == 0, f"catalog verify: {done.stdout[-300:]}{done.stderr[-300:]}")
                verified += 1
            # Publications also come faster than the gateway looks.
            time.sleep(max(0, (0.1, 0.6, 1.1)[number % 3] - (time.monotonic() - began)))
        wait("the last checks", lambda: state.counts["checks"] >= site.times(2_000) or state.findings, 60)
    finally:
        state.stop.set()
        for reader in readers:
            reader.join()
    last = ask(gateway, "/catalog.json").body
    expect(last == (folder / "catalog.json").read_bytes(), "the last publication is not served")
    newest = json.loads(last)["packages"][0]["versions"][0]["version"]
    expect(newest == count + 3, f"the newest version is {newest}, not {count + 3}")
    gateway.kill()
    expect(not state.findings, f"{len(state.findings)} findings in {state.counts['checks']} checks: " + " | ".join(state.findings[:5]))
    print(f"      {count} publications, {state.counts['checks']} checks, {verified} times catalog verify", flush=True)


def faults(site):
    """A pruned or withdrawn package gives 404, a damaged file 500 `damaged`, a missing catalog 503 of readyz until it is back."""
    folder = site.folder / "faults"
    for package in ("GONE", "SHORT", "NOISE", "OPEN", "KEPT"):
        site.publish(folder, package, last=6)
    for last in (7, 8):
        site.publish(folder, "KEPT", last=last)
    gateway = site.gateway_of(folder)

    def status(target, wanted, code=""):
        reply = ask(gateway, target)
        expect(reply.status == wanted and code in ("", reply.code()), f"{target} gave {reply.status} {reply.code()}, not {wanted} {code}")

    # Pruned: the first version goes, the others stay.
    status("/packages/1/KEPT.mbtiles", 200)
    site.run("catalog", "prune", folder, "--keep", "2")
    wait("404 for a pruned version", lambda: ask(gateway, "/packages/1/KEPT.mbtiles").status == 404, 5)
    status("/tiles/KEPT@1/0/0/0", 404)
    status("/packages/3/KEPT.mbtiles", 200)
    # Withdrawn, while a tile of it is held open.
    status("/tiles/GONE/0/0/0", 200)
    site.run("catalog", "remove", folder, "GONE")
    for target in ("/packages/1/GONE.mbtiles", "/tiles/GONE/0/0/0", "/tiles/GONE.json", "/v1/packages/GONE"):
        wait(f"404 for {target}", lambda: ask(gateway, target).status == 404, 5)
    damaged(folder, gateway, status)
    damaged_pmtiles(site)
    away(gateway, folder, status)
    expect(gateway.process.poll() is None, "the gateway ended")
    gateway.kill()


def damaged(folder, gateway, status):
    """Files that became shorter, also while they are open, and files with other bytes."""
    for name in ("SHORT", "NOISE", "OPEN"):
        path = folder / f"packages/1/{name}.mbtiles"
        size = path.stat().st_size
        if name == "OPEN":
            for zoom in range(3):
                status(f"/tiles/OPEN/{zoom}/{(0, 1, 2)[zoom]}/{(0, 0, 1)[zoom]}", 200)
        with path.open("r+b") as file:
            if name == "NOISE":
                file.write(b"\xa5" * size)
            else:
                file.truncate(size // 3)
        for _ in range(3):
            reply = ask(gateway, f"/tiles/{name}/6/33/22")
            expect(reply.status == 500 and reply.code() == "damaged", f"a tile of {name} gave {reply.status} {reply.code()}")
        if name != "NOISE":
            status(f"/packages/1/{name}.mbtiles", 500, "damaged")
    status("/tiles/KEPT/0/0/0", 200)


def damaged_pmtiles(site):
    """A PMTiles file that becomes shorter while it is open: its tiles are errors, those of the MBTiles file beside it are not."""
    folder = site.folder / "damaged"
    shutil.copytree(site.catalog, folder)
    gateway = site.gateway_of(folder)
    tiles = "/tiles/LI/9/269/179"
    expect(ask(gateway, tiles).status == 200, f"{tiles} is not there")
    path = folder / site.file("LI", "pmtiles")[0]
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 3)
    for _ in range(3):
        reply = ask(gateway, tiles)
        expect(reply.status == 500 and reply.code() == "damaged", f"a tile of a short PMTiles file gave {reply.status} {reply.code()}")
        expect(ask(gateway, tiles + "?format=mbtiles").status == 200, "the MBTiles file is not read any more")
    expect(gateway.process.poll() is None, "the gateway ended")
    gateway.kill()


def away(gateway, folder, status):
    """The folder is moved away and back three times; files are 404 meanwhile, lists stay."""
    status("/readyz", 200)
    for _ in range(3):
        moved = folder.with_name("moved")
        shutil.move(folder, moved)
        wait("503 of /readyz", lambda: ask(gateway, "/readyz").status == 503, 5)
        status("/readyz", 503, "catalog-away")
        status("/healthz", 200)
        status("/catalog.json", 200)
        shutil.move(moved, folder)
        wait("200 of /readyz", lambda: ask(gateway, "/readyz").status == 200, 5)
        status("/packages/3/KEPT.mbtiles", 200)
    # A list that is half written is not taken.
    index = (folder / "catalog.json").read_bytes()
    (folder / "catalog.json").write_bytes(index[:len(index) // 2])
    wait("503 of /readyz for a damaged list", lambda: ask(gateway, "/readyz").status == 503, 5)
    expect(ask(gateway, "/catalog.json").body == index, "half of a list is served")
    (folder / "catalog.json").write_bytes(index)
    wait("200 of /readyz", lambda: ask(gateway, "/readyz").status == 200, 5)


ALL = {6: publications, 7: faults}
