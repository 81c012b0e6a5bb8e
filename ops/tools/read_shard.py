#!/usr/bin/env python3
"""Lists, checks and unpacks a Packhorse shard. Written from docs/formats/shard.md alone; needs the `lz4` command.

    read_shard.py SHARD             one line per tile: z/x/y, bytes or "empty", SHA-256, ETag, Last-Modified
    read_shard.py SHARD z/x/y       the body of that tile, on standard output
"""
import hashlib
import struct
import subprocess
import sys


def check(ok, what):
    if not ok:
        sys.exit(f"read_shard: {what}")


def unpack_frame(frame, size):
    check(frame[:6] == b"\x04\x22\x4d\x18\x7c\x40" and struct.unpack_from("<Q", frame, 6)[0] == size, "bad LZ4 frame")
    done = subprocess.run(["lz4", "-dc"], input=frame, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0 and len(done.stdout) == size, f"damaged frame: {done.stderr.decode()}")
    return done.stdout


def tile_name(number):
    zoom = 0
    while number >= 4**zoom:
        number -= 4**zoom
        zoom += 1
    x = y = 0
    for bit in range(zoom):  # from the finest quarter outwards: the inverse of that document's loop
        side = 1 << bit
        quarter = number >> (2 * bit) & 3
        rx, ry = (quarter >> 1), (quarter & 1) ^ (quarter >> 1)
        if ry == 0:
            if rx == 1:
                x, y = side - 1 - x, side - 1 - y
            x, y = y, x
        x, y = x + side * rx, y + side * ry
    return f"{zoom}/{x}/{y}"


data = open(sys.argv[1], "rb").read()
foot = data[-160:]
check(len(data) > 160 and foot[:8] == struct.pack("<II", 0x184D2A50, 152) and foot[8:16] == b"PKHSHEND", "not a shard")
check(hashlib.sha256(foot[8:128]).digest() == foot[128:], "damaged footer")
version, _, head, start, stored, size, G, B, S, E, total = struct.unpack_from("<HHIQIIIIIIQ", foot, 16)
check(version == 1 and start + stored + 160 == len(data), "another version, or cut")
check(hashlib.sha256(data[:head]).digest() == foot[64:96] and data[8:16] == b"PKHSHARD", "damaged header")
index = unpack_frame(data[start:start + stored], size)
check(hashlib.sha256(index).digest() == foot[96:128], "damaged index")

at = 0
def take(form, count=1):
    global at
    values = struct.unpack_from(f"<{count}{form}", index, at)
    at += struct.calcsize(f"<{count}{form}")
    return values

def grab(length):
    global at
    at += length
    return index[at - length:at]

frames, counts = take("I", G), take("I", G)
hashes = [grab(32) for _ in range(B)]
lengths = take("I", B)
texts = [""] + [grab(n).decode() for n in take("H", take("I")[0])]
N = S + E
steps, bodies, etags, modified = take("Q", N), take("I", N), take("I", N), take("I", N)
check(at == size and sum(counts) == B and sum(lengths) == total and head + sum(frames) == start, "index does not add up")

contents, at_byte, number = [], head, 0
for frame, count in zip(frames, counts):
    content = unpack_frame(data[at_byte:at_byte + frame], sum(lengths[number:number + count]))
    at_byte, offset = at_byte + frame, 0
    for body in range(number, number + count):
        contents.append(content[offset:offset + lengths[body]])
        check(hashlib.sha256(contents[-1]).digest() == hashes[body], f"damaged body {body}")
        offset += lengths[body]
    number += count

tile = 0
for step, body, etag, when in zip(steps, bodies, etags, modified):
    tile += step
    name = tile_name(tile)
    if len(sys.argv) == 2:
        print(name, *((lengths[body - 1], hashes[body - 1].hex()) if body else ("empty", "-")), texts[etag] or "-", texts[when] or "-")
    elif name == sys.argv[2] and body:
        sys.stdout.buffer.write(contents[body - 1])
