"""Polygons of a coverage -> rings on an integer Web Mercator grid -> shared arcs."""
import numpy as np
import shapely

MAX_LATITUDE = 85.0511287798066
RADIUS = 6378137 * np.pi


def unit(lon, lat):
    """Degrees -> the unit square, y from the north."""
    s = np.sin(np.radians(np.clip(lat, -MAX_LATITUDE, MAX_LATITUDE)))
    return (np.asarray(lon) + 180.0) / 360.0, np.clip(0.5 - np.log((1 + s) / (1 - s)) / (4 * np.pi), 0, 1)


def degrees(x, y):
    return x * 360 - 180, np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * y))))


def simplified(pieces, metres, alone):
    """Visvalingam with an area of metres squared over the whole coverage at once, so that neighbours keep one border.
    In unit-square coordinates; `alone` are pieces of another source, which stay as they are and are cut out of the coverage."""
    world = shapely.box(-180, -MAX_LATITUDE, 180, MAX_LATITUDE)
    to_unit = lambda a: np.stack(unit(a[:, 0], a[:, 1]), 1)
    to_metres = lambda a: np.stack([(v * 2 * RADIUS) for v in unit(a[:, 0], a[:, 1])], 1)
    ids = sorted(id for id in pieces if id not in alone)
    inside = [pieces[id].intersection(world) if pieces[id].bounds[1] < -MAX_LATITUDE else pieces[id] for id in ids]
    coverage = np.array([shapely.transform(g, to_metres) for g in inside])
    bad = [id for id, edges in zip(ids, shapely.coverage_invalid_edges(coverage)) if not edges.is_empty]
    if bad:
        print("neighbours that do not fit together:", *bad)
    out = {id: shapely.transform(g, lambda a: a / (2 * RADIUS)) for id, g in zip(ids, shapely.coverage_simplify(coverage, metres))}
    for id in alone:
        out[id] = shapely.transform(pieces[id], to_unit)
        for other in [o for o in out if o != id and out[o].intersects(out[id])]:
            out[other] = out[other].difference(out[id])
    return dict(sorted(out.items()))


def without_spikes(ring):
    """Drops repeated points and there-and-back spikes a-b-a that rounding makes."""
    out = []
    for p in ring:
        out.append(p)
        while True:
            if len(out) > 1 and out[-1] == out[-2]:
                out.pop()
            elif len(out) > 2 and out[-1] == out[-3]:
                del out[-2:]
            else:
                break
    while len(out) > 1 and (out[0] == out[-1] or (len(out) > 2 and (out[-1] == out[1] or out[-2] == out[0]))):
        if out[0] == out[-1]:
            out.pop()
        elif out[-1] == out[1]:
            out.pop(0)
        else:
            out.pop()
    return out


def grid_rings(geometry, bits):
    """Rings of integer points, first point not repeated; shells clockwise on the screen (y down), holes the other way round, so that
    the land is always to the right of an edge. An island that rounds away becomes a square of one grid unit; a lake vanishes."""
    n, rings = 1 << bits, []
    for polygon in shapely.get_parts(geometry):
        # y points down here: counter-clockwise by shapely's reckoning is clockwise on the screen
        polygon = shapely.orient_polygons(polygon, exterior_cw=False)
        for index, ring in enumerate([polygon.exterior, *polygon.interiors]):
            q = np.rint(np.asarray(ring.coords)[:-1, :2] * n).astype(np.int64)
            points = without_spikes([(int(x), int(y)) for x, y in q])
            if len(points) > 2:
                rings.append(points)
            elif index == 0:
                x, y = (int(min(v, n - 1)) for v in q.min(0))
                rings.append([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)])
    return rings


def arcs_of(rings_of):
    """{id: rings} -> (arcs, {id: [[arc references]]}); a reference is an index, or its complement for the arc walked backwards."""
    neighbours, owners = {}, {}
    for id, rings in rings_of.items():
        for ring in rings:
            for i, p in enumerate(ring):
                before, after = ring[i - 1], ring[(i + 1) % len(ring)]
                neighbours.setdefault(p, set()).update((before, after))
                owners.setdefault(frozenset((before, p)), set()).add(id)
    arcs, index, out = [], {}, {}

    def reference(points):
        forward = tuple(points)
        if forward in index:
            return index[forward]
        if forward[::-1] in index:
            return ~index[forward[::-1]]
        index[forward] = len(arcs)
        arcs.append(forward)
        return index[forward]

    def is_node(before, p, after):
        return len(neighbours[p]) > 2 or owners[frozenset((before, p))] != owners[frozenset((p, after))]

    for id, rings in rings_of.items():
        out[id] = []
        for ring in rings:
            n = len(ring)
            cuts = [i for i in range(n) if is_node(ring[i - 1], ring[i], ring[(i + 1) % n])]
            if not cuts:
                first = min(range(n), key=lambda i: ring[i])
                cuts = [first]
            references = []
            for j, a in enumerate(cuts):
                b = cuts[(j + 1) % len(cuts)]
                references.append(reference(ring[a : b + 1] if b > a else ring[a:] + ring[: b + 1]))
            out[id].append(references)
    return arcs, out
