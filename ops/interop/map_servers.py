#!/usr/bin/env python3
"""Packhorse against real map servers: MapServer as a WMS, MapProxy as a WMTS.

usage: ops/interop/map_servers.py PACKHORSE FOLDER [PYTHON-OF-MAPPROXY]

MapServer is Debian's `mapserver-bin`, run for each request. Every tile of a package is compared with the picture that MapServer draws for a
box that is computed here. Exit code 1 when something differs. Python's standard library only.
"""
import http.server
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

MAPSERV = shutil.which("mapserv") or "/usr/lib/cgi-bin/mapserv"
HALF = math.pi * 6378137
MAP = """MAP
  NAME "demo" SIZE 256 256 EXTENT -20037508 -20037508 20037508 20037508 IMAGETYPE PNG
  PROJECTION "init=epsg:3857" END
  WEB METADATA
    "wms_title" "demo" "wms_onlineresource" "{url}/wms?" "wms_srs" "EPSG:3857 EPSG:4326" "wms_enable_request" "*"
  END END
  LAYER
    NAME "land" TYPE POLYGON STATUS ON
    PROJECTION "init=epsg:3857" END
    METADATA "wms_title" "land" END
    FEATURE POINTS 0 0 0 9000000 9000000 9000000 6000000 2000000 0 0 END END
    CLASS STYLE COLOR 200 80 40 END END
  END
END
"""
PROXY = """services:
  wmts:
    kvp: true
    restful: true
layers:
  - {{name: land, title: Land, tile_sources: [mercator]}}
  - {{name: plate, title: Plate, tile_sources: [geodetic]}}
caches:
  mercator: {{grids: [web], sources: [drawn], disable_storage: true}}
  geodetic: {{grids: [degrees], sources: [drawn], disable_storage: true}}
grids:
  web: {{base: GLOBAL_WEBMERCATOR, num_levels: 5}}
  degrees: {{base: GLOBAL_GEODETIC, origin: nw}}
sources:
  drawn: {{type: wms, supported_srs: ['EPSG:3857', 'EPSG:4326'], req: {{url: '{url}/wms', layers: land}}}}
"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        environment = dict(os.environ, REQUEST_METHOD="GET", QUERY_STRING=self.path.partition("?")[2], SCRIPT_NAME="/wms",
                           MS_MAPFILE=str(self.server.map), MAPSERVER_CONFIG_FILE=str(self.server.config))
        said = subprocess.run([MAPSERV], env=environment, stdout=subprocess.PIPE, check=False).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line)
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        self.send_header("Content-Type", fields.get("Content-Type", "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that is done closes its connections."""


def fail(text):
    print(f"FAILED: {text}")
    global failed
    failed = True


def packhorse(*words):
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)


def tiles(file):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        for zoom, column, row, body in database.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"):
            yield zoom, column, (1 << zoom) - 1 - row, body


def drawn(zoom, column, row):
    side = 2 * HALF / (1 << zoom)
    box = [column * side - HALF, HALF - (row + 1) * side, (column + 1) * side - HALF, HALF - row * side]
    query = {"SERVICE": "WMS", "VERSION": "1.1.1", "REQUEST": "GetMap", "LAYERS": "land", "STYLES": "", "SRS": "EPSG:3857",
             "FORMAT": "image/png", "WIDTH": 256, "HEIGHT": 256, "BBOX": ",".join(map(repr, box))}
    return urllib.request.urlopen(f"{url}/wms?{urllib.parse.urlencode(query)}", timeout=60).read()


