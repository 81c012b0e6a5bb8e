#!/usr/bin/env python3
"""Reads MBTiles files with another version of SQLite (`apsw` of PyPI), writes their rows again with it and compares every byte.

usage: sqlite_versions.py FILE.mbtiles...

Of each file: SQLite's own check of its structure, and the seal and agg_tiles_hash as computed here. A package in our own dialect is written page by
page without SQLite, so no library can make it another; the other dialects are SQLite's work: what Packhorse takes out of its files (Sources/Builder/Packages/Formats: PackageDatabase, SQLiteGaps, SQLiteSeal) is taken out of the copy too;
then both must be the same, seal included. So workers with different libraries write one package. Exit code 1 when they do not.
"""

import hashlib
import os
import pathlib
import sys
import tempfile

import apsw

SETTINGS = [
    "page_size = 4096", "auto_vacuum = NONE", "encoding = 'UTF-8'", "locking_mode = EXCLUSIVE", "synchronous = OFF",
    "cache_size = -16384", "secure_delete = ON", "journal_mode = OFF",
]
ORDER = "ORDER BY zoom_level, tile_column, tile_row"


def copy(source, target):
    """The same statements in the same order."""
    schema = list(source.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"))
    names = {name for name, _ in schema}
    for setting in SETTINGS:
        list(target.execute(f"PRAGMA {setting}"))
    target.execute("BEGIN IMMEDIATE")
    list(target.execute(f"PRAGMA application_id = {0x4D504258}"))
    for name, sql in schema:
        if name != "images_id":
            target.execute(sql)
    target.execute("INSERT INTO metadata VALUES ('packhorse_seal', ?)", ("0" * 64,))
    if "tiles_shallow" in names or "map" in names:
        tiles, bodies, key = ("tiles_shallow", "tiles_data", "tile_data_id") if "tiles_shallow" in names else (
            "map", "images", "tile_id")
        seen = set()
        for row in source.execute(f"SELECT zoom_level, tile_column, tile_row, {key} FROM {tiles} {ORDER}"):
            if row[3] not in seen:
                seen.add(row[3])
                body = next(source.execute(f"SELECT * FROM {bodies} WHERE {key} = ?", (row[3],)))
                target.execute(f"INSERT INTO {bodies} VALUES (?, ?)", body)
            target.execute(f"INSERT INTO {tiles} VALUES (?, ?, ?, ?)", row)
    else:
        for row in source.execute(f"SELECT * FROM tiles {ORDER}"):
            target.execute("INSERT INTO tiles VALUES (?, ?, ?, ?)", row)
    for name, sql in schema:
        if name == "images_id":
            target.execute(sql)
    for row in source.execute("SELECT name, value FROM metadata WHERE name <> 'packhorse_seal' ORDER BY rowid"):
        target.execute("INSERT INTO metadata VALUES (?, ?)", row)
    roots = [page for page, in target.execute("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")]
    target.execute("COMMIT")
    return roots


def finish(data, roots):
    """Zeroes the gaps within pages, sets the library's number, seals."""
    pages = [1, *roots]
    while pages:
        number = pages.pop()
        base = (number - 1) * 4096
        offset = 100 if number == 1 else 0

        def big(place, count, base=base):
            return int.from_bytes(data[base + place : base + place + count], "big")

        interior = data[base + offset] in (2, 5)
        cells = big(offset + 3, 2)
        pointers = offset + (12 if interior else 8)
        if interior:
            pages += [big(big(pointers + 2 * cell, 2), 4) for cell in range(cells)] + [big(offset + 8, 4)]
        start, end = pointers + 2 * cells, big(offset + 5, 2)
        data[base + start : base + end] = bytes(max(0, end - start))
    data[96:100] = (3007000).to_bytes(4, "big")
    mark = b"packhorse_seal" + b"0" * 64
    place = data.find(mark) + len("packhorse_seal")
    data[place : place + 64] = hashlib.sha256(data).hexdigest().encode()


def problems(file, source):
    """What the other SQLite, and hashes taken here, find wrong with a file."""
    found = [text for text, in source.execute("PRAGMA integrity_check") if text != "ok"]
    metadata = dict(source.execute("SELECT name, value FROM metadata"))
    data = file.read_bytes()
    seal = metadata["packhorse_seal"].encode()
    if data.count(seal) != 1 or hashlib.sha256(data.replace(seal, b"0" * 64)).hexdigest().encode() != seal:
        found.append("its seal does not hold")
    tiles = hashlib.md5()
    for zoom, column, row, body in source.execute(f"SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles {ORDER}"):
        for part in (zoom, column, row):
            tiles.update(str(part).encode())
        tiles.update(body)
    if tiles.hexdigest().upper() != metadata["agg_tiles_hash"].upper():
        found.append(f"its tiles hash to {tiles.hexdigest()}, it says {metadata['agg_tiles_hash']}")
    return found


def again(file, source):
    """Whether the other SQLite makes the same bytes of the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "again")
        target = apsw.Connection(path)
        roots = copy(source, target)
        target.close()
        data = bytearray(pathlib.Path(path).read_bytes())
    finish(data, roots)
    return data == file.read_bytes()


def main(*files):
    failed = 0
    print(f"  SQLite {apsw.sqlite_lib_version()}")
    for file in map(pathlib.Path, files):
        source = apsw.Connection(str(file.resolve()), flags=apsw.SQLITE_OPEN_READONLY)
        found = problems(file, source)
        is_own = next(source.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'tiles_shallow'"))[0] == 1
        if not is_own and not again(file, source):
            found.append("OTHER BYTES")
        print(f"  {file.name}: {'; '.join(found) or ('whole' if is_own else 'whole, and the same bytes')}")
        failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
