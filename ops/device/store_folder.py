"""A store as docs/formats/store.md describes it, read without the library: rows, files, digests. The judge of the fault table."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import tempfile

# Folders whose bytes a store accounts for.
COUNTED = ("units", "packs", "filling", "parts")
# Files of every store, whose size is no property of the maps.
OWN_FILES = {"store.sqlite", "store.sqlite-journal", "lock", "reserve", "device.json"}
NO_TABLE = "no such table"


@dataclasses.dataclass
class Unit:
    """A row of the table `installed_file`."""

    name: str
    version: int
    sha256: str
    path: str
    bytes: int
    is_current: bool
    is_filled: bool


@dataclasses.dataclass
class State:
    """What the database says at one moment."""

    units: list = dataclasses.field(default_factory=list)
    holds: set = dataclasses.field(default_factory=set)
    # Without those that only read the list: they are made again by whoever needs it.
    tasks: int = 0
    lists: int = 0
    requests: int = 0
    sequences: dict = dataclasses.field(default_factory=dict)

    @property
    def current(self):
        return {unit.name: unit for unit in self.units if unit.is_current}

    @property
    def is_idle(self):
        return self.tasks == 0 and self.lists == 0 and self.requests == 0


class StoreFolder:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    @property
    def database(self):
        return self.path / "store.sqlite"

    def state(self, live=False):
        """The rows. `live`: read while processes work, as another process does; otherwise from a copy, which changes nothing."""
        if not self.database.exists():
            return State()
        if live:
            return rows(self.database)
        with tempfile.TemporaryDirectory(dir=self.path.parent, prefix="rows-") as folder:
            for suffix in ("", "-journal"):
                file = pathlib.Path(f"{self.database}{suffix}")
                if file.exists():
                    shutil.copyfile(file, f"{folder}/store.sqlite{suffix}")
            return rows(pathlib.Path(folder) / "store.sqlite")

    # Files

    def files(self, folders=COUNTED):
        """Every file below these folders by its path; one that goes while it is listed is left out."""
        found = {}
        for name in folders:
            for home, _, names in os.walk(self.path / name):
                for path in (pathlib.Path(home, name) for name in names):
                    try:
                        found[str(path.relative_to(self.path))] = path.stat().st_size
                    except FileNotFoundError:
                        continue
        return found

    def bytes(self):
        """What maps, downloads and what was viewed take; unit files and databases are not counted."""
        ambient = sum(file.stat().st_size for file in self.path.glob("ambient.sqlite*"))
        return ambient + sum(size for path, size in self.files().items() if not path.endswith("/unit.json"))

    def parts(self):
        return sum(self.files(("parts",)).values())

    def unreadable(self, unit):
        """Why a reader would not get the bytes of this row's version; None when it would."""
        file = self.path / unit.path
        if not file.is_file():
            return f"{unit.name}: {unit.path} is missing"
        if unit.is_filled:
            return None if filled(file)[1] is not None else f"{unit.name}: {unit.path} cannot be read"
        found = sha256(file)
        return None if found == unit.sha256 else f"{unit.name} version {unit.version}: {unit.path} has the SHA-256 {found[:8]}"

    def digest(self, base):
        """Everything that lasts, by name: two stores are the same when these are. Addresses of `base` count as the same."""
        said = {}
        for path in self.files():
            file = self.path / path
            # Packs that are filled are below the address of their server, written as a name; what they are named there depends on how
            # often they were filled.
            if "%3A" in path and path.endswith(".mbtiles"):
                said[str(pathlib.Path(path).parent)] = filled(file)[0]
            elif path.endswith("/unit.json"):
                said[path] = digest_of(file.read_bytes().replace(base.encode(), b"ORIGIN/"))
            else:
                said[path] = sha256(file)
        names = [file.name for file in self.path.iterdir() if file.is_file()]
        said[""] = sorted(name for name in names if name not in OWN_FILES and not name.startswith("ambient.sqlite"))
        for table, columns in LASTING.items():
            for row in query(self.database, f"SELECT {columns} FROM {table} ORDER BY 1, 2"):
                said[f"{table} {repr(row).replace(base, 'ORIGIN/')}"] = ""
        return said


# The rows that two runs must have in common; times of the clock, numbers of the queue and sizes of filled packs are left out.
LASTING = {
    "installed_file": "key, is_pack, item, format, tileset, template, data_date, state, "
    "iif(template IS NULL, version || ' ' || sha256 || ' ' || path || ' ' || bytes, '')",
    "hold": "key, item, is_pack",
    "region": "id, hex(definition)",
    "tiles": "item, count",
    "task": "id, kind",
    "catalog": "kind, name, sequence",
}


def query(file, words):
    database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=10)
    try:
        return database.execute(words).fetchall()
    finally:
        database.close()


def rows(file):
    """The state of one moment: all of it in one transaction."""
    state = State()
    try:
        database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=10, isolation_level=None)
        try:
            database.execute("BEGIN")
            columns = "key, version, sha256, path, bytes, state, template"
            for name, version, digest, path, size, kept, template in database.execute(f"SELECT {columns} FROM installed_file"):
                is_filled = template is not None or "://" in name and path.endswith(".zip")
                state.units.append(Unit(name, version, digest, path, size, kept == 0, is_filled))
            state.tasks = database.execute("SELECT count(*) FROM task WHERE kind <> 'list'").fetchone()[0]
            state.lists = database.execute("SELECT count(*) FROM task WHERE kind = 'list'").fetchone()[0]
            state.holds = set(database.execute("SELECT key, item FROM hold"))
            state.requests = database.execute("SELECT count(*) FROM request WHERE answer IS NULL").fetchone()[0]
            state.sequences = {
                (kind, re.sub(r"//[^/]+/", "//ORIGIN/", name)): sequence or 0
                for kind, name, sequence in database.execute("SELECT kind, name, sequence FROM catalog")
            }  # fmt: skip
        finally:
            database.close()
    except sqlite3.OperationalError as error:
        # Made this moment: its tables follow in one transaction.
        if NO_TABLE not in str(error):
            raise
    return state


def filled(file):
    """The content of a pack that was filled, whatever the order in which it was: its digest and number of tiles; None where it cannot be read."""
    try:
        database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            said = database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles ORDER BY 1, 2, 3").fetchall()
            said += database.execute("SELECT name, value FROM metadata ORDER BY 1").fetchall()
            said += database.execute("SELECT place, status, etag FROM tile_http ORDER BY 1").fetchall()
            return digest_of(repr(said).encode()), len(said)
        finally:
            database.close()
    except sqlite3.Error as error:
        return f"unreadable: {error}", None


def first_tile(file):
    """One tile of an MBTiles file, opened as a reader opens it."""
    database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return database.execute("SELECT tile_data FROM tiles LIMIT 1").fetchone()
    finally:
        database.close()


def sha256(file):
    return digest_of(file.read_bytes())


def digest_of(body):
    return hashlib.sha256(body).hexdigest()


def progress_of(lines):
    """(task, state, fraction, transferred) of each event of `packhorse device run --forever --json`."""
    for line in lines:
        try:
            task = json.loads(line).get("task")
        except (ValueError, AttributeError):
            continue
        if task:
            yield task["task"], task["state"], task["fraction"], task["transferred"]
