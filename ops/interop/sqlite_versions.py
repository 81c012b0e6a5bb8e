#!/usr/bin/env python3
"""Writes the rows of MBTiles files again with another version of SQLite (`apsw` of PyPI) and compares every byte.

usage: sqlite_versions.py FILE.mbtiles...

What Packhorse takes out of its files (Sources/Packages/Formats: PackageDatabase, SQLiteGaps, SQLiteSeal) is taken out of the copy too;
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


def main(*files):
    differ = 0
    print(f"  SQLite {apsw.sqlite_lib_version()}")
    for file in map(pathlib.Path, files):
        with tempfile.TemporaryDirectory() as folder:
            again = os.path.join(folder, "again")
            source = apsw.Connection(str(file.resolve()), flags=apsw.SQLITE_OPEN_READONLY)
            target = apsw.Connection(again)
            roots = copy(source, target)
            target.close()
            data = bytearray(pathlib.Path(again).read_bytes())
            finish(data, roots)
            same = data == file.read_bytes()
        print(f"  {file.name}: {'the same bytes' if same else 'OTHER BYTES'}")
        differ += not same
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
