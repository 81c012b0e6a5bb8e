"""Reads one tile of an MBTiles or PMTiles file and writes its bytes, as they are stored, to standard output. Standard library only.

usage: python3 tile.py FILE Z X Y > tile
"""
import bisect, contextlib, gzip, itertools, pathlib, sqlite3, sys, zlib

if len(sys.argv) != 5:
    sys.exit(__doc__.strip().splitlines()[-1])
path = pathlib.Path(sys.argv[1])

def pmtiles():
    with open(path, "rb") as file:
        head = file.read(127)
        number = lambda at: int.from_bytes(head[at:at + 8], "little")
        if head[:8] != b"PMTiles\3" or head[97] not in (1, 2):
            sys.exit("not a PMTiles 3 file, or its directories are not compressed with gzip")
        read = lambda at, length: (file.seek(at), file.read(length))[1]
        wanted, a, b = ((1 << 2 * z) - 1) // 3, x, y  # the tile's place on the Hilbert curve
        for s in (1 << i for i in range(z - 1, -1, -1)):
            right, up = bool(a & s), bool(b & s)
            wanted += s * s * (3 * right ^ up)
            a, b = (a, b) if up else (s - 1 - a & s - 1, s - 1 - b & s - 1) if right else (a, b)
            a, b = (a, b) if up else (b, a)
        at, length = number(8), number(16)
        for _ in range(4):  # the root, and leaves below it
            numbers, value, shift = [], 0, 0
            for byte in gzip.decompress(read(at, length)) if head[97] == 2 else read(at, length):
                value, shift = value | (byte & 127) << shift, shift + 7
                if byte < 128:
                    numbers.append(value)
                    value = shift = 0
            count, starts = numbers[0], []
            ids = list(itertools.accumulate(numbers[1:count + 1]))
            runs, lengths, places = (numbers[count * i + 1:count * i + count + 1] for i in (1, 2, 3))
            for i, place in enumerate(places):  # 0: it follows the entry before
                starts.append(place - 1 if place else starts[-1] + lengths[i - 1])
            i = bisect.bisect_right(ids, wanted) - 1
            if i < 0 or runs[i] and wanted >= ids[i] + runs[i]:
                return None
            at, length = number(56 if runs[i] else 40) + starts[i], lengths[i]
            if runs[i]:
                return read(at, length)  # else it is another directory
        sys.exit("its directories do not end")

def tile():
    if path.suffix == ".pmtiles":
        return pmtiles()
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        place = "zoom_level = ? AND tile_column = ? AND tile_row = ?"
        row = database.execute(f"SELECT tile_data FROM tiles WHERE {place}", (z, x, (1 << z) - 1 - y)).fetchone()
    return row and row[0]

try:
    z, x, y = map(int, sys.argv[2:])
    body = tile()
except (OSError, EOFError, ValueError, LookupError, OverflowError, zlib.error, sqlite3.Error) as problem:
    sys.exit(f"{type(problem).__name__}: {problem}")
if body is None:
    sys.exit("no such tile")
sys.stdout.buffer.write(body)
