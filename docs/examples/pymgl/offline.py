#!/usr/bin/env python3
"""Draws a map of a store with MapLibre Native (`python3 -m venv venv && venv/bin/pip install pymgl`).

usage: offline.py STYLE LONGITUDE,LATITUDE,ZOOM PICTURE.png

STYLE is an address of `packhorse device serve`, such as http://127.0.0.1:8080/styles/streets.json.
"""
import sys
import urllib.request

from pymgl import Map

SIZE = 512


def main(address, place, picture):
    longitude, latitude, zoom = (float(number) for number in place.split(","))
    with urllib.request.urlopen(address, timeout=10) as answer:
        style = answer.read().decode()
    with Map(style, SIZE, SIZE, 1, longitude, latitude, zoom) as drawn:
        with open(picture, "wb") as file:
            file.write(drawn.renderPNG())


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
