"""The row of bench-gateway about the first map: the page and everything that it asks for, next to the same files from nginx."""
import gzip
import json
import pathlib
import statistics
import subprocess
import urllib.parse

from acceptance import Skip, expect
from checks_load import environment
from gateway_rows import ROOT, row
from web_proxy import Nginx

HERE = pathlib.Path(__file__).resolve().parent
VIEW = "package/EE"
# Loads of each; a median of fewer says little.
LEAST = 7


class MapRows:
    """Parts that use the site of a GatewayBench."""

    def __init__(self, bench):
        self.bench, self.site = bench, bench.site

    def first_map(self):
        """From the navigation to the map of a package that MapLibre has drawn, without anything in the browser's cache."""
        library = subprocess.run([ROOT / "ops/web-lib", self.bench.folder / "web-lib"], capture_output=True, text=True)
        if library.returncode != 0:
            raise Skip(library.stderr.strip())
        python = environment(self.site, "playwright==1.65.2")
        gateway = self.site.make_gateway("--web-lib", self.bench.folder / "web-lib")
        try:
            paths = self.browse(python, "files", gateway.url)
            size, lines = copy_answers(gateway, paths, self.bench.folder / "first-map")
            server = Nginx(self.bench.folder / "first-map-nginx", lines)
            try:
                ours, theirs = self.browse(python, str(max(LEAST, 3 * self.bench.rounds)), gateway.url, server.url)
            finally:
                server.stop()
        finally:
            gateway.kill()
        a, b = statistics.median(ours), statistics.median(theirs)
        spread = " and ".join(f"{min(one):.0f} to {max(one):.0f}" for one in (ours, theirs))
        yield row("first map drawn ÷ the same files from nginx", a / b, "×", 1.5, False,
                  f"{a:.0f} and {b:.0f} ms, medians of {len(ours)} ({spread}); {len(paths)} files, {size // 1000} kB")

    @staticmethod
    def browse(python, what, *urls):
        done = subprocess.run([python, HERE / "first_map.py", what, VIEW, *urls], capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr[-300:])
        return json.loads(done.stdout)


def copy_answers(gateway, paths, folder):
    """Writes what the gateway answers as files, packed where it packs, and returns the bytes sent and the lines of an nginx that serves them."""
    size, lines = 0, [f"root {folder}; default_type application/octet-stream;"]
    for path in paths:
        answer = gateway("GET", path, Accept_Encoding="gzip")
        name = urllib.parse.unquote(urllib.parse.urlsplit(path).path)
        expect(answer.status in (200, 204), f"GET {path} gave {answer.status}")
        if answer.status == 204:
            lines.append(f'location = "{name}" {{ return 204; }}')
            continue
        size += len(answer.body)
        target = folder / (name[1:] or "index.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        is_packed = answer.headers.get("content-encoding") == "gzip"
        target.write_bytes(gzip.decompress(answer.body) if is_packed else answer.body)
        if is_packed:
            pathlib.Path(f"{target}.gz").write_bytes(answer.body)
        if policy := answer.headers.get("content-security-policy") if name == "/" else None:
            lines.append(f'location = /index.html {{ add_header Content-Security-Policy "{policy}"; }}')
    return size, " ".join(lines)
