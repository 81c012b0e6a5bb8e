"""Checks with the rules of CARTO's client: numbers 5, 6 and 7 of ops/gateway-check."""
import sqlite3
import time

from acceptance import Skip, expect, wait
from carto_client import CartoClient, PackageError
from gateway_site import sha256
from web_proxy import Nginx, proxy


def client_of_packages(site):
    """CARTO's client lists, downloads, pauses, goes on and upgrades; 402, 403 and 406 become its errors."""
    client = CartoClient(f"{site.gateway.url}/carto/demo/packages.json", site.folder / "carto-5")
    client.load_list()
    expect({"EE", "LI"} <= set(client.packages), f"the list has {sorted(client.packages)}")
    expect(client.download("EE", stop_after=20_000) is False, "the pause came too late")
    expect(client.download("EE"), "EE did not go on")
    start = client.requests[-1][1]
    expect(start >= 20_000, f"the download went on at {start}")
    _, digest = site.file("EE")
    expect(sha256(client.file("EE", client.installed["EE"]).read_bytes()) == digest, "EE has another digest")
    database = sqlite3.connect(client.file("EE", client.installed["EE"]))
    expect(database.execute("SELECT count(*) FROM tiles").fetchone()[0] > 80, "EE has few tiles")
    database.close()
    # A token without the tileset gives 403, one with a spent quota 402, a box that is too big 406.
    limited, spent = site.make_token("limited", "client"), site.make_token("spent", "client")
    limit(site, "limited", "tilesets: other")
    limit(site, "spent", "bytes_per_day: 1")
    box = f"{site.gateway.url}/carto/demo/{{tilemask}}.mbtiles"
    small, whole_world = mask(site, "24.70,59.40,24.72,59.41"), "QAAA"
    for token, text, error in ((limited, small, "NO_OFFLINE_PLAN"), (None, whole_world, "PACKAGE_TOO_BIG")):
        rejected(client, box + (f"?appToken={token}" if token else ""), text, error)
    expect(client.download_box(f"{box}?appToken={spent}", small, "bbox-first"), "the first download of the day was refused")
    rejected(client, f"{box}?appToken={spent}", small, "DOWNLOAD_LIMIT_EXCEEDED")


def rejected(client, url, text, error):
    try:
        client.download_box(url, text, "bbox-wrong")
    except PackageError as found:
        expect(str(found) == error, f"{url} gave {found}, not {error}")
    else:
        expect(False, f"{url} was served instead of {error}")


def limit(site, name, line):
    with (site.token_folder / f"{name}.token").open("a") as file:
        file.write(line + "\n")
    time.sleep(2.1)  # a change takes effect within two seconds


def mask(site, box):
    """The mask of a box as the SDK writes it into an address."""
    return site.run("mask", f"bbox({box})", "--zoom", "10", "--format", "url").stdout.strip().partition(":")[0]


def box_through_nginx(site):
    """A box that takes long is held through nginx, has the bytes of a submission, and makes one job."""
    if not Nginx.is_there():
        raise Skip("nginx is not installed")
    text = mask(site, "24.5,59.3,25.0,59.5")
    gateway = site.make_gateway("--trusted-proxy", "127.0.0.1")
    front = Nginx(site.folder / "nginx", proxy(gateway.port, read_timeout=20))
    jobs = len(site.gateway.get("/v1/jobs?limit=500", role="viewer").json()["jobs"])
    client = CartoClient(f"{front.url}/carto/crawling/packages.json", site.folder / "carto-6")
    expect(client.download_box(f"{front.url}/carto/crawling/{{tilemask}}.mbtiles", text, "box"), "the held request did not end")
    body = client.file("box", 1).read_bytes()
    expect(body.startswith(b"SQLite format 3\0"), "the file is no database")
    began = time.monotonic()
    other = CartoClient("", site.folder / "carto-6b")
    expect(other.download_box(f"{front.url}/carto/crawling/{{tilemask}}.mbtiles", text, "box"), "the second request failed")
    expect(time.monotonic() - began < 1, "the second request took more than a second")
    expect(other.file("box", 1).read_bytes() == body, "the second request has other bytes")
    after = site.gateway.get("/v1/jobs?limit=500", role="viewer").json()["jobs"]
    expect(len(after) == jobs + 1, f"{len(after) - jobs} jobs were made")
    front.stop()
    gateway.kill()


def version_change(site):
    """A package becomes version 2 while the client pauses: it ends with all of version 2 and no mix."""
    client = CartoClient(f"{site.gateway.url}/carto/demo/packages.json", site.folder / "carto-7")
    client.load_list()
    old = client.packages["LI"]
    expect(client.download("LI", stop_after=4_000) is False, "the pause came too late")
    job = site.gateway.submit("demo", {"regions": ["LI"]}, zooms="0-10", formats=["pmtiles"])
    site.gateway.wait_for_job(job)
    path, digest = wait("version 2 in the list", lambda: newer(site, old), 10)
    client.load_list()
    expect(int(client.packages["LI"]["version"]) == 2, f"the list has version {client.packages['LI']['version']}")
    expect(client.download("LI"), "version 2 was not installed")
    expect(sha256(client.file("LI", 2).read_bytes()) == digest, "the installed file is not version 2")
    # The old address stays, with its bytes.
    status = site.gateway("GET", "/packages/1/LI.mbtiles", Range="bytes=4000-").status
    expect(status == 206, f"the old version gave {status}")


def newer(site, old):
    path, digest = site.file("LI")
    return (path, digest) if f"/{path}" not in old["url"] else None


ALL = {5: client_of_packages, 6: box_through_nginx, 7: version_change}
