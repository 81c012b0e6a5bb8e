"""Checks of files, tiles and devices: numbers 2, 3, 4 and 8 of ops/gateway-check."""
import gzip
import sqlite3
import subprocess

from acceptance import expect, wait
from gateway_site import Gateway, sha256


def curl(*words):
    return subprocess.run(["curl", "-sS", *map(str, words)], capture_output=True, text=True)


def resume(site):
    """A download that curl resumes while the gateway is killed three times has the digest of the catalog."""
    path, digest = site.file("EE")
    gateway = Gateway(site)
    target = site.folder / "resumed"
    expect(curl("-r", "0-65535", f"{gateway.url}/{path}", "-o", target).returncode == 0, "the first range failed")
    size = (site.catalog / path).stat().st_size
    for _ in range(3):
        before = target.stat().st_size
        # Slow enough that the download is under way when the gateway is killed, also with what the sockets hold.
        words = ["curl", "-sS", "--limit-rate", str(size // 40), "-C", "-", f"{gateway.url}/{path}", "-o", str(target)]
        download = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        try:
            download.wait(1.2)
        except subprocess.TimeoutExpired:
            pass
        gateway.kill()
        download.wait()
        expect(target.stat().st_size > before, "nothing arrived before the kill")
        gateway.start()
    expect(curl("-C", "-", f"{gateway.url}/{path}", "-o", target).returncode == 0, "the last part failed")
    expect(sha256(target.read_bytes()) == digest, "the resumed file has another digest")
    shown = gateway("HEAD", "/" + path).headers["repr-digest"]
    expect(shown.startswith("sha-256=:"), f"Repr-Digest is {shown}")
    gateway.kill()


def conditions(site):
    """HEAD, tags and ranges of a package get the statuses of the design."""
    path, digest = site.file("EE")
    url = f"{site.gateway.url}/{path}"
    tag = site.gateway("HEAD", "/" + path).headers["etag"]
    expect(digest in tag, f"the tag {tag} does not have the digest")
    size = (site.catalog / path).stat().st_size
    rows = [(["-I"], 200, None), (["-H", f'If-None-Match: "x", W/{tag}'], 304, None), (["-r", "-5"], 206, 5),
            (["-r", "99999999999-"], 416, None), (["-r", "0-9", "-H", 'If-Range: "old"'], 200, size), (["-r", "0-9", "-H", f"If-Range: {tag}"], 206, 10),
            (["-H", 'If-Match: "old"'], 412, None), (["-r", "0-1,5-6"], 206, None)]
    for options, status, length in rows:
        found = curl(*options, "-o", site.folder / "part", "-D", site.folder / "head", "-w", "%{http_code} %{size_download}", url).stdout.split()
        expect(int(found[0]) == status, f"curl {options} gave {found[0]}, not {status}")
        expect(length is None or int(found[1]) == length, f"curl {options} gave {found[1]} bytes, not {length}")
        if status == 416:
            head = (site.folder / "head").read_text().lower()
            expect(f"content-range: bytes */{size}" in head, f"416 without the size: {head}")


def install(site):
    """A device installs over two versions and takes the patch; `catalog verify` finds all files."""
    folder = site.folder / "published"
    folder.mkdir()
    (folder / "packages.json").write_text('{"packages":[]}')
    key = site.folder / "catalog.key"
    site.run("catalog", "keygen", key)
    for last in (7, 8):
        target = site.folder / f"LI-{last}.mbtiles"
        site.run("build", "LI", "--tileset", site.folder / "demo.yaml", "--zoom", f"0-{last}", "-o", target, "--progress", "none")
    import_words = ["--id", "LI", "--tileset", "demo", "--rewrite", "--signing-key", key, "--replace-area"]
    site.run("catalog", "import", folder, site.folder / "LI-7.mbtiles", *import_words)
    gateway = Gateway(_Folder(site, folder), "--metrics", "open")
    device = ["--store", site.folder / "device", "--catalog", gateway.url + "/", "--public-key", key.with_suffix(".pub")]
    site.run("device", "install", "LI", *device)
    site.run("catalog", "import", folder, site.folder / "LI-8.mbtiles", *import_words)
    site.run("catalog", "patch", folder, "--previous", "1", "--signing-key", key)
    wait("the new version at the gateway", lambda: b"packages/2/LI.mbtiles" in gateway.get("/catalog.json").body, 3)
    before = counter(gateway, "gateway_http_response_bytes_total", 'group="file"')
    site.run("device", "update", *device)
    sent = counter(gateway, "gateway_http_response_bytes_total", 'group="file"') - before
    whole = (folder / "packages" / "2" / "LI.mbtiles").stat().st_size
    patches = [path.stat().st_size for path in (folder / "patches").rglob("*.mbtiles")]
    expect(patches, "no patch was made")
    expect(sent in (whole, *patches), f"the update took {sent} bytes; the file has {whole}, the patch {patches}")
    expect(patches[0] > 0.7 * whole or sent == patches[0], "the device took the whole file although the patch pays")
    verified = site.call("catalog", "verify", gateway.url + "/", "--public-key", key.with_suffix(".pub"))
    expect(verified.returncode == 0, f"catalog verify: {verified.stderr}")
    gateway.kill()


class _Folder:
    """A site with another catalog."""

    def __init__(self, site, catalog):
        self.catalog, self.logs, self.tokens, self.start = catalog, site.logs, site.tokens, site.start


def counter(gateway, name, label):
    """The value of a sample of /metrics; 0 when it is missing."""
    text = gateway.get("/metrics", role="viewer" if gateway.site.tokens and "--tokens" in gateway.options else None).body.decode()
    for line in text.splitlines():
        if line.startswith(f"packhorse_{name}{{{label}}}"):
            return float(line.split()[-1])
    return 0


def tiles(site):
    """Every tile of a package equals what sqlite3 reads: 204 inside of the mask without a tile, 404 outside."""
    path, _ = site.file("EE")
    database = sqlite3.connect(f"file:{site.catalog / path}?immutable=1", uri=True)
    stored = {(z, x, 2**z - 1 - row): body for z, x, row, body in database.execute("SELECT * FROM tiles")}
    database.close()
    expect(len(stored) > 80, f"the package has {len(stored)} tiles only")
    document = site.gateway.get("/tiles/EE.json").json()
    pmtiles = "format=pmtiles"
    counts = {"found": 0, "outside": 0}
    for (z, x, y), body in stored.items():
        plain = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        for query in ("", "?" + pmtiles):
            answer = site.gateway.get(f"/tiles/EE@1/{z}/{x}/{y}{query}", Accept_Encoding="gzip")
            expect(answer.body in (body, plain), f"tile {z}/{x}/{y}{query} has other bytes")
        identity = site.gateway.get(f"/tiles/EE@1/{z}/{x}/{y}", Accept_Encoding="identity")
        expect(identity.body == plain and "content-encoding" not in identity.headers, f"tile {z}/{x}/{y} is not decompressed")
        counts["found"] += 1
        for neighbour in ((z, x + 40, y), (z, x, y + 40)):
            if neighbour not in stored and max(neighbour[1:]) < 2**z:
                status = site.gateway("GET", "/tiles/EE@1/{}/{}/{}".format(*neighbour)).status
                expect(status in (204, 404), f"tile {neighbour} gave {status}")
                counts["outside"] += status == 404
    expect(counts["outside"] > 0, "no tile was outside")
    expect(document["minzoom"] == 0 and document["maxzoom"] == 9, f"TileJSON has zooms {document['minzoom']}-{document['maxzoom']}")
    for wrong, status in (("/tiles/EE@1/5/99/0", 400), ("/tiles/XX/0/0/0", 404), ("/tiles/EE@9/0/0/0", 404)):
        site.gateway.get(wrong, status=status)


ALL = {2: resume, 3: conditions, 4: install, 8: tiles}
