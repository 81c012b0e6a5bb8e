"""QGIS opens a GeoPackage as a layer of pictures and draws it, without a screen.

usage: qgis_reader.py FILE.gpkg

The middle of the layer has to have a pixel that is not transparent. Exit code 1 with what is wrong.
"""

import os
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from qgis.core import QgsApplication, QgsMapRendererParallelJob, QgsMapSettings, QgsRasterLayer  # noqa: E402
from qgis.PyQt.QtCore import QSize  # noqa: E402
from qgis.PyQt.QtGui import QColor  # noqa: E402


def main(package):
    application = QgsApplication([], False)
    application.initQgis()
    layer = QgsRasterLayer(package, "package", "gdal")
    assert layer.isValid(), layer.error().message()
    assert layer.crs().authid() == "EPSG:3857", layer.crs().authid()
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(layer.crs())
    settings.setBackgroundColor(QColor(0, 0, 0, 0))
    settings.setOutputSize(QSize(256, 256))
    settings.setExtent(layer.extent())
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    picture = job.renderedImage()
    drawn = sum(picture.pixelColor(x, y).alpha() > 0 for x in range(256) for y in range(256))
    assert drawn > 0, "nothing was drawn"
    print(f"qgis: {package}: {drawn * 100 // 65536} % of the picture is drawn", flush=True)
    # Python's end frees objects of QGIS in an order that crashes it.
    os._exit(0)


main(sys.argv[1])
