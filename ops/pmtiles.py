"""PMTiles 3 archives, written and read by the specification alone (standard library only): for benchmarks and the fault matrix."""
import gzip
import struct

HEADER = 127


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def hilbert(z, x, y):
    """The tile's number within its zoom."""
    d, s = 0, 1 << z >> 1
    while s:
        rx, ry = int(x & s > 0), int(y & s > 0)
        d += s * s * (3 * rx ^ ry)
        if not ry:
            if rx:
                x, y = s - 1 - (x & s - 1), s - 1 - (y & s - 1)
            x, y = y, x
        s >>= 1
    return d


def tile_id(z, x, y):
    return (4 ** z - 1) // 3 + hilbert(z, x, y)


def directory(entries):
    """Packed entries: tile, run (0 = a leaf), offset, length."""
    out, last, end = bytearray(varint(len(entries))), 0, None
    for number, _, _, _ in entries:
        out += varint(number - last)
        last = number
    for _, run, _, _ in entries:
        out += varint(run)
    for _, _, _, length in entries:
        out += varint(length)
    for _, _, offset, length in entries:
        out += varint(0 if offset == end else offset + 1)
        end = offset + length
    return gzip.compress(bytes(out), 6, mtime=0)


def head(entries, size, leaf=8192, metadata=b"{}", zooms=(0, 14), bounds=(0, 0, 0, 0)):
    """Everything before the bodies of a clustered archive of gzip vector tiles, which have `size` bytes."""
    leaves, root = bytearray(), []
    for at in range(0, len(entries), leaf):
        packed = directory(entries[at:at + leaf])
        root.append((entries[at][0], 0, len(leaves), len(packed)))
        leaves += packed
    top, metadata = directory(root), gzip.compress(metadata, 6, mtime=0)
    if len(top) > 16_384 - HEADER:
        raise ValueError("the root directory is too large: take larger leaves")
    at = [HEADER, HEADER + len(top)]
    at += [at[1] + len(metadata), at[1] + len(metadata) + len(leaves)]
    out = b"PMTiles\x03" + struct.pack("<8Q", at[0], len(top), at[1], len(metadata), at[2], len(leaves), at[3], size)
    out += struct.pack("<3Q", sum(run for _, run, _, _ in entries), len(entries), len({offset for _, _, offset, _ in entries}))
    out += bytes([1, 2, 2, 1, *zooms]) + struct.pack("<4i", *(round(edge * 1e7) for edge in bounds))
    return out + bytes([zooms[0]]) + struct.pack("<2i", 0, 0) + top + metadata + leaves


def archive(tiles, **more):
    """An archive of (z, x, y) -> gzip body; equal bodies are there once."""
    entries, bodies, known = [], bytearray(), {}
    for number, body in sorted((tile_id(*tile), body) for tile, body in tiles.items()):
        if body not in known:
            known[body] = len(bodies)
            bodies += body
        offset = known[body]
        if entries and entries[-1][2] == offset and entries[-1][0] + entries[-1][1] == number:
            entries[-1][1] += 1
        else:
            entries.append([number, 1, offset, len(body)])
    return head(entries, len(bodies), **more) + bytes(bodies)


def numbers(packed):
    """The numbers of a packed directory."""
    value, shift = 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value, shift = 0, 0


def entries(packed):
    """What a directory lists: tile, run (0 = a leaf), offset, length."""
    values = list(numbers(gzip.decompress(packed)))
    count, at, last, end = values[0], 1, 0, 0
    columns = [values[at + count * column:at + count * (column + 1)] for column in range(4)]
    for number, run, length, offset in zip(*columns):
        last += number
        end = (offset - 1 if offset else end) + length
        yield last, run, end - length, length


def tiles_of(content):
    """Every tile of an archive whose directories are gzip: its number and its body, as stored."""
    root, root_size, _, _, leaves, _, bodies, _ = struct.unpack("<8Q", content[8:72])
    waiting, found = [content[root:root + root_size]], {}
    while waiting:
        for number, run, offset, length in entries(waiting.pop()):
            if run == 0:
                waiting.append(content[leaves + offset:leaves + offset + length])
            for tile in range(number, number + run):
                found[tile] = content[bodies + offset:bodies + offset + length]
    return found
