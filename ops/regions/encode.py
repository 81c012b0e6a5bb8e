"""The file regions.bin; its layout is described in ops/regions/FORMAT.md."""


def varint(out, value):
    assert value >= 0
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def zigzag(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def arc_body(points):
    out, x, y = bytearray(), 0, 0
    varint(out, len(points))
    for i, (u, v) in enumerate(points):
        if i == 0:
            varint(out, u)
            varint(out, v)
        else:
            varint(out, zigzag(u - x))
            varint(out, zigzag(v - y))
        x, y = u, v
    return out


def piece_body(rings):
    out, last = bytearray(), 0
    varint(out, len(rings))
    for ring in rings:
        varint(out, len(ring))
        for reference in ring:
            i = reference if reference >= 0 else ~reference
            varint(out, zigzag(i - last) << 1 | (reference < 0))
            last = i
    return out


def encoded(arcs, pieces, bounds, bits):
    out = bytearray(b"PHRG\x01")
    arc_bodies = [arc_body(a) for a in arcs]
    piece_bodies = {id: piece_body(rings) for id, rings in pieces.items()}
    varint(out, bits)
    varint(out, len(arc_bodies))
    varint(out, len(piece_bodies))
    for body in arc_bodies:
        varint(out, len(body))
    for id, body in piece_bodies.items():
        name = id.encode("ascii")
        varint(out, len(name))
        out += name
        x0, y0, x1, y1 = bounds[id]
        for value in (len(body), x0, y0, x1 - x0, y1 - y0):
            varint(out, value)
    for body in [*arc_bodies, *piece_bodies.values()]:
        out += body
    return bytes(out)
