#!/usr/bin/env python3
"""Renders MBTiles files with MapLibre Native (`pymgl` of PyPI) and looks whether there is anything in the picture.

usage: pymgl_render.py FOLDER FILE.mbtiles...     pictures go to FOLDER

The style has every vector layer of the file as area, line and point; a raster file has one layer; of heights (a file whose metadata have an
`encoding`) a hillshade is drawn, over the deepest tiles. The same style without those layers is rendered too: at least one pixel in a hundred must
differ. A hillshade has at least 16 different colours, and is another one when the file says the other encoding. A
MapLibre Native that does not know MapLibre tiles is named. Exit code 1 when a picture is blank, or a hillshade is flat.
"""

import contextlib
import json
import math
import pathlib
import shutil
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
    if said["format"] in ("pbf", "mbvt", "mlt"):
        source = {"type": "vector", "url": f"mbtiles://{path}"}
        if said["format"] == "mlt":
            source["encoding"] = "mlt"
        layers = []
        for index, layer in enumerate(json.loads(said["json"])["vector_layers"]):
            name, common = layer["id"], {"source": "package", "source-layer": layer["id"]}
            color = f"hsl({index * 67 % 360}, 70%, 50%)"
            layers += [
                {"id": f"{name}-area", "type": "fill", "paint": {"fill-color": color, "fill-opacity": 0.4}, **common},
                {"id": f"{name}-line", "type": "line", "paint": {"line-color": color}, **common},
                {"id": f"{name}-point", "type": "circle", "paint": {"circle-color": color}, **common},
            ]
    elif said.get("encoding") in ("terrarium", "mapbox"):
        # Encoding and size come from the file.
        source = {"type": "raster-dem", "url": f"mbtiles://{path}"}
        layers = [{"id": "shade", "type": "hillshade", "source": "package"}]
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
    if "encoding" in said:
        zoom = float(said["maxzoom"]) - 1
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
        try:
            png, pixels = render(whole, place)
        except RuntimeError as error:
            if said["format"] != "mlt" or "tag" not in str(error):
                raise
            print(f"  skipped {file.name}: this MapLibre Native does not know MapLibre tiles ({error})")
            continue
        _, ground = render(empty, place)
        (pathlib.Path(folder) / f"{file.name}.png").write_bytes(png)
        drawn = sum(pixels[i : i + 3] != ground[i : i + 3] for i in range(0, len(ground), 4))
        share = 100 * drawn / (SIZE * SIZE)
        print(f"  {file.name}: {share:.0f} % of the pixels drawn at {place[0]:.3f}, {place[1]:.3f}, zoom {place[2]:.1f}")
        blank += share < 1
        if "encoding" in said:
            colours = len({pixels[i : i + 3] for i in range(0, len(pixels), 4)})
            print(f"    a hillshade with {colours} colours")
            blank += colours < 16
            # A copy that says the other encoding is another landscape; this MapLibre Native asks the file and not the style.
            other = pathlib.Path(folder) / f"other-{file.name}"
            shutil.copy(file, other)
            with contextlib.closing(sqlite3.connect(other)) as database, database:
                database.execute("UPDATE metadata SET value = iif(value = 'mapbox', 'terrarium', 'mapbox') WHERE name = 'encoding'")
            _, wrong = render(style(other, said)[0], place)
            other.unlink()
            if sum(pixels[i : i + 3] != wrong[i : i + 3] for i in range(0, len(pixels), 4)) < SIZE * SIZE // 10:
                print("    the encoding of the file was not used")
                blank += 1
    return 1 if blank else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
