"""What the example values of the guides stand for when ops/guides/run executes them.

Only this table changes a command. The first match of a longer text comes first.
"""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def replacements(tiles, files, maps, bucket, s3, ports, folder):
    """Pairs of texts: what a guide says, and what is run.

    tiles: URL of the demo world. files: URL of a web server for archives and catalogs. maps: URL of map_service.py. bucket, s3: a bucket and prefix of a test server,
    and its URL. ports: of the coordinator for commands, workers, blobs, of a device, of a gateway, and of metrics. folder: the scratch
    folder.
    """
    control, work, blobs, device, gateway, metrics = ports
    return [
        # Hosts
        ("https://tiles.example.com/terrain/", f"{files}/terrain/"),
        ("https://tiles.example.com/planet.pmtiles", f"{files}/planet.pmtiles"),
        ("https://tiles.example.com/mlt/", f"{maps}/mlt/"),
        ("https://tiles.example.com/streets/", f"{tiles}/tiles/"),
        ("https://tiles.example.com/hills/", f"{tiles}/tiles/"),
        ("https://tiles.example.com", tiles),
        ("tiles.example.com", tiles.removeprefix("http://")),
        ("https://maps.example.com", files),
        ("https://wms.example.com", maps),
        ("coordinator.example.com", "127.0.0.1"),
        # Ports that a second test may use at the same time
        (":7470", f":{control}"),
        (":7471", f":{work}"),
        (":7472", f":{blobs}"),
        ("8091", f"{device}"),
        (":7480", f":{gateway}"),
        (":9470", f":{metrics}"),
        # Folders of the system
        ("/srv/", f"{folder}/srv/"),
        ("/var/tmp/", f"{folder}/tmp/"),
        # A bucket, and its secrets
        ("https://s3.example.org", s3),
        ("s3://maps/", f"s3://{bucket}/maps/"),
        ("s3://tiles/", f"s3://{bucket}/tiles/"),
        ("AWS_ACCESS_KEY_ID=…", "AWS_ACCESS_KEY_ID=test:tester"),
        ("AWS_SECRET_ACCESS_KEY=…", "AWS_SECRET_ACCESS_KEY=testing"),
        # Time: the same commands with 500 times fewer tiles
        ("zoom: 0-14", "zoom: 0-9"),
        ("--zoom 0-13", "--zoom 0-8"),
        ("requests_per_second: 100", "requests_per_second: 1000"),
    ]


