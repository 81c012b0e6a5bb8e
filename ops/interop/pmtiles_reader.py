#!/usr/bin/env python3
"""Reads every tile of a PMTiles file with the `pmtiles` package of PyPI and compares it with the MBTiles it was made from.

usage: pmtiles_reader.py FILE.pmtiles FILE.mbtiles

Prints one line; exit code 1 when anything differs.
"""

import json
import pathlib
import sqlite3
import sys

from pmtiles.reader import MmapSource, Reader, all_tiles
from pmtiles.tile import Compression, TileType

TYPES = {
    "pbf": TileType.MVT, "mlt": TileType.MLT, "png": TileType.PNG, "jpg": TileType.JPEG, "webp": TileType.WEBP, "avif": TileType.AVIF,
}


def rows(path):
    """Metadata, and bodies by (zoom, column, row from the north)."""
    database = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    metadata = dict(database.execute("SELECT name, value FROM metadata"))
    tiles = {
        (zoom, column, (1 << zoom) - 1 - row): body
        for zoom, column, row, body in database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles")
    }
    return metadata, tiles


def main(archive, package):
    metadata, expected = rows(package)
    problems = []
    with open(archive, "rb") as file:
        source = MmapSource(file)
        reader = Reader(source)
        header = reader.header()
        found = 0
        for tile, body in all_tiles(source):
            found += 1
            if expected.get(tile) != body:
                problems.append(f"tile {tile} differs")
        if found != len(expected):
            problems.append(f"{found} tiles, expected {len(expected)}")
        # Look-ups go another way through the directories than the walk above.
        step = max(1, len(expected) // 2000)
        for tile in sorted(expected)[::step]:
            if reader.get(*tile) != expected[tile]:
                problems.append(f"look-up of tile {tile} differs")
        deepest = max(zoom for zoom, _, _ in expected)
        missing = next(
            (deepest, x, y) for x in range(1 << deepest) for y in range(1 << deepest) if (deepest, x, y) not in expected
        ) if len(expected) < 4**deepest else None
        if missing and reader.get(*missing) is not None:
            problems.append(f"tile {missing} is there and should not be")
        if header["addressed_tiles_count"] != len(expected):
            problems.append(f"header counts {header['addressed_tiles_count']} tiles")
        if header["tile_type"] != TYPES[metadata["format"]]:
            problems.append(f"header says {header['tile_type']}")
        packed = Compression.GZIP if metadata["format"] in ("pbf", "mlt") else Compression.NONE
        if header["tile_compression"] != packed:
            problems.append(f"header says {header['tile_compression']}")
        said = reader.metadata()
        for name in ("name", "attribution", "description", "type", "version"):
            if said.get(name) != metadata.get(name):
                problems.append(f"metadata {name} is {said.get(name)!r}")
        if "json" in metadata and said.get("vector_layers") != json.loads(metadata["json"])["vector_layers"]:
            problems.append("vector_layers differ")
    for problem in problems[:20]:
        print(f"  {pathlib.Path(archive).name}: {problem}")
    if problems:
        return 1
    print(f"  {pathlib.Path(archive).name}: {found} tiles as in the MBTiles, {header['tile_contents_count']} bodies")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
