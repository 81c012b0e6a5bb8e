"""Builds the embedded region tree: generate.py OUTDIR. Called by ops/regions/build, which says where the sources come from."""
import collections
import json
import os
import sys

import numpy as np

import cldr
import encode
import natural_earth
import topology
from policy import DISPUTED, DRAWN, TREE, atolls

BITS = 18  # one grid unit is 153 m at the equator and a sixteenth of a z14 tile
TOLERANCE_METRES = 600.0  # chosen by tile counts: coarser loses z14 tiles against an independent coast line, finer gains none


def also():
    """node -> pieces beyond its own"""
    out = collections.defaultdict(list)
    for rule in DISPUTED["pieces"] + DISPUTED["cuts"]:
        if rule.get("piece"):
            for id in rule["to"]:
                out[id].append(rule["piece"])
    return out


def bounds_in_degrees(boxes):
    """[west, south, east, north] round grid boxes; west > east when it crosses the antimeridian: the widest gap is left outside."""
    boxes = np.array(sorted(boxes), float)
    reach = np.maximum.accumulate(boxes[:, 2])
    gaps = boxes[1:, 0] - reach[:-1]
    widest = int(np.argmax(gaps)) if len(gaps) else 0
    west, east = boxes[0, 0], reach[-1]
    if len(gaps) and gaps[widest] > west + 1 - east:
        west, east = boxes[widest + 1, 0], reach[widest]
    (w, e), (n, s) = topology.degrees(np.array([west, east]), np.array([boxes[:, 1].min(), boxes[:, 3].max()]))
    return [round(float(v), 4) for v in (w, s, e, n)]


def main(out):
    pieces = topology.simplified(natural_earth.pieces(), TOLERANCE_METRES, list(DRAWN))
    rings = {id: topology.grid_rings(g, BITS) for id, g in pieces.items()}
    arcs, references = topology.arcs_of(rings)
    walks = collections.Counter((r if r >= 0 else ~r, r >= 0) for rs in references.values() for ring in rs for r in ring)
    twice = [arc for arc, times in walks.items() if times > 1]
    if twice:
        print(f"{len(twice)} arcs are walked twice in one direction: rounding made neighbours overlap there")
    bounds = {}
    for id, rs in rings.items():
        points = np.array([p for r in rs for p in r])
        bounds[id] = [int(v) for v in (*points.min(0), *points.max(0))]
    binary = encode.encoded(arcs, references, bounds, BITS)

    atoll_boxes, extra = atolls(), also()
    codes = {kind: cldr.codes(kind) for kind in ["alpha3", "numeric"]}
    rows = [n for n in cldr.tree() if n[1] != "country" or n[0] in rings or n[0] in TREE["split"]]
    lost = [n[0] for n in cldr.tree() if n not in rows]
    if lost:
        raise SystemExit(f"countries without ground: {lost}")
    rows += [(id, "region", id[:2]) for id in rings if id[2:3] == "-" and id[:2] in TREE["split"]]
    children = collections.defaultdict(list)
    for id, kind, parent in rows:
        children[parent].append(id)

    def leaves(id):
        return [id] if id in rings else [leaf for child in children[id] for leaf in leaves(child)]

    unit = 1 << BITS
    nodes = []
    for id, kind, parent in rows:
        node = {"id": id, "kind": kind}
        if parent:
            node["parent"] = parent
        if id in extra:
            node["also"] = extra[id]
        if kind == "country":
            node |= {name: table[id] for name, table in codes.items() if id in table}
        ground = [ring for leaf in leaves(id) for p in [leaf, *extra.get(leaf, [])] for ring in rings[p]]
        spans = [[min(x for x, _ in r) / unit, min(y for _, y in r) / unit, max(x for x, _ in r) / unit, max(y for _, y in r) / unit] for r in ground]
        for leaf in leaves(id):
            for w, s, e, n in atoll_boxes.get(leaf, []):
                (x0, x1), (y0, y1) = topology.unit(np.array([w, e]), np.array([n, s]))
                spans.append([float(x0), float(y0), float(x1), float(y1)])
        node["bounds"] = bounds_in_degrees(spans)
        if id in atoll_boxes:
            node["boxes"] = atoll_boxes[id]
        names = [cldr.name(id, l) for l in cldr.LANGUAGES]
        assert not any("|" in name for name in names)
        node["names"] = "|".join(names)
        if id in TREE["aliases"]:
            node["aliases"] = TREE["aliases"][id]
        nodes.append(node)

    used = {p for n in nodes for p in [n["id"], *n.get("also", [])]}
    assert set(rings) <= used, set(rings) - used
    assert set(atoll_boxes) | set(TREE["aliases"]) <= used
    # One node a line, so that a change of policy is a readable diff.
    text = json.dumps({"format": 1, "languages": cldr.LANGUAGES}, separators=(",", ":"))[:-1] + ',"nodes":[\n'
    text += ",\n".join(json.dumps(n, ensure_ascii=False, separators=(",", ":")) for n in nodes) + "\n]}\n"
    os.makedirs(out)
    with open(out + "/regions.bin", "wb") as file:
        file.write(binary)
    with open(out + "/regions.json", "w", encoding="utf-8") as file:
        file.write(text)
    kinds = dict(collections.Counter(n["kind"] for n in nodes))
    print(f"{len(nodes)} nodes {kinds}, {len(rings)} pieces, {len(arcs)} arcs, {sum(map(len, arcs))} points, {len(binary)} + {len(text.encode())} bytes")


main(sys.argv[1])
