"""A PMTiles archive of 5.6 million vector tiles: the same bytes on every machine (standard library only).

planet.make(folder) writes planet.pmtiles (1.8 GB) and planet.idx, and returns an Index of it. It has zooms 0 to 14 of one tile of zoom 3
(0 to 45 degrees east, 41 to 66.5 north) and the three tiles above that. 31 % of its tiles are one of nine bodies, in blocks of 64 along
the Hilbert curve, as seas and plains are; each other tile has a body of its own, 0.2 to 4 kB packed. Bodies lie in the order of their tiles.
"""
import array
import bisect
import concurrent.futures
import json
import os
import random
import struct
import sys
import zlib

from tree import field

sys.path.insert(0, os.path.abspath(f"{os.path.dirname(os.path.abspath(__file__))}/../.."))
from pmtiles import head, hilbert, tile_id, varint  # noqa: E402

TOP = (3, 4, 2)
ZOOM = 14
BLOCK, SHARED, SHARED_SHARE = 64, 9, 0.31
LEAF = 8192
# Tiles that one process makes in one go.
PART = 1 << 16


def packed(raw):
    squeeze = zlib.compressobj(1, zlib.DEFLATED, -15)
    return (b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + squeeze.compress(raw) + squeeze.flush()
            + struct.pack("<II", zlib.crc32(raw), len(raw) & 0xFFFFFFFF))


def features():
    """Features of many sizes, which bodies are put together from."""
    rnd, pool = random.Random(5), []
    for _ in range(512):
        points = 2 + int(rnd.expovariate(1 / 60))
        path = bytes(min(127, int(abs(rnd.gauss(0, 14)))) for _ in range(2 * points))
        geometry = bytes([9]) + varint(rnd.randrange(8192)) + varint(rnd.randrange(8192)) + varint(points << 3 | 2) + path
        pool.append(field(2, field(2, bytes([0, rnd.randrange(2)])) + varint(3 << 3) + varint(2) + field(4, geometry)))
    return pool


END = field(3, b"class") + field(4, field(1, b"street")) + field(4, field(1, b"path")) + varint(5 << 3) + varint(4096) + varint(15 << 3) + varint(2)


def body(number, pool):
    """A body of its own: `number` is in it."""
    state = number * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    count = 1 + (state >> 60) % 12
    own = field(2, varint(1 << 3) + varint(number + 1) + field(2, bytes([0, 0])) + varint(3 << 3) + varint(1)
                + field(4, bytes([9]) + varint(state >> 20 & 8191) + varint(state >> 33 & 8191)))
    parts = b"".join(pool[state >> 5 * k & 511] for k in range(count))
    return packed(field(3, field(1, b"roads") + own + parts + END))


def part(bounds):
    """Bodies of tiles, one after the other, and for each tile its length, or -k for the shared body k."""
    first, last = bounds
    pool, data, sizes = features(), [], array.array("q")
    for number in range(first, last):
        luck = (number // BLOCK) * 0xD1342543DE82EF95 >> 11 & 0xFFFFF
        if luck < SHARED_SHARE * (1 << 20):
            sizes.append(-1 - luck % SHARED)
            continue
        one = body(number, pool)
        data.append(one)
        sizes.append(len(one))
    return b"".join(data), sizes.tobytes()


class Index:
    """The entries of the archive: tile, run, place and length of the body; places count from the beginning of the file."""

    def __init__(self, path):
        self.path = f"{os.path.dirname(path)}/planet.pmtiles"
        with open(path, "rb") as file:
            count, self.tiles = struct.unpack("<QQ", file.read(16))
            self.ids, self.runs, self.offsets, self.lengths = (array.array("Q") for _ in range(4))
            for column in (self.ids, self.runs, self.offsets, self.lengths):
                column.fromfile(file, count)

    def find(self, number):
        """(place, length) of a tile's body, or None."""
        at = bisect.bisect_right(self.ids, number) - 1
        if at < 0 or number >= self.ids[at] + self.runs[at]:
            return None
        return self.offsets[at], self.lengths[at]


def spans():
    """The tiles by zoom: first and last number along the curve, the last one excluded."""
    top, x, y = TOP
    for z in range(top):
        first = tile_id(z, x >> top - z, y >> top - z)
        yield first, first + 1
    for z in range(top, ZOOM + 1):
        first = (4 ** z - 1) // 3 + hilbert(*TOP) * 4 ** (z - top)
        yield first, first + 4 ** (z - top)


def make(folder):
    path = f"{folder}/planet.idx"
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        write(folder)
    return Index(path)


def write(folder):
    shared = [packed(field(3, field(1, b"water") + field(2, field(2, bytes([0, 0])) + varint(3 << 3) + varint(3) + field(
        4, bytes([9, 0, 0, 26]) + varint(8192 + k) + bytes([0, 0]) + varint(8192) + varint(8191) + bytes([0, 15]))) + END)) for k in range(SHARED)]
    entries, place, known = [], 0, {}
    parts = [(at, min(at + PART, last)) for first, last in spans() for at in range(first, last, PART)]
    with open(f"{folder}/bodies", "wb") as bodies, concurrent.futures.ProcessPoolExecutor() as pool:
        for (first, _), (data, sizes) in zip(parts, pool.map(part, parts)):
            at, sizes = 0, array.array("q", sizes)
            for number, size in enumerate(sizes, first):
                if size < 0:
                    if -size not in known:
                        known[-size] = place
                        bodies.write(shared[-size - 1])
                        place += len(shared[-size - 1])
                    offset, length = known[-size], len(shared[-size - 1])
                    if entries and entries[-1][2] == offset and entries[-1][0] + entries[-1][1] == number:
                        entries[-1][1] += 1
                        continue
                else:
                    bodies.write(data[at:at + size])
                    offset, length = place, size
                    place, at = place + size, at + size
                entries.append([number, 1, offset, length])
    layers = [{"id": name, "fields": {"class": "String"}, "minzoom": 0, "maxzoom": ZOOM} for name in ("roads", "water")]
    metadata = json.dumps({"name": "bench", "attribution": "test data", "vector_layers": layers}).encode()
    top = head(entries, place, LEAF, metadata, (0, ZOOM), (0, 40.9798981, 45, 66.5132603))
    with open(f"{folder}/planet.tmp", "wb") as file:
        file.write(top)
        with open(f"{folder}/bodies", "rb") as bodies:
            while block := bodies.read(1 << 22):
                file.write(block)
    os.remove(f"{folder}/bodies")
    os.rename(f"{folder}/planet.tmp", f"{folder}/planet.pmtiles")
    with open(f"{folder}/planet.idx.tmp", "wb") as file:
        file.write(struct.pack("<QQ", len(entries), sum(run for _, run, _, _ in entries)))
        for column in range(4):
            array.array("Q", (entry[column] + (len(top) if column == 2 else 0) for entry in entries)).tofile(file)
    os.rename(f"{folder}/planet.idx.tmp", f"{folder}/planet.idx")
