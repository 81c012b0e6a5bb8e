"""Number 5 of ops/gateway-break: a gateway that is ended and killed under load, and what its clients then believe."""
import collections
import signal
import subprocess
import threading
import time

from acceptance import Wrong, expect, wait
from break_site import Incomplete, Wire, head
from gateway_site import Gateway, sha256

READERS = 8


class Load:
    """Readers that take every answer apart: each ends, is seen to be incomplete, or has the right bytes."""

    def __init__(self, site, port):
        self.port, self.stop = port, threading.Event()
        self.counts, self.findings = collections.Counter(), []
        files = [site.file("LI"), site.file("LI", "pmtiles"), site.file("EE")]
        self.wanted = {f"/{path}": digest for path, digest in files}
        # What the first answer has is what every later one must have.
        for target in ("/tiles/EE/0/0/0", "/catalog.json", "/openapi.json", "/world/0/0/0.pbf"):
            self.wanted[target] = None
        self.threads = [threading.Thread(target=self._read, args=(number,)) for number in range(READERS)]

    def _read(self, number):
        targets = list(self.wanted)
        while not self.stop.is_set():
            try:
                with Wire(self.port, f"127.8.0.{number + 1}", 30) as wire:
                    for target in targets[number % len(targets):] + targets[:number % len(targets)]:
                        wire.send(head(target))
                        reply = wire.answer()
                        if reply.status != 200:
                            self.findings.append(f"{target} gave {reply.status}")
                        digest = sha256(reply.body)
                        if self.wanted[target] is None:
                            self.wanted[target] = digest
                        if self.wanted[target] != digest:
                            self.findings.append(f"{len(reply.body)} bytes of {target} were taken for all of it")
                        self.counts["complete"] += 1
                        if self.stop.is_set():
                            return
            except Incomplete:
                self.counts["cut"] += 1
            except Wrong as problem:
                self.findings.append(str(problem))
            except OSError:
                self.counts["refused"] += 1
                time.sleep(0.02)


class Download:
    """curl that resumes one file until it has all of it."""

    def __init__(self, site, gateway, name):
        self.path, self.digest = site.file("EE")
        self.target, self.url, self.process, self.starts = site.folder / name, f"{gateway.url}/{self.path}", None, 0
        # As slow as many rounds last.
        self.rate = (site.catalog / self.path).stat().st_size // (4 * site.times(40)) * 3

    def go_on(self, *limit):
        if self.process is None or self.process.poll() is not None:
            self.starts += 1
            self.process = subprocess.Popen(["curl", "-sS", "-C", "-", *limit, self.url, "-o", str(self.target)], stderr=subprocess.PIPE, text=True)

    def finish(self):
        for _ in range(4):
            wait("the end of curl", lambda: self.process.poll() is not None, 90)
            if self.process.returncode == 0:
                break
            self.go_on()
        expect(sha256(self.target.read_bytes()) == self.digest, f"the file that curl resumed {self.starts} times has another digest")


def kills(site):
    """20 SIGTERM and 20 SIGKILL under load: no incomplete body is taken for a complete one; curl resumes all."""
    gateway = Gateway(site)
    load, downloads = Load(site, gateway.port), [Download(site, gateway, f"resumed-{number}") for number in range(3)]
    for thread in load.threads:
        thread.start()
    rounds, slowest = site.times(20), 0.0
    try:
        for number in range(2 * rounds):
            # A slow reader holds a gateway that ends for 12 s; so half of the ends have none.
            is_kill = number % 2 == 0
            if is_kill or number % 4 == 1:
                for download in downloads:
                    download.go_on("--limit-rate", str(download.rate))
            time.sleep(0.7)
            began = time.monotonic()
            gateway.process.send_signal(signal.SIGKILL if is_kill else signal.SIGTERM)
            code = gateway.process.wait(40)
            if not is_kill:
                slowest = max(slowest, time.monotonic() - began)
                expect(code == 0, f"the gateway ended with {code} after SIGTERM")
            # curl takes what the sockets still hold, finds that it is not all, and goes on in a later round.
            gateway.start()
    finally:
        load.stop.set()
        for thread in load.threads:
            thread.join()
    for download in downloads:
        download.finish()
    gateway.kill()
    expect(not load.findings, f"{len(load.findings)} findings: " + " | ".join(load.findings[:5]))
    expect(load.counts["cut"] >= rounds, f"only {load.counts['cut']} answers were cut")
    held_requests(site)
    print(f"      {dict(load.counts)}, curl went on {sum(d.starts for d in downloads)} times, the slowest end took {slowest:.1f} s", flush=True)


def held_requests(site):
    """A request that is held when the gateway ends has no end either: its body is chunked and has no last chunk."""
    text = site.run("mask", "bbox(26.5,58.3,27.0,58.5)", "--zoom", "10", "--format", "url").stdout.strip().partition(":")[0]
    for end in (signal.SIGTERM, signal.SIGKILL):
        gateway = site.make_gateway()
        with Wire(gateway.port, seconds=30) as wire:
            wire.send(head(f"/carto/crawling/{text}.mbtiles"))
            wire.rest = wire.socket.recv(1_000)
            gateway.process.send_signal(end)
            gateway.process.wait(40)
            try:
                reply = wire.answer()
            except Incomplete:
                continue
            raise Wrong(f"after {end.name} the {len(reply.body)} bytes of a held request seem to be complete")
    # The job goes on without its readers.
    for job in site.gateway.get("/v1/jobs?state=fetching", role="viewer").json()["jobs"]:
        site.gateway("POST", f"/v1/jobs/{job['job']}/orders", {"order": "cancel"}, role="operator")


ALL = {5: kills}
