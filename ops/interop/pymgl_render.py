#!/usr/bin/env python3
"""Renders MBTiles files with MapLibre Native (`pymgl` of PyPI) and looks whether there is anything in the picture.

usage: pymgl_render.py FOLDER FILE.mbtiles...     pictures go to FOLDER

The style has every vector layer of the file as area, line and point; a raster file has one layer. The same style without those
layers is rendered too: at least one pixel in a hundred must differ. Exit code 1 when a picture is blank.
"""

import json
import math
import pathlib
import sqlite3
import sys

from pymgl import Map

SIZE = 512
BACKGROUND = {"id": "background", "type": "background", "paint": {"background-color": "#ffffff"}}


def metadata(path):
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    return dict(database.execute("SELECT name, value FROM metadata"))


def style(path, said):
    """The style, and the same without what comes from the file."""
    if said["format"] in ("pbf", "mbvt"):
        source = {"type": "vector", "url": f"mbtiles://{path}"}
        layers = []
        for index, layer in enumerate(json.loads(said["json"])["vector_layers"]):
            name, common = layer["id"], {"source": "package", "source-layer": layer["id"]}
            color = f"hsl({index * 67 % 360}, 70%, 50%)"
            layers += [
                {"id": f"{name}-area", "type": "fill", "paint": {"fill-color": color, "fill-opacity": 0.4}, **common},
                {"id": f"{name}-line", "type": "line", "paint": {"line-color": color}, **common},
                {"id": f"{name}-point", "type": "circle", "paint": {"circle-color": color}, **common},
            ]
    else:
        source = {"type": "raster", "url": f"mbtiles://{path}", "tileSize": 256}
        layers = [{"id": "picture", "type": "raster", "source": "package"}]
    whole = {"version": 8, "sources": {"package": source}, "layers": [BACKGROUND, *layers]}
    return whole, {"version": 8, "sources": {}, "layers": [BACKGROUND]}


def view(said):
    """The middle of the bounds, at the zoom at which they are as wide as the picture."""
    west, south, east, north = (float(number) for number in said["bounds"].split(","))
    if east - west >= 360 and float(said["minzoom"]) > 1:
        # Over longitude 180: the middle of the whole width is on the other side of the world.
        longitude, latitude, _ = (float(number) for number in said["center"].split(","))
        return longitude, latitude, float(said["minzoom"])
    zoom = math.log2(360 / max(east - west, 1e-6))
    return (west + east) / 2, (south + north) / 2, max(float(said["minzoom"]), min(zoom, float(said["maxzoom"])))


def render(style, place):
    longitude, latitude, zoom = place
    with Map(json.dumps(style), SIZE, SIZE, 1, longitude, latitude, zoom) as drawn:
        return drawn.renderPNG(), bytes(drawn.renderBuffer())


def main(folder, *files):
    blank = 0
    for file in map(pathlib.Path, files):
        path = file.resolve()
        said = metadata(path)
        place = view(said)
        whole, empty = style(path, said)
        png, pixels = render(whole, place)
        _, ground = render(empty, place)
        (pathlib.Path(folder) / f"{file.name}.png").write_bytes(png)
        drawn = sum(pixels[i : i + 3] != ground[i : i + 3] for i in range(0, len(ground), 4))
        share = 100 * drawn / (SIZE * SIZE)
        print(f"  {file.name}: {share:.0f} % of the pixels drawn at {place[0]:.3f}, {place[1]:.3f}, zoom {place[2]:.1f}")
        blank += share < 1
    return 1 if blank else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