def check_wms():
    for version, system in (("1.1.1", "srs"), ("1.3.0", "crs")):
        address = (f"{url}/wms?service=WMS&version={version}&request=GetMap&layers=land&{system}=EPSG:3857"
                   "&format=image/png&bbox={bbox-epsg-3857}")
        file = folder / f"wms-{version}.mbtiles"
        said = packhorse("build", "bbox(-20,-20,60,60)", "--zoom", "0-4", "--tileset", address, "-o", file, "--force", "--restart",
                         "--progress", "none")
        if said.returncode != 0:
            fail(f"WMS {version}: {said.stderr}")
            continue
        found = list(tiles(file))
        wrong = [tile[:3] for tile in found if tile[3] != drawn(*tile[:3])]
        if wrong or len({tile[3] for tile in found}) < 10:
            fail(f"WMS {version}: {len(found)} tiles, these are not what MapServer draws for their boxes: {wrong[:5]}")
        else:
            print(f"  WMS {version}: {len(found)} tiles are what MapServer draws for their boxes")
    for exceptions in ("", "&exceptions=application/vnd.ogc.se_inimage", "&exceptions=application/vnd.ogc.se_blank"):
        address = (f"{url}/wms?service=WMS&version=1.1.1&request=GetMap&layers=nothing&srs=EPSG:3857&format=image/png"
                   f"{exceptions}&bbox={{bbox-epsg-3857}}")
        said = packhorse("build", "bbox(-20,-20,60,60)", "--zoom", "0-4", "--tileset", address, "-o", folder / "no.mbtiles", "--force",
                         "--restart", "--progress", "none")
        if said.returncode == 0 or "LayerNotDefined" not in said.stderr:
            fail(f"a layer that is not there{exceptions}: exit code {said.returncode}, {said.stderr}")
        else:
            print(f"  a layer that is not there{exceptions}: its exception is quoted")


def check_wmts(python):
    config = folder / "mapproxy.yaml"
    config.write_text(PROXY.format(url=url))
    serve = ("import sys; from wsgiref.simple_server import make_server; from mapproxy.wsgiapp import make_wsgi_app; "
             "s = make_server('127.0.0.1', 0, make_wsgi_app(sys.argv[1])); print(s.server_port, flush=True); s.serve_forever()")
    proxy = subprocess.Popen([python, "-c", serve, str(config)], stdout=subprocess.PIPE, stderr=(folder / "mapproxy.log").open("wb"))
    try:
        port = proxy.stdout.readline().decode().strip()
        if not port:
            return fail(f"MapProxy does not serve: {(folder / 'mapproxy.log').read_text(errors='replace')[-600:]}")
        for address in (f"wmts:http://127.0.0.1:{port}/service#land", f"wmts:http://127.0.0.1:{port}/wmts/1.0.0/WMTSCapabilities.xml#land"):
            file = folder / "wmts.mbtiles"
            said = packhorse("build", "bbox(-20,-20,60,60)", "--tileset", address, "-o", file, "--force", "--restart", "--progress", "none")
            if said.returncode != 0:
                fail(f"{address}: {said.stderr}")
                continue
            found = list(tiles(file))
            deepest = max(tile[0] for tile in found)
            if deepest != 4 or len({tile[3] for tile in found}) < 10:
                fail(f"{address}: {len(found)} tiles to zoom {deepest}")
            else:
                print(f"  {address.rpartition('/')[2]}: {len(found)} tiles to zoom {deepest}")
        said = packhorse("estimate", "bbox(-20,-20,60,60)", "--tileset", f"wmts:http://127.0.0.1:{port}/service#plate")
        if said.returncode == 0 or "EPSG:4326" not in said.stderr or "'land'" not in said.stderr:
            fail(f"a grid of degrees: exit code {said.returncode}, {said.stderr}")
        else:
            print("  a grid of degrees is refused with its name, and the layer that has another is named")
    finally:
        proxy.terminate()
        proxy.wait(20)


failed = False
program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
folder.mkdir(parents=True, exist_ok=True)
server = Server(("127.0.0.1", 0), Handler)
url = f"http://127.0.0.1:{server.server_port}"
server.map, server.config = folder / "demo.map", folder / "mapserver.conf"
server.map.write_text(MAP.format(url=url))
server.config.write_text('CONFIG\n  ENV\n    MS_MAP_PATTERN "."\n  END\nEND\n')
threading.Thread(target=server.serve_forever, daemon=True).start()
try:
    check_wms()
    if len(sys.argv) > 3:
        check_wmts(sys.argv[3])
finally:
    server.shutdown()
sys.exit(1 if failed else 0)
