"""GDAL reads a GeoPackage, and finds the pixels of the tiles that it was made from.

usage: gdal_geopackage.py FILE.gpkg FILE.mbtiles

Every tile of the deepest zoom, at most 64 of them, is decoded by itself and compared with the same square of the GeoPackage. A warning of
GDAL is a fault. Exit code 1 with the first difference.
"""

import sqlite3
import sys

import numpy
from osgeo import gdal, osr

EDGE = 20037508.342789244


def pixels(dataset, window=None):
    """Red, green, blue and alpha of a dataset or of a window of it; palettes and greys become colours."""
    window = window or (0, 0, dataset.RasterXSize, dataset.RasterYSize)
    bands = [dataset.GetRasterBand(number + 1) for number in range(dataset.RasterCount)]
    read = [band.ReadAsArray(*window) for band in bands]
    table = bands[0].GetColorTable()
    if table is not None:
        colours = numpy.array([table.GetColorEntry(i) for i in range(table.GetCount())], numpy.uint8)
        return colours[read[0]].transpose(2, 0, 1)
    full = numpy.full_like(read[0], 255)
    return numpy.stack({1: [read[0]] * 3 + [full], 2: [read[0]] * 3 + [read[1]], 3: read + [full], 4: read}[len(read)])


def main(package, source):
    said = []
    gdal.UseExceptions()
    gdal.PushErrorHandler(lambda kind, code, text: said.append(text) if kind >= gdal.CE_Warning else None)
    dataset = gdal.OpenEx(package, gdal.OF_RASTER)
    assert dataset.GetDriver().ShortName == "GPKG", dataset.GetDriver().ShortName
    system = osr.SpatialReference(wkt=dataset.GetProjection())
    assert system.GetAuthorityCode(None) == "3857", dataset.GetProjection()
    archive = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    (zoom,) = archive.execute("SELECT max(zoom_level) FROM tiles").fetchone()
    zooms = archive.execute("SELECT count(DISTINCT zoom_level) FROM tiles").fetchone()[0]
    # GDAL leaves out zooms at which the area is smaller than a few pixels.
    assert dataset.GetRasterBand(1).GetOverviewCount() >= min(1, zooms - 1), "no overview"
    west, size, _, north, _, _ = dataset.GetGeoTransform()
    compared = 0
    rows = archive.execute(
        "SELECT tile_column, tile_row, tile_data FROM tiles WHERE zoom_level = ? ORDER BY tile_column, tile_row", (zoom,)
    ).fetchall()
    for column, row, body in rows[:: max(1, len(rows) // 64)]:
        gdal.FileFromMemBuffer("/vsimem/tile", bytes(body))
        tile = gdal.OpenEx("/vsimem/tile", gdal.OF_RASTER)
        side = 2 * EDGE / 2**zoom
        x = round((column * side - EDGE - west) / size)
        y = round((north - (EDGE - (2**zoom - 1 - row) * side)) / size)
        found = pixels(dataset, (x, y, tile.RasterXSize, tile.RasterYSize))
        wanted = pixels(tile)
        # What is transparent has no colour.
        seen = wanted[3] > 0
        assert (found[3] == wanted[3]).all() and (found[:3, seen] == wanted[:3, seen]).all(), f"{zoom}/{column}/{row}"
        compared += 1
    small = gdal.Translate("/vsimem/small.tif", dataset, width=64, height=64)
    assert small is not None and small.RasterXSize == 64
    gdal.PopErrorHandler()
    assert not said, said
    print(f"gdal: {package}: {compared} tiles of zoom {zoom} have the same pixels, {zooms} zooms")


main(*sys.argv[1:])
