"""Counts, without any code of ours but the reader below, the tiles whose closed square touches a region: the numbers in
Tests/Values/RegionsTests/RegionMaskTests.swift Walks the tile tree with shapely's `intersects` on whole numbers, where it is exact; island boxes are left out.
usage: check_counts.py (needs the venv that ops/regions/build makes)"""
import json
import os
import sys

import shapely
from shapely.geometry import Polygon

HERE = os.path.dirname(os.path.abspath(__file__)) + "/../../Sources/CLibraries/CRegionData/"
data = open(HERE + "regions.bin", "rb").read()
at = 5


def varint():
    global at
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def signed(value):
    return value >> 1 ^ -(value & 1)


bits, arc_count, piece_count = varint(), varint(), varint()
for _ in range(arc_count):
    varint()
ids = []
for _ in range(piece_count):
    n = varint()
    ids.append(data[at : at + n].decode())
    at += n
    for _ in range(5):
        varint()
arcs = []
for _ in range(arc_count):
    n = varint()
    x, y = varint(), varint()
    points = [(x, y)]
    for _ in range(n - 1):
        x, y = x + signed(varint()), y + signed(varint())
        points.append((x, y))
    arcs.append(points)
pieces = {}
for id in ids:
    rings, last = [], 0
    for _ in range(varint()):
        ring = []
        for _ in range(varint()):
            v = varint()
            last += signed(v >> 1)
            ring += (arcs[last][::-1] if v & 1 else arcs[last])[:-1]
        rings.append(ring)
    pieces[id] = rings


def shape(id):
    """Even-odd: the symmetric difference of all rings."""
    shells = [Polygon(r) for r in pieces[id]]
    big = [s if s.is_valid else s.buffer(0) for s in shells]
    holes = [s for r, s in zip(shells, big) if not r.exterior.is_ccw]  # y down: ccw for shapely is clockwise on the screen
    solid = shapely.union_all([s for r, s in zip(shells, big) if r.exterior.is_ccw])
    return solid.difference(shapely.union_all(holes)) if holes else solid


def counts(geometry, deepest):
    """Tiles per zoom. A tile deeper than the grid's unit needs halves: coordinates are doubled as needed, and stay whole."""
    scale = max(0, deepest - bits)
    geometry = shapely.transform(geometry, lambda a: a * (1 << scale))
    out, tiles = {}, [(0, 0)]
    shapely.prepare(geometry)
    for zoom in range(deepest + 1):
        size = (1 << bits + scale) >> zoom
        boxes = shapely.box(*zip(*[(x * size, y * size, (x + 1) * size, (y + 1) * size) for x, y in tiles]))
        tiles = [t for t, hit in zip(tiles, shapely.intersects(geometry, boxes)) if hit]
        out[zoom] = len(tiles)
        tiles = [(2 * x + i, 2 * y + j) for x, y in tiles for i in (0, 1) for j in (0, 1)]
    return out


nodes = {n["id"]: n for n in json.load(open(HERE + "regions.json", encoding="utf-8"))["nodes"]}


def ground(id):
    own = [id] if id in pieces else [p for n in nodes.values() if n.get("parent") == id for p in ground(n["id"])]
    return list(dict.fromkeys(own + nodes[id].get("also", [])))


wanted = sys.argv[1:] or "EE LU DE NZ MC LI VA GI DE-BY UA EH IN AQ:8 RU:10 US:10 154:10".split()
for item in wanted:
    id, _, deepest = item.partition(":")
    got = counts(shapely.union_all([shape(p) for p in ground(id)]), int(deepest or 14))
    print(f'"{id}": {{{", ".join(f"{z}: {n}" for z, n in got.items() if z in (6, 8, 10, 12, 14))}}}')
