#!/usr/bin/env python3
"""Draws a style that a server on this machine serves with the Mapbox GL engine inside Qt 5 (`PyQt5` of PyPI).

usage: qt_served.py STYLE LONGITUDE,LATITUDE,ZOOM FOLDER PICTURE.png     FOLDER is the engine's cache, which is empty

Needs a display (xvfb-run). Exit code 1 when the picture has fewer than four colours.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import qt_offline  # noqa: E402

# The other script has no network at all; this one asks the server of its argument.
for name in ("http_proxy", "https_proxy", "no_proxy"):
    os.environ.pop(name, None)


def main(style, place, folder, target):
    longitude, latitude, zoom = (float(number) for number in place.split(","))
    application = qt_offline.QGuiApplication(sys.argv[:1])
    picture, pixels = qt_offline.show(application, folder, (style, longitude, latitude, zoom))
    picture.save(target)
    colours = len({pixels[i : i + 3] for i in range(0, len(pixels), 4)})
    print(f"{colours} colours")
    if colours < 4:
        print(f"the picture has {colours} colours", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
