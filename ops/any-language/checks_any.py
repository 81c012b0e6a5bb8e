"""The checks of ops/any-language-test: each is one behaviour in one language.

Python's standard library only.
"""
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess

import languages
import ports
from acceptance import Skip, Wrong, expect, wait


class Folder:
    """A device's folder in a language, and its programs."""

    def __init__(self, world, language, name):
        self.world, self.language, self.path = world, language, world.folder / f"{language.name}-{name}"
        shutil.rmtree(self.path, ignore_errors=True)

    def words(self, kind, key=None):
        return [*self.language.install, self.world.web.url, str(key or self.world.key), "EE", kind, str(self.path)]

    def install(self, kind, key=None, fails=None):
        """Runs the program; `fails` are words that it says when it ends with 1."""
        done = subprocess.run(self.words(kind, key), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        expect(done.returncode == (1 if fails else 0), f"ended with {done.returncode}: {done.stdout}{done.stderr}")
        expect(not fails or fails in done.stderr, f"said {done.stderr!r}, not {fails!r}")
        return done.stdout

    def holds(self, name, kind):
        """The folder has the published file and nothing half done."""
        expect((self.path / f"EE.{kind}").read_bytes() == self.world.published(name, kind), f"EE.{kind} is not that of state {name}")
        expect(not self.parts(), f"left {self.parts()}")

    def parts(self):
        return sorted(self.path.glob("*.part")) + sorted(self.path.glob("*.new")) if self.path.exists() else []


def tiles(world, name):
    """All tiles of a published MBTiles file: (z, x, y) from the north, and the bytes."""
    database = sqlite3.connect(f"file:{world.folder}/{name}/packages/{1 if name == 'one' else 2}/EE.mbtiles?immutable=1", uri=True)
    rows = database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles").fetchall()
    database.close()
    return {(z, x, 2**z - 1 - y): bytes(body) for z, x, y, body in rows}


def installs_and_updates(world, language):
    for kind in language.kinds:
        world.serve("one")
        device = Folder(world, language, f"install-{kind}")
        expect("installed version 1" in device.install(kind), "installs")
        device.holds("one", kind)
        asked = len(world.web.requests)
        expect("version 1 is installed" in device.install(kind), "is up to date")
        expect(world.web.paths()[asked:] == ["catalog.json", "catalog.json.sig"], "fetched a file that is installed")
        world.serve("two")
        expect("installed version 2" in device.install(kind), "updates")
        device.holds("two", kind)
        (device.path / f"EE.{kind}").write_bytes(b"broken")
        expect("installed version 2" in device.install(kind), "mends a file that was changed")
        device.holds("two", kind)


def reads_tiles(world, language):
    world.serve("two")
    want = tiles(world, "two")
    expect(len(want) >= 12, f"only {len(want)} tiles")
    chosen = sorted(want)[:3] + sorted(want)[-9:]
    for kind in language.kinds:
        device = Folder(world, language, f"tiles-{kind}")
        device.install(kind)
        file = str(device.path / f"EE.{kind}")
        for place in chosen:
            done = subprocess.run([*language.tile, file, *map(str, place)], capture_output=True)
            expect(done.returncode == 0 and done.stdout == want[place], f"{kind} {place}: {done.returncode}, {len(done.stdout)} bytes: {done.stderr}")
        for absent in ((9, 0, 0), (14, 9320, 4800)):
            done = subprocess.run([*language.tile, file, *map(str, absent)], capture_output=True)
            expect(done.returncode == 1 and b"no such tile" in done.stderr and not done.stdout, f"{kind} {absent}: {done.returncode} {done.stderr}")


def reads_leaves(world, language):
    file, want = world.archive_with_leaves()
    for place in ((0, 0, 0), (1, 1, 0), (4, 9, 5), (7, 0, 0), (7, 127, 0), (7, 66, 41), (7, 127, 127)):
        done = subprocess.run([*language.tile, file, *map(str, place)], capture_output=True)
        expect(done.returncode == 0 and done.stdout == want[place], f"{place}: {done.returncode}, {len(done.stdout)} bytes: {done.stderr}")


def continues(world, language):
    world.serve("one")
    for kind in language.kinds:
        device = Folder(world, language, f"cut-{kind}")
        world.web.cut_after = 30_000
        device.install(kind, fails="interrupted after")
        expect(len(device.parts()) == 1, "the part is gone")
        have = device.parts()[0].stat().st_size
        expect(0 < have <= 30_000, f"the part has {have} bytes")
        device.install(kind)
        device.holds("one", kind)
        expect(world.web.requests[-1][1] == f"bytes={have}-", f"asked for {world.web.requests[-1]}")
        # A part of version 1 is not continued as version 2.
        device = Folder(world, language, f"stale-{kind}")
        world.web.cut_after = 30_000
        device.install(kind, fails="interrupted after")
        world.serve("two")
        device.install(kind)
        device.holds("two", kind)
        expect(world.web.requests[-1][1] is None, f"asked for {world.web.requests[-1]}")
        world.serve("one")


def survives_a_kill(world, language):
    world.serve("one")
    device = Folder(world, language, "kill")
    device.install("pmtiles")
    world.serve("two")
    world.web.rate = 60_000
    try:
        process = subprocess.Popen(device.words("pmtiles"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait("a part", lambda: any(part.stat().st_size > 0 for part in device.path.glob("*.part")))
        finally:
            process.kill()
            process.wait()
    finally:
        world.web.rate = None
    expect((device.path / "EE.pmtiles").read_bytes() == world.published("one", "pmtiles"), "the old version is gone")
    device.install("pmtiles")
    device.holds("two", "pmtiles")
    expect(world.web.requests[-1][1], "began again")


def refuses_signatures(world, language):
    world.serve("one")
    device = Folder(world, language, "signature")
    (device.path).mkdir()
    device.install("pmtiles", key=world.other_key, fails="the signature is wrong")
    world.web.flip = "catalog.json"
    device.install("pmtiles", fails="no signature is of this list")
    world.web.flip = None
    # A list that was changed, with a signature file whose digest fits it.
    forged = changed(world, "forged", lambda listed: listed.update(sequence=99), keep_signature=True)
    world.serve(forged)
    device.install("pmtiles", fails="the signature is wrong")
    expect(list(device.path.iterdir()) == [], f"wrote {list(device.path.iterdir())}")


def refuses_files(world, language):
    for kind in language.kinds:
        world.serve("one")
        device = Folder(world, language, f"damaged-{kind}")
        device.install(kind)
        world.serve("two")
        world.web.flip = f"packages/2/EE.{kind}"
        device.install(kind, fails="damaged")
        device.holds("one", kind)
        world.web.flip = None
        device.install(kind)
        device.holds("two", kind)


def refuses_lists(world, language):
    world.serve("two")
    device = Folder(world, language, "lists")
    device.install("pmtiles")
    world.serve("one")
    device.install("pmtiles", fails="older than one that was seen before")
    device.holds("two", "pmtiles")

    def format_2(listed):
        listed["format_version"] = 2

    def outside(listed):
        for file in listed["packages"][0]["versions"][0]["files"]:
            file.update(url="../../etc/passwd", sha256="0" * 64)

    def longer(listed):
        for file in listed["packages"][0]["versions"][0]["files"]:
            file["size"] -= 1

    for name, change, words in (("format", format_2, "another format"), ("outside", outside, "wrong digest or address"), ("longer", longer, "damaged")):
        world.serve(changed(world, name, change))
        device = Folder(world, language, f"lists-{name}")
        device.install("pmtiles", fails=words)
        expect(not (device.path / "EE.pmtiles").exists() and not device.parts(), "installed it")


def fails_in_one_line(*words, says):
    """The program ends with 1 and one line, which has these words."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = done.stderr.strip().splitlines()
    expect(done.returncode == 1 and len(lines) == 1 and says in lines[0] and not done.stdout, f"{words[-6:]}: {done.returncode}, {done.stdout}{done.stderr}")


def says_why(world, language):
    world.serve("one")
    folder = world.folder / f"{language.name}-why"
    folder.mkdir(exist_ok=True)
    install = Folder(world, language, "why-maps").words
    missing = folder / "missing"
    fails_in_one_line(*language.install, says="usage: ")
    fails_in_one_line(*install("pmtiles"), "more", says="usage: ")
    fails_in_one_line(*install("pmtiles", key=missing), says="missing")
    whole = world.key.read_text().strip()
    for name, text in (("none", "a file without a key\n"), ("empty", ""), ("short", whole[:-2] + "\n"), ("long", f"{whole}A\n"), ("other", whole.replace("=", "!"))):
        key = folder / f"{name}.pub"
        key.write_text(text)
        fails_in_one_line(*install("pmtiles", key=key), says="this is no public key")
    closed = [word.replace(world.web.url, f"http://127.0.0.1:{ports.take()}/") for word in install("pmtiles")]
    fails_in_one_line(*closed, says="refused" if language.name != "node" else "ECONNREFUSED")
    fails_in_one_line(*language.tile, says="usage: ")
    for kind in language.kinds:
        fails_in_one_line(*language.tile, f"{missing}.{kind}", 0, 0, 0, says="unable to open" if kind == "mbtiles" else "missing")
        broken = folder / f"broken.{kind}"
        for content in (b"", b"no tiles at all" * 100, world.published("one", kind)[:127] + bytes(200)):
            broken.write_bytes(content)
            fails_in_one_line(*language.tile, broken, 0, 0, 0, says="")
        fails_in_one_line(*language.tile, broken, "zero", 0, 0, says="")


def gives_up(world):
    """install ends in each language when the server is silent for 60 s, before the answer and in it; the part stays"""
    world.serve("one")
    running = []
    for make in languages.ALL:
        try:
            language = make(world.folder)
        except Skip:
            continue
        for place in ("silent", "pause_after"):
            device = Folder(world, language, f"silent-{place}")
            running.append((place, device))
    expect(running, "no language is installed")
    world.web.pause_after, world.web.silent = 30_000, None
    try:
        started = []
        for place, device in sorted(running, key=lambda one: one[0]):
            if place == "silent" and not world.web.silent:
                wait("the answers", lambda: all(other.parts() for kind, other in running if kind == "pause_after"))
                world.web.silent = "catalog.json"
            started.append((place, device, subprocess.Popen(device.words("pmtiles"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                            stderr=subprocess.PIPE, text=True)))
        for place, device, process in started:
            try:
                said = process.communicate(timeout=120)[1]
            except subprocess.TimeoutExpired:
                raise Wrong(f"{device.language.name} does not end ({place})") from None
            lines = said.strip().splitlines()
            expect(process.returncode == 1 and len(lines) == 1, f"{device.language.name} ({place}) ended with {process.returncode}: {said}")
            expect(len(device.parts()) == (place == "pause_after"), f"{device.language.name} ({place}) left {device.parts()}")
    finally:
        world.web.pause_after = world.web.silent = None
        for *_, process in started:
            process.kill()
            process.wait()
            process.stderr.close()


def changed(world, name, change, keep_signature=False):
    """A copy of state `one` whose list was changed; signed again unless only the digest in the signature file is to fit."""
    folder = world.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(world.folder / "one", folder)
    listed = json.loads((folder / "catalog.json").read_text())
    change(listed)
    body = json.dumps(listed).encode()
    (folder / "catalog.json").write_bytes(body)
    if keep_signature:
        signed = json.loads((folder / "catalog.json.sig").read_text())
        signed["signatures"][0]["sha256"] = hashlib.sha256(body).hexdigest()
        (folder / "catalog.json.sig").write_text(json.dumps(signed))
    else:
        world.sign(folder)
    return name


def short(_):
    """every program has at most 80 lines"""
    lines = {file.name: len(file.read_text().splitlines()) for file in sorted(languages.EXAMPLES.iterdir()) if file.is_file()}
    expect(len(lines) >= 8 and max(lines.values()) <= 80, f"lines: {lines}")


BEHAVIOURS = (
    ("installs, finds it up to date, updates, mends", installs_and_updates),
    ("reads tiles as they were published", reads_tiles),
    ("reads tiles of an archive whose directories have leaves", reads_leaves),
    ("continues an interrupted download by a range, and never that of another version", continues),
    ("keeps the old version when it is killed, and continues", survives_a_kill),
    ("refuses a wrong key, a changed list and a forged one", refuses_signatures),
    ("refuses a damaged file and keeps the old one", refuses_files),
    ("refuses an older list, another format, an address outside and a wrong size", refuses_lists),
    ("ends with 1 and one line for wrong words, keys, files and servers", says_why),
)


def check(language, title, behaviour):
    def run(world):
        behaviour(world, language(world.folder))
    run.__doc__ = f"{language.__name__} {title}"
    return run


def page(world, output, fails=None, key=None, seen="[]"):
    program = languages.node(world.folder).install[0]
    place = max(tiles(world, "two"))
    words = [program, str(languages.HERE / "browser_check.mjs"), world.web.url, str(key or world.key), "pmtiles", str(output), *map(str, place)]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=os.environ | {"SEEN": seen})
    expect(done.returncode == (1 if fails else 0), f"ended with {done.returncode}: {done.stdout}{done.stderr}")
    expect(not fails or fails in done.stderr, f"said {done.stderr!r}, not {fails!r}")
    return None if fails else json.loads(done.stdout)


def the_page(world):
    """the page's modules, run by Node: prove, read a tile by ranges, download with a cut, refuse"""
    world.serve("two")
    output = world.folder / "page"
    said = page(world, output)
    expect(said["version"] == 2 and output.read_bytes() == world.published("two", "pmtiles"), f"downloaded another file: {said}")
    want = tiles(world, "two")
    expect((world.folder / "page.tile").read_bytes() == want[max(want)], "read another tile")
    asked = [wanted for path, wanted in world.web.requests[-4:] if path.endswith(".pmtiles")]
    expect(asked[0] == "bytes=0-126" and asked[-1] is None, f"asked for {asked}")
    world.serve("one")
    page(world, output, seen=json.dumps(said["seen"]), fails="older than one that was seen before")
    page(world, output, key=world.other_key, fails="the signature is wrong")
    world.serve("two")
    world.web.flip = "packages/2/EE.pmtiles"
    page(world, output, fails="damaged")
    world.web.flip = None
    world.web.cut_after = 30_000
    page(world, output)
    expect(output.read_bytes() == world.published("two", "pmtiles"), "downloaded another file after a cut")
    expect(world.web.requests[-1][1] == "bytes=30000-", f"asked for {world.web.requests[-1]}")


ALL = {10 * (i + 1) + j: check(language, *row) for i, language in enumerate(languages.ALL) for j, row in enumerate(BEHAVIOURS)} | {40: the_page, 50: short, 60: gives_up}
