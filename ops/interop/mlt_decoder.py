#!/usr/bin/env python3
"""Compares the checks of MapLibre tiles with the decoder of the format's own project (`maplibre-tiles` of PyPI).

usage: mlt_decoder.py PACKHORSE FOLDER FILE.mbtiles [TILE.mlt...]

Every tile of the file decodes, and has the layers that the metadata list. Then damaged copies of its tiles, and of those that are named, are
verified by Packhorse: it must accept each one that the decoder reads. Exit code 1 otherwise.
"""
import gzip
import json
import pathlib
import random
import sqlite3
import subprocess
import sys

import maplibre_tiles

DAMAGED = 4000


def decodes(body):
    try:
        return [layer.name for layer in maplibre_tiles.decode_mlt(body)]
    except Exception:
        return None


def damaged(body, dice):
    body = bytearray(body)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(body))
        kind = dice.randrange(5)
        if kind == 0:
            body[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            body[at] = dice.randrange(256)
        elif kind == 2:
            del body[at]
        elif kind == 3:
            body.insert(at, dice.randrange(256))
        else:
            del body[-dice.randint(1, 8):]
        if not body:
            return b"\0"
    return bytes(body)


def refused(packhorse, file, bodies):
    """The numbers of the bodies that Packhorse refuses: a tile each, at zoom 8."""
    pathlib.Path(file).unlink(missing_ok=True)
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
    database.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
    database.execute("INSERT INTO metadata VALUES ('name', 'x'), ('format', 'mlt')")
    database.executemany("INSERT INTO tiles VALUES (8, ?, ?, ?)",
                         ((number % 256, 255 - number // 256, gzip.compress(body, mtime=0)) for number, body in enumerate(bodies)))
    # One whole tile, so that the file is one of MapLibre tiles whatever the others are.
    database.commit()
    database.close()
    target = f"{file}.out"
    done = subprocess.run([packhorse, "convert", file, "--format", "mbtiles", "-o", target, "--force", "--progress", "none"],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"convert: {done.stderr}")
    kept = {(column, 255 - row) for column, row in sqlite3.connect(target).execute("SELECT tile_column, tile_row FROM tiles")}
    return {number for number in range(len(bodies)) if (number % 256, number // 256) not in kept}


def main(packhorse, folder, file, *named):
    database = sqlite3.connect(f"{pathlib.Path(file).resolve().as_uri()}?mode=ro", uri=True)
    said = dict(database.execute("SELECT name, value FROM metadata"))
    listed = {layer["id"] for layer in json.loads(said["json"])["vector_layers"]}
    seen, bodies = set(), []
    for (body,) in database.execute("SELECT tile_data FROM tiles"):
        body = gzip.decompress(body)
        names = decodes(body)
        if names is None:
            sys.exit("a tile of the package does not decode")
        seen.update(names)
        bodies.append(body)
    if seen != listed:
        sys.exit(f"the metadata list {sorted(listed)}, the tiles have {sorted(seen)}")
    print(f"  {len(bodies)} tiles decode, with the layers {', '.join(sorted(seen))}")
    bodies += [pathlib.Path(name).read_bytes() for name in named]
    whole = [body for body in bodies if decodes(body) is not None]
    dice = random.Random(1)
    tries = whole[:1] + [damaged(dice.choice(whole), dice) for _ in range(DAMAGED)]
    wrong = refused(packhorse, f"{folder}/damaged.mbtiles", tries)
    read = {number for number, body in enumerate(tries) if decodes(body)}
    both = len(read - wrong)
    print(f"  {len(tries)} damaged tiles: {len(wrong)} refused; the decoder reads {len(read)}, all but {len(read & wrong)} of them accepted; "
          f"{len(tries) - len(wrong) - both} accepted that it does not read")
    if named:
        lost = refused(packhorse, f"{folder}/named.mbtiles", [whole[0], *whole[-len(named):]])
        print(f"  {len(named)} named tiles: {len(lost)} refused")
        return 1 if lost else 0
    for number in sorted(read & wrong)[:5]:
        print(f"  refused but read: {tries[number].hex()}")
    return 1 if read & wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
