#!/usr/bin/env python3
"""Tiles that guides and ops/interop need and the demo world does not have, as plain MBTiles.

usage: tiles.py mlt FILE                     MapLibre tiles of zooms 0 to 9 around Estonia
       tiles.py avif FILE                    AVIF pictures of zooms 0 to 5 around Estonia, with no pixels in them
       tiles.py dem FILE FIRST LAST          heights (terrarium, 512 pixels) around Tallinn
       tiles.py index FOLDER                 download_urls.json of the .pmtiles files of a folder, as Mapterhorn has it
"""
import gzip
import json
import math
import pathlib
import sqlite3
import struct
import sys
import zlib

SIDE = 512


def column(longitude, zoom):
    return min(2**zoom - 1, int((longitude + 180) / 360 * 2**zoom))


def row(latitude, zoom):
    angle = math.radians(latitude)
    return min(2**zoom - 1, int((1 - math.asinh(math.tan(angle)) / math.pi) / 2 * 2**zoom))


def places(box, zoom):
    west, south, east, north = box
    for x in range(column(west, zoom), column(east, zoom) + 1):
        for y in range(row(north, zoom), row(south, zoom) + 1):
            yield x, y


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def mlt(name):
    """A layer with one point, extent 4096, and a text `name`."""
    def stream(kind, technique, count, data):
        return bytes([kind, technique]) + varint(count) + varint(len(data)) + data

    # Geometry types (0 = point), then the vertex (2048, 2048) as zigzag with deltas by component; a text as its lengths and its bytes.
    geometry = bytes([2]) + stream(0x30, 2, 1, b"\0") + stream(0x13, 0x42, 2, varint(4096) + varint(4096))
    text = bytes([2]) + stream(0x30, 2, 1, varint(len(name))) + stream(0x10, 0, len(name), name)
    body = b"\x01\x06places" + varint(4096) + bytes([2, 4, 28, 4]) + b"name" + geometry + text
    return varint(len(body)) + body


def avif():
    """The boxes of an AVIF of one picture: its type, its description and its data."""
    def box(kind, content):
        return struct.pack(">I", len(content) + 8) + kind + content

    return box(b"ftyp", b"avif\0\0\0\0mif1") + box(b"meta", b"\0\0\0\0" + box(b"iloc", b"\0")) + box(b"mdat", b"\1")


def height(x, y):
    return 300 + 200 * math.sin(x / 40) + 150 * math.cos(y / 25)


def dem():
    """A landscape that repeats at the border of a tile: red, green and blue of a height are (height + 32768) * 256."""
    lines = []
    for y in range(SIDE):
        line = bytearray([0])
        for x in range(SIDE):
            value = int((height(x * 2 * math.pi * 40 / SIDE, y * 2 * math.pi * 25 / SIDE) + 32768) * 256)
            line += bytes([value >> 16, value >> 8 & 255, value & 255])
        lines.append(bytes(line))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(lines), 9)) + chunk(b"IEND", b"")


def write(file, metadata, tiles):
    """MBTiles that stores each body once; rows are counted from the south."""
    pathlib.Path(file).unlink(missing_ok=True)
    database = sqlite3.connect(file)
    database.executescript(
        "CREATE TABLE metadata (name TEXT, value TEXT);"
        "CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);"
        "CREATE TABLE images (tile_id TEXT PRIMARY KEY, tile_data BLOB);"
        "CREATE UNIQUE INDEX places ON map (zoom_level, tile_column, tile_row);"
        "CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);")
    database.executemany("INSERT INTO metadata VALUES (?, ?)", metadata.items())
    for (zoom, x, y), (name, body) in tiles:
        database.execute("INSERT OR IGNORE INTO images VALUES (?, ?)", (name, body))
        database.execute("INSERT INTO map VALUES (?, ?, ?, ?)", (zoom, x, 2**zoom - 1 - y, name))
    database.commit()
    database.close()


def main():
    kind, target = sys.argv[1:3]
    if kind == "mlt":
        tiles = (((zoom, x, y), (f"{zoom}/{x}/{y}", gzip.compress(mlt(f"{zoom}/{x}/{y}".encode()), mtime=0)))
                 for zoom in range(10) for x, y in places((21, 57, 29, 60), zoom))
        write(target, {"name": "streets", "format": "mlt", "minzoom": "0", "maxzoom": "9"}, tiles)
    elif kind == "avif":
        tiles = (((zoom, x, y), ("picture", avif())) for zoom in range(6) for x, y in places((21, 57, 29, 60), zoom))
        write(target, {"name": "photos", "format": "avif", "minzoom": "0", "maxzoom": "5"}, tiles)
    elif kind == "dem":
        body = dem()
        first, last = map(int, sys.argv[3:5])
        tiles = (((zoom, x, y), ("hills", body))
                 for zoom in range(first, last + 1) for x, y in places((24.6, 59.3, 24.9, 59.5), zoom))
        write(target, {"name": "hills", "format": "png", "minzoom": str(first), "maxzoom": str(last)}, tiles)
    elif kind == "index":
        items = []
        for file in sorted(pathlib.Path(target).glob("*.pmtiles")):
            zooms = {"min_zoom": 0, "max_zoom": 12} if file.stem == "planet" else {"min_zoom": 13, "max_zoom": 16}
            items.append({"name": file.name, "url": file.name, "size": file.stat().st_size, **zooms})
        (pathlib.Path(target) / "download_urls.json").write_text(json.dumps({"version": "1", "items": items}))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
