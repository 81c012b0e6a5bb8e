"""The acceptance checks of the client library, by their numbers in the design (issue 18); each is a function of a World.

A check that cannot run raises Skip with the reason. Python's standard library only; clients of others are in pictures.py.
"""
import hashlib
import json
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pictures
from world import Device, Skip, WebServer, Wrong, expect, is_root, wait


def get(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


BLANK = '{"version":8,"sources":{},"layers":[]}'


def offline(world, draw, number):
    """The digest of a picture of the installed style while the web server is down."""
    device = Device(world, number)
    device.install("EE", "LV", "--style", "demo")
    world.web.down()
    try:
        return draw(device.serve() + "/styles/demo.json", world.folder / f"{number}-offline.png")
    finally:
        world.web.up()


def check_1(world):
    """EE and the style are installed, the web server is down, and serve runs: pymgl draws the same picture as from the tile server."""
    here = offline(world, pictures.native, "1")
    expect(here == pictures.native(f"{world.tiles}/style.json", world.folder / "1-online.png"),
           f"the pictures differ: {world.folder}/1-online.png, 1-offline.png")


def check_2(world):
    """MapLibre GL JS in headless Chromium draws it too."""
    here = offline(world, pictures.browser, "2")
    expect(here == pictures.browser(f"{world.tiles}/style.json", world.folder / "2-online.png"),
           f"the pictures differ: {world.folder}/2-online.png, 2-offline.png")
    blank = world.catalog / "blank.json"
    blank.write_text(BLANK)
    expect(here != pictures.browser(world.web.url + "blank.json", world.folder / "2-blank.png"), "the picture is blank")
    blank.unlink()


def check_3(world):
    """PyQt5's Mapbox GL, with an empty cache, draws it too."""
    device = Device(world, "3")
    device.install("EE", "LV", "--style", "demo")
    world.web.down()
    try:
        pictures.qt(device.serve() + "/styles/demo.json", world.folder / "3.png")
    finally:
        world.web.up()


def check_4(world):
    """A style for files: pymgl draws through mbtiles://, without a server."""
    device = Device(world, "4")
    device.install("EE", "LV", "--style", "demo")
    style = world.folder / "files.json"
    style.write_text(device("style", "demo", "--of", "EE").stdout)
    expect("mbtiles:///" in style.read_text(), f"the style has no mbtiles:// address: {style.read_text()[:300]}")
    world.web.down()
    try:
        drawn = pictures.native(style.as_uri(), world.folder / "files.png")
    finally:
        world.web.up()
    blank = world.folder / "blank.json"
    blank.write_text(BLANK)
    expect(drawn != pictures.native(blank.as_uri(), world.folder / "blank.png"), "the picture is blank")


def big(world):
    """The largest package: its path and size."""
    package = next(p for p in world.index()["packages"] if p["id"] == "LV")
    file = package["versions"][0]["files"][0]
    return file["url"], file["size"]


def check_5(world):
    """At 40 % the server is gone for 5 s: the download continues within 3 s after it is back, and at most 1 MiB comes twice."""
    device, (path, size) = Device(world, "5"), big(world)
    world.web.rate, world.web.sent, world.web.requests = max(100_000, size // 5), 0, []
    device("install", "LV", "--queue", *device.source)
    run = device.start("run")
    try:
        wait("40 %", lambda: device.parts() >= size * 0.4)
        world.web.down()
        time.sleep(5)
        before = device.parts()
        world.web.rate = None
        world.web.up()
        wait("the download continues", lambda: run.poll() is not None or device.parts() > before, 30)
        expect(run.wait(60) == 0, f"device run ended with {run.returncode}")
    finally:
        world.web.rate = None
        run.kill()
    ranges = [wanted for asked, wanted in world.web.requests if asked == path]
    expect(ranges[0] is None and ranges[-1], f"requests of {path}: {ranges}")
    twice = size - before + before - int(ranges[-1].removeprefix("bytes=").rstrip("-")) - (size - before)
    expect(twice <= 1 << 20, f"{twice} bytes came twice")
    device("verify", "--deep")


def check_6(world):
    """kill -9 at 40 %: the same, after device run."""
    device, (path, size) = Device(world, "6"), big(world)
    world.web.rate, world.web.requests = max(100_000, size // 5), []
    device("install", "LV", "--queue", *device.source)
    run = device.start("run")
    try:
        wait("40 %", lambda: device.parts() >= size * 0.4)
        run.send_signal(signal.SIGKILL)
        run.wait()
        held = device.parts()
    finally:
        world.web.rate = None
        run.kill()
    device("run")
    last = [wanted for asked, wanted in world.web.requests if asked == path][-1]
    expect(last and int(last.removeprefix("bytes=").rstrip("-")) >= held - (1 << 20), f"{held} bytes were there; the last request was {last}")
    device("verify", "--deep")


def older(world, versions):
    """A catalog of LI that knows only its first versions; the packages are those of the catalog."""
    folder = world.folder / f"catalog-{versions}"
    folder.mkdir()
    (folder / "packages.json").write_text('{"packages":[]}')
    for last in range(7, 7 + versions):
        world.run("catalog", "import", folder, world.folder / f"LI-0-{last}.mbtiles", "--id", "LI", "--tileset", "demo", "--rewrite",
                  "--signing-key", world.key, "--replace-area")
    return folder


def check_7(world):
    """LI from version 3 to 4: only the patch is sent, and reading never fails. LI from version 1 to 4: the whole file is sent."""
    for first, is_patch in ((3, True), (1, False)):
        device = Device(world, f"7-{first}")
        web = WebServer(older(world, first))
        device("install", "LI", "--catalog", web.url)
        base = device.serve()
        address = base + "/tiles/demo/7/67/44"
        before, stop, seen, faults = get(address), threading.Event(), set(), []

        def look():
            while not stop.is_set():
                status, body = get(address)
                seen.add(hashlib.sha256(body).hexdigest())
                if status != before[0]:
                    faults.append(status)

        reader = threading.Thread(target=look)
        reader.start()
        # The publisher goes on: now the server has what the catalog has.
        web.folder, web.requests = world.catalog, []
        try:
            device("update")
        finally:
            stop.set()
            reader.join()
            web.down()
        files = [path for path in web.paths() if path.startswith(("patches/", "packages/"))]
        expect(len(files) == 1 and files[0].startswith("patches/") == is_patch, f"from version {first}: {files}")
        expect(not faults and len(seen) <= 2, f"readers got {faults or seen}")
        expect(device.installed()["LI"]["version"] == 4, f"{device.installed()}")


def check_8(world):
    """One byte is changed in the catalog, signature, package, patch, pack or style: it is refused, and the old map stays."""
    device = Device(world, "8")
    device.install("LV")
    old = device.installed()["LV"]
    index = world.index()
    package = next(p for p in index["packages"] if p["id"] == "EE")["versions"][0]["files"][0]["url"]
    listed = json.loads((world.catalog / "regions/LV.json").read_text())["packs"][-1]["url"]
    pack = str((world.catalog / "regions" / listed).resolve().relative_to(world.catalog.resolve()))
    style = index["styles"][0]["url"]
    for path, words in (("catalog.json", ["EE"]), ("catalog.json.sig", ["EE"]), (package, ["EE"]), (style, ["--style", "demo"]),
                        (pack, ["EE", "LV", "--tile-packs"])):
        world.web.flip = path
        try:
            device.install(*words, status=65)
        finally:
            world.web.flip = None
        # Packs become readable one by one: those of the list that are right are there.
        now = {row["item"]["id"]: row for row in device.json("list", "--installed") if row["item"]["kind"] != "packs"}
        expect(now.get("LV", {}).get("version") == old["version"] and "demo" not in now, f"after {path}: {now}")
        device("cancel", "--all")
    device("verify", "--deep")
    # A patch that was changed costs the whole file.
    patched = Device(world, "8-patch")
    patched("install", "LI", "--catalog", older(world, 2), "--unsigned")
    patch = next((p["url"] for v in next(q for q in index["packages"] if q["id"] == "LI")["versions"][:1] for p in v.get("patches", [])
                  if p["from"] == 2), None)
    if patch:
        world.web.flip, world.web.requests = patch, []
        try:
            patched("update", *patched.source, "--allow-older")
        finally:
            world.web.flip = None
        expect(any(p.startswith("packages/") for p in world.web.paths()), f"{world.web.paths()}")
    # An older catalog.
    texts = {name: (world.catalog / name).read_bytes() for name in ("catalog.json", "catalog.json.sig")}
    try:
        world.publish("EE", "0-8", "--replace-area", "--allow-shrink")
        device("list")
        for name, body in texts.items():
            (world.catalog / name).write_bytes(body)
        device("list", status=65)
        device("list", "--allow-older")
    finally:
        for name, body in texts.items():
            (world.catalog / name).write_bytes(body)


def check_9(world):
    """EE and LV as packs: shared packs are on disk once. EE is removed: LV is complete, and the space is free within 1 s."""
    device = Device(world, "9")
    device.install("EE", "LV", "--tile-packs")
    files = sorted(str(p.relative_to(device.store)) for p in (device.store / "packs").rglob("*") if p.is_file())
    lists = {name: world.run("packs", world.folder / f"{name}-0-9.mbtiles", "-o", world.folder / f"cut-{name}", "--tileset", "demo", "--json")
             for name in ("EE", "LV")}
    expect(len(files) == len(set(files)) and files, f"{files}")
    before = device.bytes()
    freed = device.json("remove", "EE", "--dry-run")[0]["own_bytes"]
    device("remove", "EE")
    wait("the space is free", lambda: device.bytes() <= before - freed, 1)
    device("verify", "--deep")
    base = device.serve()
    status, _ = get(base + "/tiles/demo/6/36/19")
    expect(status in (200, 204), f"a tile of LV is answered with {status}")
    del lists


def check_10(world):
    """Too many packs, too many single tiles: refused with the numbers, and no pack or tile is requested."""
    device = Device(world, "10")
    device.install("--style", "demo")
    device("quota", "--packs", "2", "--tiles", "100")
    world.web.requests = []
    device.install("EE", "--tile-packs", status=65)
    expect(not [p for p in world.web.paths() if p.startswith("packs/")], f"{world.web.paths()}")
    device("cancel", "--all")
    template = world.web.url + "none/{z}/{x}/{y}.png"
    world.web.requests = []
    device("region", "add", "big", "--box", "20,50,30,60", "--zoom", "0-10", "--tiles", template, status=65)
    expect(not [p for p in world.web.paths() if p.startswith("none/")], f"{world.web.paths()[:3]}")


def check_11(world):
    """A quota that is too small pauses a task; it continues when something is removed."""
    device, (_, size) = Device(world, "11"), big(world)
    device.install("EE")
    used = device.json("status")["usage"]["total"]
    device("quota", "--bytes", str(max(used, size) + 10_000))
    said = device.install("LV", status=73).stderr
    expect("quota" in said, said)
    device("remove", "EE")
    device("run")
    expect("LV" in device.installed(), "LV was not installed after EE was removed")


def check_12(world):
    """Priority -1: no request, also over a restart. Priority 0: the task continues."""
    device = Device(world, "12")
    number = device.json("install", "EE", "--queue", *device.source)[0]["task"]
    device("pause", number)
    world.web.requests = []
    run = device.start("run", "--forever")
    time.sleep(3)
    run.terminate()
    run.wait()
    device("run", status=75)
    expect(not world.web.requests, f"{world.web.requests}")
    device("resume", number)
    device("run")
    expect("EE" in device.installed(), "EE was not installed")


def check_13(world):
    """A box from packs has all tiles of the box that its packages have."""
    device = Device(world, "13")
    box = "25.0,57.8,26.0,58.4"
    device("region", "add", "trip", "--box", box, "--zoom", "0-9", "--tileset", "demo", *device.source)
    target = world.folder / "trip.mbtiles"
    device("export", "--box", box, "-o", target)
    whole = Device(world, "13-whole")
    whole.install("EE", "LV")
    full = world.folder / "whole.mbtiles"
    whole("export", "--box", box, "-o", full)

    def rows(file):
        return set(sqlite3.connect(file).execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"))

    expect(rows(full) == rows(target), f"{len(rows(target))} tiles from packs, {len(rows(full))} from packages")


def check_14(world):
    """What was seen online is there offline. Addresses that no style names are not asked for."""
    device = Device(world, "14")
    device.install("LI", "--style", "demo")
    host = world.tiles.removeprefix("http://")
    path = f"/http/{host}/tiles/5/16/10.pbf"
    online = device.serve("--online")
    status, body = get(online + path)
    expect(status in (200, 204), f"online: {status}")
    world.web.requests = []
    status, _ = get(online + f"/http/127.0.0.1:{world.web.port}/catalog.json")
    expect(status == 404 and not world.web.requests, f"another server was asked: {status}")
    again, same = get(device.serve() + path)
    if again == 404:
        raise Wrong("without --online, what was viewed is not served")
    expect((again, same) == (status if again != 200 else 200, body), f"offline: {again}")


def check_15(world):
    """MBTiles and PMTiles are adopted and served; an error names a wrong kind of file; the files are unchanged."""
    source = world.folder / "EE-0-9.mbtiles"
    archive = world.folder / "adopt.pmtiles"
    world.run("convert", source, "--format", "pmtiles", "-o", archive, "--progress", "none", "--force")
    for number, file in enumerate((source, archive)):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        device = Device(world, f"15-{number}")
        device("adopt", file)
        expect(hashlib.sha256(file.read_bytes()).hexdigest() == digest, f"{file} was changed")
        base = device.serve()
        name = next(line.split("/")[-1].removesuffix(".json") for line in get(base + "/")[1].decode().splitlines() if line.startswith("tileset"))
        status, _ = get(f"{base}/tiles/{name}/6/36/18")
        expect(status == 200, f"a tile of {file.name} is answered with {status}")
    wrong = world.folder / "wrong.mbtiles"
    wrong.write_text("this is no map")
    said = Device(world, "15-wrong")("adopt", wrong, status=65).stderr
    expect("wrong.mbtiles" in said, said)


def check_16(world):
    """Two processes: one works, the other asks; the worker is killed, and the other takes over."""
    device = Device(world, "16")
    device.install("--style", "demo")
    worker = device.start("run", "--forever")
    time.sleep(1)
    device("install", "EE", *device.source)
    expect("EE" in device.installed(), "EE was not installed by the other process")
    second = device.start("run", "--forever")
    time.sleep(1)
    worker.kill()
    worker.wait()
    device("install", "LV", *device.source)
    second.terminate()
    second.wait()
    expect({"EE", "LV", "demo"} <= set(device.installed()), f"{device.installed()}")
    device("verify", "--deep")


def check_17(world):
    """A small disk is full: the task is paused and says the bytes that it needs. Space is freed: the task is done."""
    if not is_root():
        raise Skip("a small disk needs root")
    device, (_, size) = Device(world, "17"), big(world)
    device.store.mkdir()
    # 64 MiB stay free besides what a task needs, and the store keeps 1 MiB in reserve.
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={(65 << 20) + size // 2}", "tmpfs", device.store], capture_output=True, text=True)
    if made.returncode != 0:
        raise Skip(f"no tmpfs can be mounted here: {made.stderr.strip()}")
    try:
        said = device.install("LV", status=73).stderr
        expect("needs" in said and "disk" in said, said)
        subprocess.run(["mount", "-o", "remount,size=200m", device.store], check=True)
        device("run")
        expect("LV" in device.installed(), "LV was not installed")
    finally:
        subprocess.run(["umount", "-l", device.store], check=False)


def check_18(world):
    """A sample app needs neither ZeroMQ nor NIO, LZ4 or Yams."""
    raise Skip("ops/dependency-test builds docs/examples/trip and looks at it")


def check_19(world):
    """The data group terrain is selected; then update downloads it."""
    world.run("catalog", "import", world.catalog, world.folder / "LI-0-7.mbtiles", "--id", "LI", "--tileset", "hills", "--group", "terrain",
              "--rewrite", "--signing-key", world.key)
    device = Device(world, "19")
    device.install("LI")
    expect(len(device.json("list", "--installed")) == 1, "the group was installed unasked")
    device("groups", "terrain")
    device("update")
    groups = {row["item"].get("group") for row in device.json("list", "--installed")}
    expect("terrain" in groups or device.bytes() > 0 and len(list((device.store / "units").rglob("*.mbtiles"))) == 2, f"installed: {groups}")


def check_20(world):
    """ParityTests has a test for each of the 236 promises."""
    raise Skip("make test runs ParityTests (OfflineMapsAdaptersTests)")


ALL = {int(name.removeprefix("check_")): function for name, function in sorted(globals().items()) if name.startswith("check_")}
