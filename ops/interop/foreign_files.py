#!/usr/bin/env python3
"""Makes files as other programs write them, and compares what `packhorse convert` made of them with what went in.

usage: foreign_files.py make FOLDER          the files NAME.mbtiles, each tile of them in NAME.truth
       foreign_files.py compare FOLDER OUT   OUT/NAME.mbtiles: every tile, unpacked, and bounds that readers can use

Only Python's own modules are used. The pictures are those of Sources/Testing/TestSupport/SamplePictures.swift. Exit code 1 when anything
differs.
"""

import base64
import gzip
import json
import pathlib
import re
import sqlite3
import sys
import zlib

PICTURES = pathlib.Path(__file__).parents[2] / "Sources/Testing/TestSupport/SamplePictures.swift"
# Over the tile boundary of Fiji at zoom 3: the first and the last column.
FIJI = [(3, 0, 4), (3, 7, 4)]
TOWN = [(2, 2, 1), (3, 4, 2), (3, 5, 2), (4, 9, 5)]


def picture(name):
    found = re.search(rf'let {name} = decoded\(\s*"""(.*?)"""', PICTURES.read_text(), re.S)
    return base64.b64decode(found.group(1))


def field(number, content):
    return bytes([number << 3 | 2, len(content)]) + content


def vector_tile(name):
    """One layer with a polygon over the whole tile (MVT 2.1)."""

    def packed(*values):
        content = b""
        for value in values:
            while value > 127:
                content += bytes([value & 127 | 128])
                value >>= 7
            content += bytes([value])
        return content

    zigzag = [value << 1 ^ value >> 31 for value in (0, 0, 4096, 0, 0, 4096, -4096, 0)]
    geometry = packed(9, zigzag[0], zigzag[1], 26, *(value & 0xFFFFFFFF for value in zigzag[2:]), 15)
    feature = field(2, packed(0, 0)) + bytes([0x18, 3]) + field(4, geometry)
    layer = field(1, b"land") + field(2, feature) + field(3, b"name") + field(4, field(1, name.encode()))
    return field(3, layer + bytes([0x28, 0x80, 0x20, 0x78, 2]))


def samples():
    """Name, metadata rows (None: no table), tiles from the north with what is stored and what it is."""
    places = {place: vector_tile("/".join(map(str, place))) for place in TOWN}
    fiji = {place: vector_tile("/".join(map(str, place))) for place in FIJI}
    png, jpeg = picture("pngPalette"), picture("jpegProgressive")
    zlib_tiles = {place: (zlib.compress(tile), tile) for place, tile in places.items()}
    gzip_tiles = {place: (gzip.compress(tile), tile) for place, tile in places.items()}
    pictures = {place: (body, body) for place, body in zip(TOWN, [png, jpeg, png, jpeg])}
    over = {place: (gzip.compress(tile), tile) for place, tile in fiji.items()}
    return [
        ("zlib", {"name": "zlib", "format": "pbf", "bounds": "0,20,60,60"}, zlib_tiles),
        ("no-metadata", None, gzip_tiles),
        ("mixed", {"name": "mixed", "format": "png", "center": "x"}, pictures),
        ("over-180", {"name": "over", "format": "PBF", "bounds": "170,-40,-170,0", "center": "180,-20,25"}, over),
        ("far-bounds", {"name": "far", "format": "mvt", "bounds": "-170,-60,-160,-50"}, gzip_tiles),
        ("swapped-bounds", {"name": "swapped", "format": "application/x-protobuf", "bounds": "60,60,0,20"}, zlib_tiles),
    ]


def make(folder):
    for name, metadata, tiles in samples():
        file = folder / f"{name}.mbtiles"
        file.unlink(missing_ok=True)
        database = sqlite3.connect(file)
        database.execute("CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data BLOB)")
        if metadata is not None:
            database.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
            database.executemany("INSERT INTO metadata VALUES (?, ?)", metadata.items())
        for (zoom, column, row), (stored, _) in tiles.items():
            database.execute("INSERT INTO tiles VALUES (?, ?, ?, ?)", (zoom, column, (1 << zoom) - 1 - row, stored))
        database.commit()
        database.close()
        truth = {"/".join(map(str, place)): content.hex() for place, (_, content) in tiles.items()}
        (folder / f"{name}.truth").write_text(json.dumps(truth))
        print(file.name)


def compare(folder, out):
    problems = 0
    for file in sorted(folder.glob("*.truth")):
        truth = json.loads(file.read_text())
        database = sqlite3.connect(f"{(out / file.stem).resolve().as_uri()}.mbtiles?mode=ro", uri=True)
        said = dict(database.execute("SELECT name, value FROM metadata"))
        found = {}
        for zoom, column, row, body in database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"):
            content = gzip.decompress(body) if said["format"] == "pbf" else body
            found[f"{zoom}/{column}/{(1 << zoom) - 1 - row}"] = content.hex()
        wrong = [place for place in {**truth, **found} if truth.get(place) != found.get(place)]
        west, south, east, north = map(float, said["bounds"].split(","))
        if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
            wrong.append(f"bounds {said['bounds']}")
        longitude, latitude, zoom = map(float, said["center"].split(","))
        zooms = [int(place.split("/")[0]) for place in truth]
        if not (west <= longitude <= east and south <= latitude <= north and min(zooms) <= zoom <= max(zooms)):
            wrong.append(f"center {said['center']}")
        if (int(said["minzoom"]), int(said["maxzoom"])) != (min(zooms), max(zooms)):
            wrong.append(f"zooms {said['minzoom']} to {said['maxzoom']}")
        print(f"  {file.stem}: " + (f"differs: {', '.join(wrong)}" if wrong else f"{len(truth)} tiles as they went in"))
        problems += len(wrong)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != {"make": 3, "compare": 4}.get(sys.argv[1] if len(sys.argv) > 1 else ""):
        sys.exit(__doc__)
    folders = [pathlib.Path(path) for path in sys.argv[2:]]
    sys.exit(make(*folders) if sys.argv[1] == "make" else compare(*folders))
