"""Builds the embedded list of towns: towns.py REGIONS.BIN REGIONS.JSON CITIES.JSON OUT. Called by ops/regions/build; layout: FORMAT.md."""
import collections
import json
import struct
import sys

import shapely

import encode
from folding import fold, is_old

PLACES_PER_BLOCK = 32
NAMES_PER_BLOCK = 32
SIDE = 1 << 24


class Reader:
    """The reverse of encode.py."""

    def __init__(self, data, position=0):
        self.data, self.position = data, position

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def pieces(data):
    """The pieces of regions.bin by id, as shapely's geometries on its grid, and the number of its bits."""
    assert data[:5] == b"PHRG\x01"
    reader = Reader(data, 5)
    bits, arc_count, piece_count = (reader.varint() for _ in range(3))
    lengths = [reader.varint() for _ in range(arc_count)]
    heads = []
    for _ in range(piece_count):
        size = reader.varint()
        id = data[reader.position:reader.position + size].decode("ascii")
        reader.position += size
        heads.append((id, [reader.varint() for _ in range(5)][0]))
    arcs, start = [], reader.position
    for length in lengths:
        body = Reader(data, start)
        points = []
        for index in range(body.varint()):
            step = (body.varint(), body.varint()) if index == 0 else (body.zigzag(), body.zigzag())
            points.append(step if index == 0 else (points[-1][0] + step[0], points[-1][1] + step[1]))
        arcs.append(points)
        start += length
    found = {}
    for id, length in heads:
        body, arc, rings = Reader(data, start), 0, []
        for _ in range(body.varint()):
            ring = []
            for _ in range(body.varint()):
                value = body.varint()
                arc += (value >> 2) ^ -(value >> 1 & 1)
                ring += arcs[arc][::-1] if value & 1 else arcs[arc]
            rings.append(ring)
        found[id] = shapely.make_valid(shapely.build_area(shapely.MultiLineString(rings)))
        start += length
    return found, bits


def grid(longitude, latitude, bits):
    import math
    y = 0.5 - math.asinh(math.tan(math.radians(latitude))) / (2 * math.pi)
    return (longitude + 180) / 360 * (1 << bits), y * (1 << bits)


def region_of(city, outlines, bits):
    """The id of the region of the tree that a town belongs to: its country, or the nearest of its country's regions."""
    country = city["countrycode"]
    if country not in outlines:
        return country
    ids, shapes = outlines[country]
    point = shapely.Point(grid(city["longitude"], city["latitude"], bits))
    return min(zip(shapely.distance(shapes, point), ids))[1]


def names(city):
    """The folded names: the own one, and the other spellings.

    Not taken: codes of airports, and names that begin with a small Latin letter, which are transliterations that GeoNames made by itself.
    """
    own = fold(city["name"])
    others = set()
    for name in city["alternatenames"]:
        if not name or "a" <= name[0] <= "z" or len(name) <= 3 and name.isascii() and name.isupper() or not is_old(name):
            continue
        folded = fold(name)
        if 0 < len(folded.encode()) <= 120 and folded != own:
            others.add(folded)
    return own, others


def blocks(records, size):
    """The bytes of records in blocks, and where each block begins."""
    data, starts = bytearray(), []
    for index, record in enumerate(records):
        if index % size == 0:
            starts.append(len(data))
        data += record
    return data, starts


def place_record(city, number, region_number):
    out = bytearray()
    name = city["name"].encode()
    encode.varint(out, len(name))
    out += name
    encode.varint(out, region_number)
    x = min(SIDE - 1, round((city["longitude"] + 180) / 360 * SIDE))
    y = min(SIDE - 1, round((city["latitude"] + 90) / 180 * SIDE))
    out += x.to_bytes(3, "little") + y.to_bytes(3, "little")
    encode.varint(out, city["population"])
    encode.varint(out, number)
    return out


def name_records(owners):
    """Names in the order of their bytes, each without the beginning that it shares with the one before it in its block."""
    before = b""
    for index, name in enumerate(sorted(owners)):
        shared = 0
        if index % NAMES_PER_BLOCK:
            while shared < min(len(name), len(before)) and name[shared] == before[shared]:
                shared += 1
        out = bytearray()
        encode.varint(out, shared)
        encode.varint(out, len(name) - shared)
        out += name[shared:]
        places = sorted(owners[name].items())
        last = 0
        for position, (place, is_own) in enumerate(places):
            encode.varint(out, (place - last) << 2 | is_own << 1 | (position + 1 < len(places)))
            last = place
        yield out
        before = name


def main(regions_bin, regions_json, cities_json, out):
    with open(regions_json, encoding="utf-8") as file:
        ids = [node["id"] for node in json.load(file)["nodes"]]
    with open(regions_bin, "rb") as file:
        shapes, bits = pieces(file.read())
    outlines = collections.defaultdict(lambda: ([], []))
    for id in sorted(shapes):
        if id in ids and id[2:3] == "-":
            outlines[id[:2]][0].append(id)
            outlines[id[:2]][1].append(shapes[id])
    outlines = dict(outlines)
    with open(cities_json, encoding="utf-8") as file:
        cities = {int(number): city for number, city in json.load(file).items()}
    order = sorted(cities, key=lambda number: (-cities[number]["population"], number))

    used = [region_of(cities[number], outlines, bits) for number in order]
    codes = sorted(set(used))
    unknown = [code for code in codes if code not in ids]
    if unknown:
        raise SystemExit(f"not in the tree: {unknown}")
    owners = collections.defaultdict(dict)
    records = []
    for place, number in enumerate(order):
        city = cities[number]
        assert is_old(city["name"]) and len(city["name"].encode()) <= 120, city["name"]
        records.append(place_record(city, number, codes.index(used[place])))
        own, others = names(city)
        assert own, city
        owners[own.encode()][place] = True
        for name in others:
            owners[name.encode()].setdefault(place, False)

    place_data, place_starts = blocks(records, PLACES_PER_BLOCK)
    name_data, name_starts = blocks(name_records(owners), NAMES_PER_BLOCK)
    head = bytearray(b"PHTN\x01")
    for value in (len(order), len(owners), PLACES_PER_BLOCK, NAMES_PER_BLOCK, len(codes)):
        encode.varint(head, value)
    for code in codes:
        encode.varint(head, len(code))
        head += code.encode("ascii")
    for value in (len(place_data), len(name_data)):
        encode.varint(head, value)
    tables = b"".join(struct.pack("<I", start)[:3] for start in place_starts + name_starts)
    assert max(place_starts + name_starts) < 1 << 24
    with open(out, "wb") as file:
        file.write(bytes(head) + tables + bytes(place_data) + bytes(name_data))
    size = len(head) + len(tables) + len(place_data) + len(name_data)
    print(f"{len(order)} towns in {len(codes)} regions, {len(owners)} names, {size} bytes")


main(*sys.argv[1:])
