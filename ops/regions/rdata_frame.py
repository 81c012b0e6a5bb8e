"""Reads a polygon out of the R lazy-load database of Debian r-cran-rnaturalearthdata (CC0) without R."""
import lzma
import os
import struct
import warnings
import zlib
from pathlib import Path

import rdata
import shapely
from shapely.geometry import Polygon

FOLDER = Path(os.environ["PACKHORSE_REGIONS_ROOT"] + "/r-cran-rnaturalearthdata/usr/lib/R/site-library/rnaturalearthdata/data")
warnings.filterwarnings("ignore")


def record(name):
    index = rdata.conversion.convert(rdata.parser.parse_data((FOLDER / "Rdata.rdx").read_bytes()))
    offset, length = map(int, index["variables"][name])
    raw = (FOLDER / "Rdata.rdb").read_bytes()[offset : offset + length]
    size, kind = struct.unpack(">I", raw[:4])[0], raw[4:5]
    if kind == b"Z":
        raw_lzma = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        data = lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=raw_lzma).decompress(raw[5:])
    else:
        data = zlib.decompress(raw[4:])
    if len(data) != size:
        raise SystemExit(f"{name}: {len(data)} bytes instead of {size}")
    return rdata.conversion.convert(rdata.parser.parse_data(data))


def country(iso_a2):
    """The outline of a country in the 50m layer. Only shells are read: use it for countries without holes."""
    frame = record("countries50")
    for row, polygons in zip(frame.data.to_dict("records"), frame.polygons):
        if row["iso_a2"] == iso_a2:
            shells = [Polygon([(float(x), float(y)) for x, y in p.coords]) for p in polygons.Polygons if not bool(p.hole[0])]
            return shapely.union_all(shells)
    raise SystemExit(f"{iso_a2} is not in the 50m layer")
