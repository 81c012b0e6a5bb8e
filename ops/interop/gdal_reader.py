#!/usr/bin/env python3
"""Opens MBTiles and PMTiles files with GDAL (Debian's python3-gdal) and checks that their tiles are in their places.

usage: gdal_reader.py FILE...     files FILE.mbtiles and FILE.pmtiles that were converted from those of `foreign_files.py`

A raster must have pixels that are not empty, a vector file features whose extent touches the file's bounds. A format that this GDAL has no driver
for is skipped with its reason. Exit code 1 when a file cannot be opened or is empty.
"""

import pathlib
import sqlite3
import sys

from osgeo import gdal, ogr

gdal.UseExceptions()
ogr.UseExceptions()


def rows(path):
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    said = dict(database.execute("SELECT name, value FROM metadata"))
    deepest, count = database.execute("SELECT max(zoom_level), count(*) FROM tiles").fetchone()
    return said, deepest, count


def raster(path):
    data = gdal.OpenEx(str(path), gdal.OF_RASTER)
    sums = [data.GetRasterBand(number + 1).Checksum() for number in range(data.RasterCount)]
    empty = not any(sums)
    return ("has no pixel" if empty else None), f"{data.RasterXSize} x {data.RasterYSize} pixels, checksums {sums}"


def vector(path, said):
    data = gdal.OpenEx(str(path), gdal.OF_VECTOR)
    names, count = [], 0
    box = [float("inf"), float("inf"), -float("inf"), -float("inf")]
    for index in range(data.GetLayerCount()):
        layer = data.GetLayer(index)
        names.append(layer.GetName())
        for feature in layer:
            west, east, south, north = feature.GetGeometryRef().GetEnvelope()
            box = [min(box[0], west), min(box[1], south), max(box[2], east), max(box[3], north)]
            count += 1
    if count == 0:
        return "has no feature", ""
    # Web Mercator in metres to degrees is not needed: both must be on the same side of the equator where they are on one.
    south, north = (float(said["bounds"].split(",")[number]) for number in (1, 3))
    fault = None
    if south > 0 and box[3] < 0 or north < 0 and box[1] > 0:
        fault = f"has its features from {box[1]:.0f} to {box[3]:.0f} m north, its bounds from {south} to {north} degrees"
    return fault, f"layers {', '.join(names)}, {count} feature{'' if count == 1 else 's'}"


def main(*files):
    failed = 0
    for path in map(pathlib.Path, files):
        driver = gdal.GetDriverByName("PMTiles" if path.suffix == ".pmtiles" else "MBTiles")
        if driver is None:
            print(f"  {path.name}: skipped, GDAL {gdal.__version__} has no driver for {path.suffix}")
            continue
        said, _, _ = rows(path.with_suffix(".mbtiles"))
        try:
            if said["format"] == "pbf":
                fault, words = vector(path, said)
            elif driver.GetMetadataItem(gdal.DCAP_RASTER) is None:
                print(f"  {path.name}: skipped, this driver of GDAL {gdal.__version__} reads no pictures")
                continue
            else:
                fault, words = raster(path)
        except RuntimeError as error:
            fault, words = str(error), ""
        print(f"  {path.name}: {fault or words}")
        failed += fault is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
