"""The tile tree that every candidate downloads: the same bytes on every machine (standard library only).

tree.make("vector-20k", folder) writes {z}/{x}/{y}.pbf or .png, tilejson.json, list.txt (z/x/y a line, the order of a pyramid walk),
pack.bin with all bodies in that order and pack.idx (z x y offset length), and returns the manifest (also manifest.json).

Vector tiles are valid MVT 2 in gzip 6, pictures valid 256 x 256 PNGs with a palette. 31 % of the tiles are one of nine bodies (a sea in
the west behind a wavy coast, and plains); the others have log-normal sizes: mean 12 KB over all, up to 320 KB. What a gzip body holds
was tuned to the real tiles of mapbox/mvt-fixtures (1.7 times its packed size).
"""
import concurrent.futures
import gzip
import io
import json
import math
import os
import random
import shutil
import struct
import zlib

# Columns and rows at zoom 14, both ends included; the corner is that of a tile of zoom 7.
SPANS = {"2k": (8448, 8486, 5376, 5414), "20k": (8448, 8575, 5376, 5492), "100k": (8448, 8703, 5376, 5668)}
ZOOM = 14
SEA_SHARE = 0.26
MEDIAN, SIGMA = 10_500, 0.85
LAYERS = ["water", "landuse", "landcover", "transportation", "transportation_name", "building", "place", "poi",
          "housenumber", "boundary", "waterway", "park"]
KEYS = ["class", "subclass", "name", "name:en", "name:de", "rank", "render_height", "oneway", "layer", "osm_id"]
CLASSES = ["primary", "secondary", "tertiary", "minor", "path", "service", "track", "residential", "grass", "wood",
           "farmland", "shop", "restaurant", "bus", "school", "hospital", "river", "stream", "canal"]
SYLLABLES = "berg bach burg dal dorf haven hof kerk laan linde markt molen noord oost park plein rhein straat tal veld weg zee".split()
# Small numbers are far more frequent in geometry than large ones.
_luck = random.Random(7)
STEPS = bytes(min(127, int(abs(_luck.gauss(0, 12)))) for _ in range(256))


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def packed(raw):
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0) as file:
        file.write(raw)
    return out.getvalue()


