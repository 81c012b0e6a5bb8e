#!/usr/bin/env python3
"""A map service for the guides: a WMS, a WMTS and a tile service in the form of ArcGIS, whose every picture is one grey square, and a server
of MapLibre tiles.

usage: ops/guides/map_service.py   prints `ready http://127.0.0.1:PORT` and serves until it is ended

Python's standard library only.
"""
import http.server
import json
import struct
import urllib.parse
import zlib

import tiles

HALF = 20037508.342789244


def png(size):
    """A grey picture."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + b"\x99" * size) * size
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


PICTURE = png(256)


def capabilities(address):
    """A WMTS with one layer in the usual grid."""
    matrices = "".join(
        f"<TileMatrix><ows:Identifier>{zoom}</ows:Identifier><ScaleDenominator>{559082264.0287178 / 2 ** zoom!r}</ScaleDenominator>"
        f"<TopLeftCorner>-{HALF} {HALF}</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix>"
        for zoom in range(11))
    return (f'<?xml version="1.0"?><Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1">'
            f'<Contents><Layer><ows:Title>Ortho</ows:Title><ows:Identifier>ortho</ows:Identifier>'
            f'<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style><Format>image/png</Format>'
            f'<TileMatrixSetLink><TileMatrixSet>GoogleMapsCompatible</TileMatrixSet></TileMatrixSetLink>'
            f'<ResourceURL format="image/png" resourceType="tile" '
            f'template="{address}/wmts/{{TileMatrixSet}}/{{TileMatrix}}/{{TileRow}}/{{TileCol}}.png"/></Layer>'
            f'<TileMatrixSet><ows:Identifier>GoogleMapsCompatible</ows:Identifier>'
            f'<ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>{matrices}</TileMatrixSet></Contents></Capabilities>').encode()


def service():
    """The description of a MapServer."""
    levels = [{"level": zoom, "resolution": 156543.03392800014 / 2 ** zoom} for zoom in range(11)]
    return json.dumps({"mapName": "Relief", "tileInfo": {
        "rows": 256, "cols": 256, "format": "PNG", "origin": {"x": -20037508.342787, "y": 20037508.342787},
        "spatialReference": {"wkid": 102100, "latestWkid": 3857}, "lods": levels}}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        values = {name.lower(): value for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True)}
        kind, body = "image/png", PICTURE
        if path.startswith("/mlt/"):
            kind, body = "application/vnd.maplibre-tile", tiles.mlt(path.encode())
        elif values.get("request") == "GetCapabilities":
            kind, body = "text/xml", capabilities(f"http://{self.headers['Host']}")
        elif values.get("f") == "json":
            kind, body = "application/json", service()
        elif values.get("request") == "GetMap" and not {"bbox", "styles", "width", "height"} <= values.keys():
            kind, body = "text/xml", b"<ServiceExceptionReport><ServiceException>a parameter is missing</ServiceException></ServiceExceptionReport>"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"ready http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
