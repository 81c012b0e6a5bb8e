"""The checks of ops/bindings-test: each is one behaviour in one language.

Python's standard library only.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

import bound
from acceptance import Skip, Wrong, expect, wait

WHOLE = "packages/1/photos.mbtiles"
SLOW = 100_000  # bytes a second; the package has 4 MB, so a busy machine has 40 s to end a download


class Device:
    """A folder of maps, and the driver of a language on it."""

    def __init__(self, world, language, name):
        self.world, self.language, self.folder = world, language, world.folder / f"{language.name}-{name}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.environment = world.environment | language.variables

    def words(self, *command, key=None):
        return [*self.language.words, str(self.folder), self.world.web.url, key or self.world.key, *map(str, command)]

    def run(self, *command, key=None, code=0):
        done = subprocess.run(self.words(*command, key=key), env=self.environment, capture_output=True, stdin=subprocess.DEVNULL)
        said = done.stderr.decode(errors="replace")
        expect(done.returncode == code, f"{command} ended with {done.returncode}, not {code}: {done.stdout[-300:]} {said[-1500:]}")
        return said if code else done.stdout

    def ends(self, *command, code=0):
        """What a process said that ends by itself; one that waits for ever is killed."""
        try:
            done = subprocess.run(self.words(*command), env=self.environment, capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=120)
        except subprocess.TimeoutExpired as problem:
            raise Wrong(f"{command} does not end; it said {problem.stdout!r}") from None
        expect(done.returncode == code, f"{command} ended with {done.returncode}, not {code}: {done.stdout}{done.stderr[-1500:]}")
        return done.stdout, done.stderr

    def start(self, *command):
        return subprocess.Popen(self.words(*command), env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def get(self):
        said = self.run("get", "photos", "plain").decode().splitlines()
        expect(said[-1] == "done" and said[-2].startswith("progress 1.000 ") and said[-2].split()[3] == "5", f"said {said[-2:]}")
        return said

    def part(self):
        """The bytes of the unfinished file; 0 when there is none."""
        sizes = [0]
        for file in self.folder.glob("parts/*.part"):
            try:
                sizes.append(file.stat().st_size)
            except FileNotFoundError:
                pass  # it has just become complete
        return max(sizes)

    def shows(self, name, places):
        for z, x, y in places:
            expect(self.run("tile", z, x, y) == self.world.tiles[name][z, x, y], f"tile {z}/{x}/{y} is not that of state {name}")

    def installed(self):
        return {item["item"]["id"]: item for item in json.loads(self.run("installed"))}


def installs_and_reads(world, language):
    world.serve("one")
    device = Device(world, language, "install")
    said = device.get()
    fractions = [float(line.split()[1]) for line in said if line.startswith("progress")]
    expect(fractions == sorted(fractions) and len(fractions) > 1, f"fractions {fractions}")
    device.shows("one", [(0, 0, 0), (3, 1, 2), (4, 15, 0)])
    expect("absent" in device.run("tile", 9, 0, 0, code=2), "a tile below the last zoom")
    if language.name == "python":  # its whole numbers have no limit
        for place in ((2**40, 0, 0), (0, 2**40, 0), (0, 0, -1)):
            expect("error invalid-arguments " in device.run("tile", *place, code=1), f"takes {place} for a tile")
    items = device.installed()
    expect(items["photos"]["version"] == 1 and "plain" in items, f"installed {items}")
    expect(pathlib.Path(items["photos"]["file"]).read_bytes() == world.published("one"), "the file is not the published one")
    style = json.loads(device.run("style", "plain", "photos"))
    file = urllib.parse.unquote(style["sources"]["photos"]["url"].removeprefix("mbtiles://"))
    expect(file == items["photos"]["file"], f"the style names {file}")
    found = json.loads(device.run("search", "phot"))
    expect([one["id"] for one in found] == ["photos"] and found[0]["name"] == "Photos", f"found {found}")
    asked = len(world.web.requests)
    device.get()
    expect(len(world.web.requests) == asked, f"asked again for {world.web.paths()[asked:]}")
    device.run("remove", "photos")
    expect("photos" not in device.installed(), "is not removed")
    expect("error not-found " in device.run("remove", "photos", code=1), "removes what is not there")


def updates_with_a_patch(world, language):
    world.serve("one")
    device = Device(world, language, "update")
    device.get()
    world.serve("two")
    offer = json.loads(device.run("updates"))
    expect([(change["item"]["id"], change["isPatch"]) for change in offer["changes"]] == [("photos", True)], f"offers {offer}")
    asked = len(world.web.requests)
    expect(device.run("update").endswith(b"done\n"), "updates")
    paths = [path for path in world.web.paths()[asked:] if not path.startswith("catalog.json")]
    expect(len(paths) == 1 and paths[0].startswith("patches/"), f"asked for {paths}")
    device.shows("two", [(0, 0, 0), (3, 1, 2), (4, 15, 0)])
    expect(pathlib.Path(device.installed()["photos"]["file"]).read_bytes() == world.published("two"), "the file is not the published one")


def mends_damage(world, language):
    world.serve("one")
    device = Device(world, language, "damage")
    device.get()
    expect(json.loads(device.run("verify")) == [], "finds damage in a whole map")
    file = pathlib.Path(device.installed()["photos"]["file"])
    whole = file.read_bytes()
    body = whole.find(world.tiles["one"][4, 15, 0][:64])
    expect(body > 0, "the tile is not in the file as it is")
    # The header of the database: no tile can be read.
    for place, count in ((0, 100), (body, 8)):
        file.write_bytes(whole[:place] + bytes(count) + whole[place + count:])
        if place == 0:
            said = device.run("tile", 4, 15, 0, code=1)
            expect("error damaged " in said and "Download the map again" in said, f"said {said}")
        found = json.loads(device.run("verify"))
        expect([one["item"]["id"] for one in found] == ["photos"], f"verify found {found}")
        expect(file.stat().st_size == len(whole), "the damaged file does not stay")
        expect(device.installed()["photos"].get("isDamaged") is True, f"installed: {device.installed()}")
        if place:
            device.shows("one", [(0, 0, 0), (3, 1, 2)])
        device.get()
        expect(file.read_bytes() == whole and "isDamaged" not in device.installed()["photos"], "is not mended")
        device.shows("one", [(0, 0, 0), (4, 15, 0)])


def goes_on(world, device, cut):
    """A download that `cut` ends continues where it was, and each byte is sent once more at most."""
    world.serve("one")
    world.web.rate = SLOW
    try:
        cut(device)
    finally:
        world.web.rate = None
    kept, asked = device.part(), len(world.web.requests)
    expect(kept > 0, "no byte was kept")
    device.get()
    ranges = [wanted for path, wanted in world.web.requests[asked:] if path == WHOLE]
    expect(len(ranges) == 1 and ranges[0] == f"bytes={kept}-", f"kept {kept} bytes and asked for {ranges}")
    device.shows("one", [(0, 0, 0), (4, 15, 0)])


def is_killed(world, language):
    def kill(device):
        process = device.start("get", "photos", "plain")
        try:
            wait("a part of the package", lambda: device.part() > 100_000 or process.poll() is not None, 120)
        finally:
            process.kill()
            process.wait()
        expect(process.returncode == -9, f"it ended with {process.returncode} before it was killed")
    goes_on(world, Device(world, language, "kill"), kill)


def is_cancelled(world, language):
    def cancel(device):
        expect("error cancelled " in device.run("cancel", "photos", "plain", code=1), "is cancelled")
    goes_on(world, Device(world, language, "cancel"), cancel)


def says_why(world, language):
    world.serve("one")
    device = Device(world, language, "errors")
    said = device.run("get", "photos", "plain", key=world.other_key, code=1)
    expect("error catalog " in said, f"with another key said {said}")
    said = device.run("get", "other", "plain", code=1)
    expect("error not-in-catalog " in said and "It has photos." in said, f"said {said}")
    expect("error invalid-arguments " in device.run("installed", key="no key", code=1), "a wrong key")
    expect("error not-found " in device.run("style", "plain", "photos", code=1), "a style that is not here")


def sends_a_token(world, language):
    world.serve("one")
    device, world.web.token = Device(world, language, "token"), "ph_right"
    try:
        said = device.run("get", "photos", "plain", code=1)
        expect("refuses it" in said, f"without the token said {said}")
        device.environment["CATALOG_TOKEN"] = "ph_wrong"
        device.run("get", "photos", "plain", code=1)
        device.environment["CATALOG_TOKEN"] = "two words"
        expect("error invalid-arguments " in device.run("installed", code=1), "takes two words for a token")
        device.environment["CATALOG_TOKEN"] = "ph_right"
        device.get()
    finally:
        world.web.token = None


def is_a_package(world, _):
    """pip installs the Python package from its folder, with the library in it."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, stdin=subprocess.DEVNULL).returncode:
        raise Skip(f"{sys.executable} has no pip (python3-pip)")
    source, target = world.folder / "source", world.folder / "target"
    shutil.copytree(bound.BINDINGS / "python", source, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(world.library, source / "offlinemaps/libofflinemaps.so")
    bound.make(sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--no-index", "--no-deps", "--target", target, source)
    language = bound.python(world)
    language.name, language.variables = "pip", {"PYTHONPATH": str(target)}
    world.serve("one")
    Device(world, language, "install").get()


def slowly(world, device, *command, code=0):
    """What the process says while the server is so slow that its download cannot end."""
    world.web.rate = SLOW
    try:
        return device.ends(*command, code=code)
    finally:
        world.web.rate = None


def processes(world, name):
    world.serve("one")
    language = bound.python(world)
    return Device(world, bound.Bound("python", [*language.words[:-1], bound.HERE / "processes.py"], **language.variables), name)


def python_ends(world, _):
    """a Python process ends while a download that it holds is under way, and the next one goes on"""
    device = processes(world, "end")
    for command, code in (("ends", 0), ("raises", 1), ("exits", 3), ("thread", 0), ("with", 0)):
        said, errors = slowly(world, device, command, code=code)
        expect(said.startswith("under way"), f"{command} said {said!r}")
        expect((errors == "") == (command != "raises") and "Fatal" not in errors, f"{command} said {errors!r}")
        expect(command != "with" or "wrong-state: The download is closed." in said, f"said {said!r}")
        expect(device.part() > 0, f"{command} kept no byte")
    asked = len(world.web.requests)
    expect(device.ends("left")[0] == "installed\n", "a download that nobody holds does not end")
    ranges = [wanted for path, wanted in world.web.requests[asked:] if path == WHOLE]
    expect(len(ranges) == 1 and ranges[0], f"asked for {ranges}")


def python_forks(world, _):
    """a Python child of fork gets an error, a spawned one works, and the parent goes on"""
    said = processes(world, "fork").ends("forks")[0].splitlines()
    refused = "0 wrong-state: The library was opened before fork"
    wanted = [f"used {refused}", f"opened {refused}", "closed 0 no error", "spawned 0 opened 0", "exit 7", "parent 0"]
    expect(len(said) == len(wanted) and all(line.startswith(want) for line, want in zip(said, wanted)), f"said {said}")


def python_is_interrupted(world, _):
    """SIGINT ends Python's wait, loop and catalog"""
    device = processes(world, "interrupt")
    for command in ("wait", "loop"):
        said = slowly(world, device, command)[0]
        expect(said.endswith("interrupted\n"), f"{command} said {said!r}")
    world.web.silent = "catalog.json"
    try:
        expect(device.ends("catalog")[0] == "interrupted\n", "catalog is not interrupted")
    finally:
        world.web.silent = None


def python_refuses_arguments(world, _):
    """a wrong argument in Python is a TypeError with a sentence"""
    said = dict(line.split(" ", 1) for line in processes(world, "arguments").ends("arguments")[0].splitlines())
    want = {
        "folder": "The folder must be a str or a path of one, not NoneType.", "path": "The folder must be a str or a path of one, not bytes.",
        "key": "The key must be a str, not NoneType.", "max_age": "The max_age must be an int, not float.",
        "package": "The package must be a str, not NoneType.", "style": "The style must be a str, not int.",
        "removed": "The package must be a str, not bytes.", "zoom": "The z must be an int, not float.", "text": "The text must be a str, not int."}
    expect({name: said.get(name) for name in want} == want, f"said {said}")
    expect(said["zero"].startswith("invalid-arguments: ") and said["surrogate"].startswith("invalid-arguments: "), f"said {said}")
    expect(said["a"] == "path opened 0", f"said {said}")


def java_is_interrupted(world, _):
    """an interrupt ends Java's await, and a listener that waits gets an error of Java's own"""
    world.serve("one")
    device = Device(world, bound.java(world), "interrupt")
    said = slowly(world, device, "interrupt", "photos", "plain")[0].splitlines()
    expect("Call await() on another thread" in said[0] and said[1:] == ["interrupted", "interrupted", "false"], f"said {said}")


def in_each_language(check, title):
    def run(world):
        skipped = []
        for make in bound.ALL:
            try:
                language = make(world)
            except Skip as reason:
                skipped.append(f"{make.__name__}: {reason}")
                continue
            check(world, language)
        if skipped:
            raise Skip("; ".join(skipped) + " (the other languages are ok)")
    run.__doc__ = title
    return run


def alone(check):
    def run(world):
        check(world, None)
    run.__doc__ = check.__doc__
    return run


ALL = {
    1: in_each_language(installs_and_reads, "installs a map and a style, reads tiles, finds, removes; nothing is asked for twice"),
    2: in_each_language(updates_with_a_patch, "updates by the patch alone, to the published bytes"),
    3: in_each_language(is_killed, "goes on after SIGKILL where it was"),
    4: in_each_language(is_cancelled, "goes on after a cancel where it was"),
    5: in_each_language(says_why, "errors have a code and name the remedy"),
    6: alone(is_a_package),
    7: in_each_language(mends_damage, "a damaged map stays, is listed as damaged, and is replaced by a download"),
    8: alone(python_ends),
    9: alone(python_forks),
    10: alone(python_is_interrupted),
    11: alone(python_refuses_arguments),
    12: alone(java_is_interrupted),
    13: in_each_language(sends_a_token, "a server that wants a token gets it"),
}