# What a guide takes as given, as commands that run before it in the same shell. All files that blocks of data define exist too.
PLANET = """
packhorse build 'bbox(5,45,30,61)' --tileset tiles.yaml -o planet.mbtiles
packhorse convert planet.mbtiles --format pmtiles -o www/
"""
# MapLibre tiles of Estonia, pictures in AVIF, and heights of which one of the deeper archives exists.
FORMATS = f"""
python3 {HERE}/tiles.py mlt streets-mlt.mbtiles
python3 {HERE}/tiles.py avif photos-avif.mbtiles
mkdir -p www/terrain
python3 {HERE}/tiles.py dem planet-dem.mbtiles 0 12
python3 {HERE}/tiles.py dem cell-dem.mbtiles 13 16
packhorse convert planet-dem.mbtiles --format pmtiles -o www/terrain/planet.pmtiles
packhorse convert cell-dem.mbtiles --format pmtiles -o www/terrain/6-36-18.pmtiles
python3 {HERE}/tiles.py index www/terrain
"""
CLUSTER = """
packhorse coordinator --data ./data &
packhorse worker --blobs ./data/blobs --name worker-1 &
until packhorse health --workers 1; do sleep 0.1; done
"""
# The same planet under an address with today's date, and an index of builds.
NEWEST = """
mkdir -p www/planet
cp www/planet.pmtiles "www/planet/$(date -u +%Y%m%d).pmtiles"
printf '[{"key":"%s.pmtiles","size":%s,"version":"4.15.2"}]' "$(date -u +%Y%m%d)" "$(stat -c %s www/planet.pmtiles)" > www/planet/builds.json
"""
CATALOG = """
packhorse catalog keygen keys/catalog.key
packhorse coordinator --data ./published --signing-key keys/catalog.key &
packhorse worker --blobs ./published/blobs &
packhorse submit EE LV --tileset tiles.yaml --tile-packs --wait
packhorse style-pack https://tiles.example.com/style.json -o style
packhorse catalog style ./published/catalog style --id streets --signing-key keys/catalog.key
packhorse catalog push ./published/catalog www/offline
"""
# A few tiles of one grey, as an aerial photo would be.
PHOTOS = """
python3 - <<'END'
import sqlite3, struct, zlib
def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
head = struct.pack(">IIBBBBB", 256, 256, 8, 0, 0, 0, 0)
pixels = zlib.compress((bytes([0]) + bytes([128]) * 256) * 256)
tile = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
database = sqlite3.connect("photos.mbtiles")
database.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
database.executemany("INSERT INTO metadata VALUES (?, ?)", [("name", "Photos"), ("format", "png")])
database.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
places = [(zoom, x, y, tile) for zoom in range(4) for x in range(2**zoom) for y in range(2**zoom)]
database.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", places)
database.execute("CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row)")
database.commit()
END
"""
VERSIONS = """
packhorse build EE --tileset tiles.yaml --zoom 0-8 -o old/EE.mbtiles
packhorse build EE --tileset tiles.yaml -o new/EE.mbtiles
packhorse convert old/EE.mbtiles -o old/EE.pmtiles
packhorse convert new/EE.mbtiles -o new/EE.pmtiles
"""
# A catalog, and what the guide attaches to its map.
COMPANIONS = """
packhorse catalog keygen keys/catalog.key
packhorse coordinator --data ./published --signing-key keys/catalog.key &
packhorse worker --blobs ./published/blobs &
packhorse submit EE --tileset tiles.yaml --wait
mkdir -p segments www
head -c 100000 /dev/zero > EE.vtiles
head -c 50000 /dev/zero > segments/E5_N45.rd5
"""
# A catalog with PMTiles on a web server, and the programs of the guide.
PROGRAMS = f"""
packhorse catalog keygen keys/catalog.key
packhorse coordinator --data ./published --signing-key keys/catalog.key &
packhorse worker --blobs ./published/blobs &
packhorse submit EE --tileset tiles.yaml --format mbtiles,pmtiles --wait
packhorse catalog push ./published/catalog www/offline
cp -r {HERE.parent.parent}/docs/examples/any-language .
# python3-cryptography belongs to Debian's Python.
PATH="/usr/bin:$PATH"
"""
GIVEN = {
    "docs/any-language.md": PROGRAMS,
    "README.md": PLANET,
    "docs/getting-started.md": PLANET,
    "docs/tilesets.md": PLANET + FORMATS + NEWEST,
    "docs/newest-planet.md": PLANET + NEWEST + CLUSTER,
    "docs/areas-and-packages.md": CLUSTER + PHOTOS,
    "docs/devices.md": CATALOG,
    "docs/offline-maps.md": CATALOG,
    "docs/gateway.md": CLUSTER + "packhorse submit EE --tileset tiles.yaml --wait\n",
    "docs/companion-files.md": COMPANIONS,
    "docs/maplibre.md": "packhorse build EE --tileset tiles.yaml\n",
    "docs/publishing.md": VERSIONS + "packhorse style-pack https://tiles.example.com/style.json -o style\n",
    "docs/rebuilds-and-patches.md": CLUSTER + VERSIONS,
    "docs/operating/backup.md": CLUSTER + "packhorse submit EE --tileset tiles.yaml --wait\n",
    "docs/operating/upgrades.md": CLUSTER,
    "docs/operating/monitoring.md": CLUSTER + "packhorse submit EE --tileset tiles.yaml --wait\n",
}
