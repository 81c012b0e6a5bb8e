#!/usr/bin/env python3
"""Compares the tiles of files with areas with those of the same files after ogr2ogr has read them.

usage: ogr_areas.py PACKHORSE FOLDER [COUNT]

COUNT (default 20) random areas are written as GPX, KML, KMZ, a GeoJSON sequence and WKT. Packhorse reads each file itself, and ogr2ogr makes GeoJSON
of it. ogr2ogr also writes each area as a shapefile, GeoPackage and FlatGeobuf in other reference systems, and reads what
`packhorse regions show --geojson` writes. Exit code 1 when tiles differ. Python's standard library only.
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import zipfile

ZOOM = 13
# Metres of the whole world, of Estonia, and of its zone.
SYSTEMS = ["EPSG:4326", "EPSG:3857", "EPSG:3301", "EPSG:32635"]
DRIVERS = {"shp": "ESRI Shapefile", "gpkg": "GPKG", "fgb": "FlatGeobuf"}


def ring(rng):
    """A ring in and around Estonia that does not cross itself."""
    centre = rng.uniform(22.5, 27.5), rng.uniform(58, 59.4)
    angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(rng.randint(5, 40)))
    places = [(round(centre[0] + 0.3 * rng.uniform(0.3, 1) * math.cos(a), 7), round(centre[1] + 0.15 * rng.uniform(0.3, 1) * math.sin(a), 7)) for a in angles]
    return places + places[:1]


def write(folder, name, places):
    """The files of one area, each with the layer and options by which ogr2ogr reads it; the line of a GPX is the ring."""
    polygon = {"type": "Polygon", "coordinates": [places]}
    text = " ".join(f"{x},{y},0" for x, y in places)
    kml = ("<kml xmlns='http://www.opengis.net/kml/2.2'><Document><Placemark><name>a</name><Polygon><outerBoundaryIs><LinearRing>"
           f"<coordinates>{text}</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark></Document></kml>")
    wkt = "POLYGON((" + ",".join(f"{x} {y}" for x, y in places) + "))"
    points = "".join(f'<trkpt lat="{y}" lon="{x}"/>' for x, y in places)
    files = {
        "geojson": json.dumps(polygon),
        "gpx": f'<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>',
        "kml": kml,
        "geojsonl": "".join(json.dumps({"type": "Feature", "properties": {"n": n}, "geometry": polygon}) + "\n" for n in range(2)),
        "wkt": f"SRID=4326;{wkt}",
    }
    for ending, content in files.items():
        (folder / f"{name}.{ending}").write_text(content)
    with zipfile.ZipFile(folder / f"{name}.kmz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("doc.kml", kml)
    # ogr2ogr reads well-known text as a column of a table.
    (folder / f"{name}.csv").write_text(f'id,WKT\n1,"{wkt}"\n')
    system = ["-t_srs", "EPSG:4326"]
    return {"gpx": ("gpx", system, ["tracks"]), "kml": ("kml", system, []), "kmz": ("kmz", system, []), "geojsonl": ("geojsonl", system, []),
            "wkt": ("csv", ["-oo", "GEOM_POSSIBLE_NAMES=WKT", "-a_srs", "EPSG:4326"], [])}


def ogr(*words):
    said = subprocess.run(["ogr2ogr", *map(str, words)], capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"ogr2ogr {' '.join(map(str, words))}: {said.stderr}")


def tiles(*words):
    said = subprocess.run([program, "mask", *map(str, words), "--zoom", str(ZOOM), "--format", "tiles"], capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"packhorse mask {' '.join(map(str, words))}: {said.stderr}")
    return set(said.stdout.split())


def compare(name, found, wanted):
    global compared, wrong
    compared += 1
    if found != wanted or not wanted:
        wrong += 1
        print(f"FAILED: {name}: {len(found)} tiles, {len(wanted - found)} missing, {len(found - wanted)} too many", file=sys.stderr)


program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
folder.mkdir(parents=True, exist_ok=True)
for old in folder.iterdir():
    old.unlink()
compared = wrong = 0
for number in range(count):
    name = f"a{number}"
    for ending, (source, options, layers) in write(folder, name, ring(random.Random(number))).items():
        made = folder / f"{name}-{ending}.geojson"
        ogr("-f", "GeoJSON", "-lco", "COORDINATE_PRECISION=12", *options, made, folder / f"{name}.{source}", *layers)
        compare(f"{name}.{ending}", tiles("--area", folder / f"{name}.{ending}"), tiles("--area", made))
    system = SYSTEMS[number % len(SYSTEMS)]
    wanted = tiles("--area", folder / f"{name}.geojson")
    for ending, driver in DRIVERS.items():
        made = folder / f"{name}-{system[5:]}.{ending}"
        ogr("-f", driver, "-s_srs", "EPSG:4326", "-t_srs", system, made, folder / f"{name}.geojson")
        compare(made.name, tiles("--area", made), wanted)
for region in ("EE", "NO", "FJ"):
    boundary, made = folder / f"{region}.geojson", folder / f"{region}-ogr.geojson"
    boundary.write_text(subprocess.run([program, "regions", "show", region, "--geojson"], capture_output=True, text=True, check=True).stdout)
    ogr("-f", "GeoJSON", "-lco", "COORDINATE_PRECISION=12", made, boundary)
    compare(boundary.name, tiles("--area", made), tiles(region))
print(f"ogr2ogr: {compared} files of {count} areas and 3 regions, {wrong} with other tiles")
sys.exit(1 if wrong else 0)
