#!/usr/bin/env python3
"""Shows a MapLibre offline database with the Mapbox GL engine inside Qt 5 (`PyQt5` of PyPI) and looks whether there is a map.

usage: qt_offline.py FOLDER FILE.maplibre.db     the picture goes to FOLDER

Needs a display (xvfb-run). The engine gets a copy of the file as its own database, and no network: every name and address is
resolved to nowhere, and the servers that the style names are gone. An empty database of the same schema is shown too; at
least one pixel in a hundred must differ, and at least four colours be there. Exit code 1 otherwise.
"""

import json
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile

os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
# The engine requires that Qt's threads are not used.
os.environ.setdefault("QSG_RENDER_LOOP", "basic")
# Nothing answers here: what is drawn comes from the database.
os.environ.update(http_proxy="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9", no_proxy="")

from PyQt5.QtCore import QEventLoop, QTimer, QUrl  # noqa: E402
from PyQt5.QtGui import QGuiApplication  # noqa: E402
from PyQt5.QtQml import QQmlComponent, QQmlEngine  # noqa: E402, F401
from PyQt5.QtQuick import QQuickView  # noqa: E402

SIZE = 512
SECONDS = 60
PAGE = """
import QtQuick 2.15
import QtLocation 5.15
import QtPositioning 5.15
Item {
    width: %(size)d; height: %(size)d
    Map {
        anchors.fill: parent
        plugin: Plugin {
            name: "mapboxgl"
            PluginParameter { name: "mapboxgl.access_token"; value: "none" }
            PluginParameter { name: "mapboxgl.mapping.additional_style_urls"; value: "%(style)s" }
            PluginParameter { name: "mapboxgl.mapping.cache.directory"; value: "%(folder)s" }
        }
        center: QtPositioning.coordinate(%(latitude)f, %(longitude)f)
        zoomLevel: %(zoom)f
        copyrightsVisible: false
    }
}
"""


def region(file):
    """The style's address, and a place and zoom inside the region."""
    database = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
    definition = json.loads(database.execute("SELECT definition FROM regions").fetchone()[0])
    if "bounds" in definition:
        south, west, north, east = definition["bounds"]
    else:
        corners = [corner for polygon in definition["geometry"]["coordinates"] for corner in polygon[0]]
        west, east = min(c[0] for c in corners), max(c[0] for c in corners)
        south, north = min(c[1] for c in corners), max(c[1] for c in corners)
    zoom = max(definition["min_zoom"], min(definition["max_zoom"], 6.0))
    return definition["style_url"], (west + east) / 2, (south + north) / 2, zoom


def show(application, folder, place):
    """The picture after it has not changed for a while: longer while it has one colour, because the engine takes its time to begin."""
    style, longitude, latitude, zoom = place
    page = pathlib.Path(folder) / "map.qml"
    page.write_text(PAGE % {
        "size": SIZE, "style": style, "folder": folder, "latitude": latitude, "longitude": longitude, "zoom": zoom,
    })
    view = QQuickView()
    view.setSource(QUrl.fromLocalFile(str(page)))
    if view.status() != QQuickView.Ready:
        sys.exit("; ".join(error.toString() for error in view.errors()))
    view.show()
    last, same = None, 0
    for _ in range(SECONDS):
        loop = QEventLoop()
        QTimer.singleShot(1000, loop.quit)
        loop.exec_()
        picture = view.grabWindow().convertToFormat(4)  # Format_RGB32
        pixels = picture.constBits().asstring(picture.sizeInBytes())
        same = same + 1 if pixels == last else 0
        last = pixels
        is_blank = pixels[:3] * (len(pixels) // 4) == b"".join(pixels[i : i + 3] for i in range(0, len(pixels), 4))
        if same >= (30 if is_blank else 5):
            break
    view.close()
    del view
    application.processEvents()
    return picture, last


def main(folder, file):
    file = pathlib.Path(file)
    place = region(file)
    application = QGuiApplication(sys.argv[:1])
    pictures = []
    for name in ["full", "empty"]:
        work = tempfile.mkdtemp(dir=folder)
        database = pathlib.Path(work) / "mapboxgl.db"
        shutil.copy(file, database)
        if name == "empty":
            connection = sqlite3.connect(database)
            for table in ["region_tiles", "region_resources", "tiles", "resources", "regions"]:
                connection.execute(f"DELETE FROM {table}")
            connection.commit()
            connection.close()
        pictures.append(show(application, work, place))
        if name == "full":
            read = sqlite3.connect(database).execute(
                "SELECT (SELECT count(*) FROM tiles WHERE accessed > modified), (SELECT count(*) FROM resources WHERE accessed > modified)"
            ).fetchone()
        shutil.rmtree(work)
    (picture, full), (_, empty) = pictures
    picture.save(str(pathlib.Path(folder) / f"{file.name}.png"))
    differing = sum(full[i : i + 3] != empty[i : i + 3] for i in range(0, len(full), 4))
    colours = len({full[i : i + 3] for i in range(0, len(full), 4)})
    share = 100 * differing / (SIZE * SIZE)
    print(
        f"  {file.name}: {share:.0f} % of the pixels drawn in {colours} colours at {place[1]:.2f}, {place[2]:.2f}, "
        f"zoom {place[3]:.1f}; the engine read {read[0]} tiles and {read[1]} resources"
    )
    return 0 if share >= 1 and colours >= 4 and read[0] and read[1] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
