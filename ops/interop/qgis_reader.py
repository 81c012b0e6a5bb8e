"""QGIS opens a GeoPackage as a layer of pictures, and the same tiles in a folder as an XYZ layer, and draws both, without a screen.

usage: qgis_reader.py FILE.gpkg FOLDER.tiles ENDING

ENDING is that of the folder's tiles. Both pictures have something that is not transparent. Exit code 1 with what is wrong.
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from qgis.core import QgsApplication, QgsMapRendererParallelJob, QgsMapSettings, QgsRasterLayer  # noqa: E402
from qgis.PyQt.QtCore import QSize, QUrl  # noqa: E402
from qgis.PyQt.QtGui import QColor  # noqa: E402


def draw(layer, extent):
    """Per cent of a picture of the extent that is drawn."""
    assert layer.isValid(), layer.error().message()
    assert layer.crs().authid() == "EPSG:3857", layer.crs().authid()
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(layer.crs())
    settings.setBackgroundColor(QColor(0, 0, 0, 0))
    settings.setOutputSize(QSize(256, 256))
    settings.setExtent(extent)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    picture = job.renderedImage()
    drawn = sum(picture.pixelColor(x, y).alpha() > 0 for x in range(256) for y in range(256))
    assert drawn > 0, "nothing was drawn"
    return drawn * 100 // 65536


def main(package, tiles, ending):
    application = QgsApplication([], False)
    application.initQgis()
    layer = QgsRasterLayer(package, "package", "gdal")
    share = draw(layer, layer.extent())
    document = json.loads((pathlib.Path(tiles) / "tiles.json").read_text())
    address = bytes(QUrl.toPercentEncoding(f"file://{tiles}/{{z}}/{{x}}/{{y}}.{ending}", b":/")).decode()
    files = QgsRasterLayer(f"type=xyz&zmin={document['minzoom']}&zmax={document['maxzoom']}&url={address}", "tiles", "wms")
    print(f"qgis: {package}: {share} % of the picture is drawn, of the tiles in a folder {draw(files, layer.extent())} %", flush=True)
    # Python's end frees objects of QGIS in an order that crashes it.
    os._exit(0)


main(*sys.argv[1:])
