"""The planet of the year: every tile of zooms 0 to 6 for each month, and archives of them. Python's standard library only.

A tile changes in a month with a probability of 3 %. Its body names the tile and the month of its last change, so a body of another month is seen.
"""
import gzip
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pmtiles

ZOOM = 6
SHARE = 0.03
TILES = [(z, x, y) for z in range(ZOOM + 1) for x in range(1 << z) for y in range(1 << z)]
METADATA = b'{"name":"planet","attribution":"synthetic","vector_layers":[{"id":"places","fields":{"name":"String"}}]}'


def field(number, body):
    return pmtiles.varint(number << 3 | 2) + pmtiles.varint(len(body)) + body


def vector_tile(name):
    """A vector tile with one layer of one named point (specification of Mapbox vector tiles 2.1)."""
    point = field(2, b"\x00\x00") + b"\x18\x01" + field(4, bytes([9]) + pmtiles.varint(4096) + pmtiles.varint(4096))
    layer = field(1, b"places") + field(2, point) + field(3, b"name") + field(4, field(1, name.encode()))
    return field(3, layer + b"\x28\x80\x20\x78\x02")


def changed(tile, month):
    return random.Random(f"{tile} {month}").random() < SHARE


class Planet:
    """What the tiles of each month are; months with a fault have a rule of their own."""

    def __init__(self):
        self.bodies = {0: {tile: self.body(tile, 0) for tile in TILES}}

    @staticmethod
    def body(tile, month, word="tile"):
        return gzip.compress(vector_tile(f"{word} {tile} of month {month}"), 6, mtime=0)

    def month(self, number):
        """The true tiles of a month."""
        for now in range(max(self.bodies) + 1, number + 1):
            before = self.bodies[now - 1]
            self.bodies[now] = {tile: self.body(tile, now) if changed(tile, now) else before[tile] for tile in TILES}
        return self.bodies[number]

    def with_holes(self, number, share=0.2):
        """A bad build: a share of the tiles of the last zoom is missing."""
        chance = random.Random(f"holes {number}")
        return {tile: body for tile, body in self.month(number).items() if tile[0] < ZOOM or chance.random() > share}

    def mistaken(self, number):
        """A bad build that no count shows: the last zoom says something else."""
        return {tile: self.body(tile, number, "mistake") if tile[0] == ZOOM else body for tile, body in self.month(number).items()}


def archive(tiles):
    return pmtiles.archive(tiles, metadata=METADATA, zooms=(0, ZOOM), bounds=(-180, -85.0511287, 180, 85.0511287))