def layer(rnd, name, budget):
    values = [field(1, c.encode()) for c in rnd.sample(CLASSES, 8)]
    values += [varint(4 << 3) + varint(rnd.randrange(1, 10**9)) for _ in range(8)]
    for _ in range(max(2, budget // 900)):
        words = rnd.choice(SYLLABLES).title() + rnd.choice(SYLLABLES)
        values.append(field(1, f"{words} {rnd.randrange(1, 300)}".encode()))
    pair = lambda: varint(rnd.randrange(len(KEYS))) + varint(rnd.randrange(len(values)))
    tag_sets = [b"".join(pair() for _ in range(rnd.randrange(2, 6))) for _ in range(6)]
    out = bytearray(field(1, name.encode()))
    size, identity, paths = 0, rnd.randrange(1, 10**9), []
    while size < budget:
        tags = rnd.choice(tag_sets)
        if rnd.random() < 0.3:
            tags += varint(2) + varint(rnd.randrange(len(values)))
        points = 1 + int(rnd.expovariate(1 / 14))
        kind = 1 if points == 1 else 3 if rnd.random() < 0.6 else 2
        geometry = bytes([9]) + varint(rnd.randrange(8192)) + varint(rnd.randrange(8192))
        if points > 1:
            if paths and rnd.random() < 0.2:  # neighbours share borders
                path = rnd.choice(paths)
            else:
                path = rnd.randbytes(2 * points).translate(STEPS)
                paths = paths[-11:] + [path]
            geometry += varint(len(path) // 2 << 3 | 2) + path
            if kind == 3:
                geometry += bytes([15])
        identity += rnd.randrange(1, 5000)
        feature = varint(1 << 3) + varint(identity) + field(2, tags) + varint(3 << 3) + varint(kind) + field(4, geometry)
        out += field(2, feature)
        size += len(feature) + 3
    for key in KEYS:
        out += field(3, key.encode())
    for value in values:
        out += field(4, value)
    return field(3, bytes(out) + varint(5 << 3) + varint(4096) + varint(15 << 3) + varint(2))


def vector_tile(rnd, target):
    count = max(1, min(len(LAYERS), 1 + target // 1500))
    shares = [rnd.random() + 0.1 for _ in range(count)]
    return packed(b"".join(layer(rnd, LAYERS[i], int(1.84 * target * s / sum(shares))) for i, s in enumerate(shares)))


def vector_plain(name, kind):
    ring = bytes([9]) + varint(128) * 2 + bytes([26]) + varint(8704) + bytes([0, 0]) + varint(8704) + varint(8703) + bytes([0, 15])
    feature = varint(1 << 3) + varint(1) + field(2, bytes([0, 0])) + varint(3 << 3) + varint(3) + field(4, ring)
    body = field(1, name.encode()) + field(2, feature) + field(3, b"class") + field(4, field(1, kind.encode()))
    return packed(field(3, body + varint(5 << 3) + varint(4096) + varint(15 << 3) + varint(2)))


SIX_BITS = bytes(i & 63 for i in range(256))
PALETTE = b"".join(bytes(((i * 37) & 255, (i * 91 + 40) & 255, (i * 53 + 90) & 255)) for i in range(64))


def png(rows):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 256, 256, 8, 3, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", PALETTE) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def picture(rnd, target):
    noise = min(65536, 1.3 * target) / 256  # bytes of noise a row; they decide the packed size
    rows, whole, base = [], 0.0, bytes([rnd.randrange(64)]) * 256
    for _ in range(256):
        whole += noise
        count = min(256, int(whole))
        whole -= count
        start = rnd.randrange(0, 257 - count)
        rows.append(base[:start] + rnd.randbytes(count).translate(SIX_BITS) + base[start + count:])
    return png(rows)


def layout(span):
    """Per zoom and tile: -1 for a body of its own, 0 for the sea, 1 to 8 for plains."""
    x0, x1, y0, y1 = span
    kinds = {ZOOM: {}}
    for x in range(x0, x1 + 1):
        for y in range(y0, y1 + 1):
            u, v = (x - x0) / (x1 - x0 + 1), (y - y0) / (y1 - y0 + 1)
            px, py = (x - x0) // 6, (y - y0) // 5
            if u < SEA_SHARE + 0.04 * math.sin(9 * v) + 0.02 * math.sin(41 * v):
                kind = 0
            else:
                kind = 1 + (px + py) % 8 if (px * 7919 + py * 104729) % 17 == 0 else -1
            kinds[ZOOM][x, y] = kind
    for zoom in range(ZOOM - 1, -1, -1):
        below = {}
        for (x, y), kind in kinds[zoom + 1].items():
            below.setdefault((x >> 1, y >> 1), set()).add(kind)
        kinds[zoom] = {place: found.pop() if len(found) == 1 else -1 for place, found in below.items()}
    return kinds


def column(task):
    folder, kind, zoom, x, cells, plains = task
    ext = "pbf" if kind == "vector" else "png"
    os.makedirs(f"{folder}/{zoom}/{x}", exist_ok=True)
    sizes = []
    for y, what in cells:
        if what >= 0:
            body = plains[what]
        else:
            rnd = random.Random(f"packhorse/{zoom}/{x}/{y}")
            wanted = rnd.lognormvariate(math.log(MEDIAN), SIGMA)
            most = 300_000 if kind == "vector" else 50_000
            target = int(min(most, max(300, wanted)))
            body = vector_tile(rnd, target) if kind == "vector" else picture(rnd, target)
        with open(f"{folder}/{zoom}/{x}/{y}.{ext}", "wb") as file:
            file.write(body)
        sizes.append((zoom, x, y, len(body), what))
    return sizes


def make(name, folder):
    """Makes the tree `kind-size` in `folder` unless it is there; returns its manifest."""
    done = f"{folder}/manifest.json"
    if os.path.exists(done):
        return json.load(open(done))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    kind, size = name.split("-")
    ext = "pbf" if kind == "vector" else "png"
    span = SPANS[size]
    plains = ([vector_plain("water", "ocean")] + [vector_plain("landcover", c) for c in CLASSES[8:16]]
              if kind == "vector" else [png([bytes([i]) * 256] * 256) for i in range(9)])
    tasks = []
    for zoom, tiles in layout(span).items():
        columns = {}
        for (x, y), what in tiles.items():
            columns.setdefault(x, []).append((y, what))
        tasks += [(folder, kind, zoom, x, sorted(columns[x]), plains) for x in columns]
    tasks.sort(key=lambda task: (task[2], task[3]))
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        rows = [row for part in pool.map(column, tasks, chunksize=4) for row in part]
    offset = 0
    with open(f"{folder}/list.txt", "w") as names, open(f"{folder}/pack.idx", "w") as index, open(f"{folder}/pack.bin", "wb") as pack:
        for zoom, x, y, length, _ in rows:
            names.write(f"{zoom}/{x}/{y}\n")
            index.write(f"{zoom} {x} {y} {offset} {length}\n")
            with open(f"{folder}/{zoom}/{x}/{y}.{ext}", "rb") as tile:
                pack.write(tile.read())
            offset += length
    manifest = {"name": name, "kind": kind, "ext": ext, "tiles": len(rows), "bytes": offset,
                "largest": max(row[3] for row in rows), "repeated": sum(row[4] >= 0 for row in rows) / len(rows)}
    manifest |= boxes(span)
    json.dump(manifest, open(done, "w"), indent=1)
    return manifest


def boxes(span):
    """The area in degrees and in Web Mercator metres, a hundredth of a tile smaller so that no program takes neighbouring tiles."""
    x0, x1, y0, y1 = span
    inset, half = 0.01, 20037508.342789244
    longitude = lambda x: x / 2**ZOOM * 360 - 180
    latitude = lambda y: math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / 2**ZOOM))))
    metres = lambda t: (t / 2**ZOOM * 2 - 1) * half
    west, east, south, north = x0 + inset, x1 + 1 - inset, y1 + 1 - inset, y0 + inset
    return {"bbox": [longitude(west), latitude(south), longitude(east), latitude(north)],
            "bbox_3857": [metres(west), -metres(south), metres(east), -metres(north)]}


def tilejson(manifest, base):
    """What the origin says about its tileset."""
    ext = manifest["ext"]
    value = {"tilejson": "3.0.0", "tiles": [f"{base}/{manifest['name']}/{{z}}/{{x}}/{{y}}.{ext}"], "minzoom": 0,
             "maxzoom": ZOOM, "attribution": "test data", "name": manifest["name"], "bounds": manifest["bbox"]}
    if manifest["kind"] == "vector":
        value["vector_layers"] = [{"id": name, "fields": {key: "String" for key in KEYS}} for name in LAYERS]
    else:
        value["format"] = "png"
    return json.dumps(value)
