"""What one would pick instead: programs from Debian and PyPI, each told to take the same tree into one file."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import process

MAPCACHE = """<?xml version="1.0" encoding="UTF-8"?>
<mapcache>
  <cache name="origin" type="rest"><url>{base}/{name}/{{z}}/{{x}}/{{inv_y}}.{ext}</url></cache>
  <cache name="file" type="{type}"><dbfile>{out}</dbfile><pragma name="synchronous">OFF</pragma></cache>
  <source name="none" type="dummy"/>
  {format}
  <tileset name="from"><cache>origin</cache><grid>GoogleMapsCompatible</grid><format>{kind}</format><metatile>1 1</metatile><source>none</source></tileset>
  <tileset name="to"><cache>file</cache><grid>GoogleMapsCompatible</grid><format>{kind}</format><metatile>1 1</metatile><source>none</source></tileset>
  <errors>report</errors><lock_dir>{run}</lock_dir>
</mapcache>
"""
VECTOR = '<format name="MVT" type="RAW"><extension>pbf</extension><mime_type>application/x-protobuf</mime_type></format>'

MAPPROXY = """
services: {{ demo: }}
sources: {{ origin: {{ type: tile, grid: web, url: "{base}/{name}/%(z)s/%(x)s/%(y)s.png", transparent: false }} }}
grids: {{ web: {{ base: GLOBAL_WEBMERCATOR, origin: nw }} }}
caches:
  kept: {{ grids: [web], sources: [origin], format: image/png, meta_size: [1, 1], meta_buffer: 0, cache: {{ type: mbtiles, filename: {out} }} }}
layers: [ {{ name: all, title: all, sources: [kept] }} ]
globals: {{ cache: {{ base_dir: "{run}/cache", lock_dir: "{run}/locks" }}, image: {{ paletted: false }}, http: {{ client_timeout: 60 }} }}
"""
SEED = """
seeds: {{ all: {{ caches: [kept], grids: [web], coverages: [area], levels: {{ from: 0, to: 14 }} }} }}
coverages: {{ area: {{ bbox: [{bbox}], srs: 'EPSG:3857' }} }}
"""
LANDEZ = """
import json, sys
from landez import MBTilesBuilder
m = json.load(open(sys.argv[1]))
b = MBTilesBuilder(cache=False, tiles_url=sys.argv[2], filepath=sys.argv[3], tmp_dir=sys.argv[4])
b.add_coverage(bbox=m["bbox"], zoomlevels=list(range(15)))
b.run(force=True)
"""


class Peers:
    """The peers that are installed; the others are named with the reason."""

    def __init__(self, run, venv):
        self.run, self.venv = run, venv
        os.makedirs(run, exist_ok=True)

    def missing(self):
        have = {"mapcache_seed": shutil.which("mapcache_seed"), "curl": shutil.which("curl"),
                "mapproxy-seed": os.path.exists(f"{self.venv}/bin/mapproxy-seed"),
                "landez": os.path.exists(f"{self.venv}/bin/mb-util")}
        return [name for name, found in have.items() if not found]

    def fresh(self, name):
        path = f"{self.run}/{name}"
        for suffix in ("", "-journal", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        return path

    def mapcache(self, manifest, base, kind="sqlite3"):
        """Into `sqlite3`, a table of its own that no reader of packages knows and its fastest, or into `mbtiles`."""
        is_vector = manifest["kind"] == "vector"
        out = self.fresh(f"mapcache.{kind}")
        with open(f"{self.run}/mapcache.xml", "w") as file:
            file.write(MAPCACHE.format(base=base, out=out, type=kind, run=self.run, format=VECTOR if is_vector else "",
                                       kind="MVT" if is_vector else "PNG", name=manifest["name"],
                                       ext=manifest["ext"]))
        area = ",".join(f"{v:.3f}" for v in manifest["bbox_3857"])
        cost = process.run("mapcache_seed", "mapcache_seed", "-c", f"{self.run}/mapcache.xml", "-m", "transfer", "-x", "to",
                           "-t", "from", "-g", "GoogleMapsCompatible", "-z", "0,14", "-e", area, "-n", "4", "-q", "-P", "100")
        return self.whole(cost, out, manifest)

    @staticmethod
    def whole(cost, out, manifest):
        """The cost of a file that holds all tiles: these programs exit 0 whatever they have stored."""
        with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as database:
            (count,) = database.execute("SELECT count(*) FROM tiles").fetchone()
        if count != manifest["tiles"]:
            raise RuntimeError(f"{out} has {count} of {manifest['tiles']} tiles")
        return cost

    def mapproxy(self, manifest, base):
        out = self.fresh("mapproxy.mbtiles")
        for folder in ("cache", "locks"):
            shutil.rmtree(f"{self.run}/{folder}", ignore_errors=True)
        with open(f"{self.run}/mapproxy.yaml", "w") as file:
            file.write(MAPPROXY.format(base=base, out=out, run=self.run, name=manifest["name"]))
        with open(f"{self.run}/seed.yaml", "w") as file:
            file.write(SEED.format(bbox=",".join(f"{v:.3f}" for v in manifest["bbox_3857"])))
        cost = process.run("mapproxy-seed", f"{self.venv}/bin/mapproxy-seed", "-f", f"{self.run}/mapproxy.yaml", "-s",
                           f"{self.run}/seed.yaml", "-c", "2", "--quiet", "--quiet", cwd=self.run)
        return self.whole(cost, out, manifest)

    def landez(self, manifest, base):
        out = self.fresh("landez.mbtiles")
        url = f"{base}/{manifest['name']}/{{z}}/{{x}}/{{y}}.{manifest['ext']}"
        with open(f"{self.run}/manifest.json", "w") as file:
            json.dump(manifest, file)
        cost = process.run("landez", f"{self.venv}/bin/python", "-c", LANDEZ, f"{self.run}/manifest.json", url, out,
                           f"{self.run}/landez")
        return self.whole(cost, out, manifest)

    def curl(self, manifest, base, tree):
        config = f"{self.run}/urls.curl"
        with open(f"{tree}/list.txt") as names, open(config, "w") as file:
            for name in names:
                url = f"{base}/{manifest['name']}/{name.strip()}.{manifest['ext']}"
                file.write(f'url = "{url}"\noutput = "/dev/null"\n')
        return process.run("curl", "curl", "-s", "--parallel", "--parallel-max", "64", "-K", config)


def install_packages():
    """Installs the Debian packages that the floors and peers need; says what cannot be installed."""
    debian = ["mapcache-tools", "libnginx-mod-http-echo", "libcurl4-openssl-dev", "libsqlite3-dev", "libdeflate-dev",
              "libxxhash-dev", "gcc", "curl", "nginx"]
    have = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n", *debian], capture_output=True,
                          text=True).stdout.split("\n")
    wanted = [p for p in debian if f"installed {p}" not in have]
    if wanted:
        root = [] if os.geteuid() == 0 else ["sudo"]
        done = subprocess.run([*root, "apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted],
                              stdout=subprocess.DEVNULL)
        if done.returncode:
            print(f"bench: could not install {' '.join(wanted)}", file=sys.stderr)


def install(venv):
    """Installs what can be installed; says what cannot."""
    install_packages()
    if not os.path.exists(f"{venv}/bin/mapproxy-seed"):
        for words in ([sys.executable, "-m", "venv", venv],
                      [f"{venv}/bin/pip", "install", "-q", "MapProxy==7.0.0", "landez==2.5.1"]):
            if subprocess.run(words).returncode:
                print(f"bench: {' '.join(words)} failed; peers from PyPI are left out", file=sys.stderr)
                return
