"""Checks of the page and of `packhorse up`: numbers 1, 9 and 10 of ops/gateway-check."""
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

import ports
from acceptance import Skip, expect, wait
from checks_load import environment

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def start(site):
    """`packhorse up` on an empty folder and a submission give the page, the catalog and the package within 60 s."""
    if site.call("up", "--help").returncode:
        raise Skip("the program has no command 'up'")
    began, folder, port = time.monotonic(), site.folder / "up", ports.take()
    control = f"tcp://127.0.0.1:{ports.take()}"
    process = site.start("up", "--data", folder, "--port", port, "--control-port", control.rpartition(":")[2], "--workers", "1")
    url = f"http://127.0.0.1:{port}"
    wait("the page", lambda: read(url + "/"), 60)
    site.run("submit", "EE", "--tileset", site.folder / "demo.yaml", "--zoom", "0-9", "--wait", "--coordinator", control)
    body = wait("the package", lambda: read(url + "/packages/1/EE.mbtiles"), 20)
    expect(body.startswith(b"SQLite format 3\0"), "the package is no database")
    expect(b'"EE"' in read(url + "/catalog.json"), "the catalog does not name EE")
    took = time.monotonic() - began
    process.send_signal(signal.SIGTERM)
    expect(process.wait(30) == 0, f"packhorse up ended with {process.returncode}")
    expect(took < 60, f"it took {took:.0f} s")


def read(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read()
    except OSError:
        return None


def web_test(site, part, *options):
    """A part of ops/web-test, with a cluster of its own."""
    done = subprocess.run([ROOT / "ops/web-test", *options], capture_output=True, text=True, timeout=900,
                          env={**os.environ, "PACKHORSE": site.program, "ONLY": part})
    if skipped := re.search(r"^skipped .*: (.*)$", done.stdout, re.M):
        raise Skip(skipped[1])
    expect(done.returncode == 0, (done.stdout + done.stderr).strip()[-600:])


def maplibre(site):
    """MapLibre GL JS in headless Chromium shows a package: features, no violation of the policy, no other host."""
    python = environment(site, "maplibre")
    library = next(iter(python.parent.parent.glob("lib/*/site-packages/maplibre/srcjs")), None)
    if not library:
        raise Skip("the package maplibre of PyPI has no maplibre-gl.js")
    web_test(site, "library", "--web-lib", library)


def canvas(site):
    """Without the map library a running job changes on the page's own canvas."""
    web_test(site, "coverage")


ALL = {1: start, 9: maplibre, 10: canvas}
