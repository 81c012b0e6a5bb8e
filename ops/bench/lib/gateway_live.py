"""The rows of bench-gateway about a gateway as it lives: memory, start, changes, events, coverage, the page, the coordinator's cost."""
import gzip
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import selectors
import socket
import statistics
import subprocess
import threading
import time

from acceptance import expect, wait
from checks_load import descriptors, environment, idle_connections, memory
from gateway_rows import MIB, PACKAGES, cpu_seconds, row
from gateway_site import VIEWER
from web_proxy import Nginx

HERE = pathlib.Path(__file__).resolve().parent
STREAMS, STREAMS_EACH = 200, 4


class LiveRows:
    """Parts that use the site of a GatewayBench."""

    def __init__(self, bench, is_quick):
        self.bench, self.site, self.is_quick = bench, bench.site, is_quick

    def memory(self):
        """Memory with 10,000 idle connections and 1,000 downloads at 64 KiB a second, and the time of tiles meanwhile."""
        gateway = self.bench.make_gateway()
        idle = idle_connections(gateway.port, 10_000)
        # The last ones are still being accepted.
        wait("the idle connections", lambda: descriptors(gateway.process.pid) > len(idle), 20)
        before = descriptors(gateway.process.pid)
        url = f"{gateway.url}/packages/1/mid.mbtiles?n=[1-50]"
        # 50 downloads from each of 20 addresses: one address has 64 connections.
        curl = ["curl", "-s", "--limit-rate", "65536", "--parallel", "--parallel-immediate", "--parallel-max", "50", "-o", "/dev/null"]
        slow = [subprocess.Popen([*curl, "--interface", f"127.99.0.{1 + number}", url], stderr=subprocess.DEVNULL) for number in range(20)]
        try:
            # A download is a connection and an open file.
            wait("the start of 1,000 downloads", lambda: descriptors(gateway.process.pid) >= before + 1_900, 60)
            client = self.bench.wrk.start(gateway.url, self.bench.tile_requests("mbtiles"), 20, 10, 200)
            worst = 0
            while client.poll() is None:
                worst = max(worst, memory(gateway.process.pid))
                time.sleep(0.2)
            found, open_ = self.bench.wrk.result(client), descriptors(gateway.process.pid) - before
        finally:
            for process in slow:
                process.kill()
                process.wait()
            for connection in idle:
                connection.close()
            gateway.kill()
        note = f"{len(idle)} idle, {open_} descriptors more by downloads and tiles"
        expect(len(idle) >= 9_990, f"only {len(idle)} idle connections were taken")
        yield row("memory at 10,000 idle connections and 1,000 downloads at 64 KiB/s", worst / MIB, "MiB", 256, False, note)
        yield row("p99 of tiles during these downloads, 200 a second", found["p99"], "ms", 100, False, f"p50 {found['p50']:.1f} ms, {found['requests']} tiles")

    def start(self):
        """From the start of the process to its address; then the list of 600 packages is there."""
        took = []
        for _ in range(2 * self.bench.rounds + 1):
            began = time.monotonic()
            gateway = self.bench.make_gateway()
            took.append(time.monotonic() - began)
            answer = gateway.get("/catalog.json").json()
            expect(len(answer["packages"]) > PACKAGES, "the gateway started without its packages")
            gateway.kill()
        yield row(f"start with {PACKAGES} packages", statistics.median(took), "s", 0.2, False, f"{min(took):.3f} to {max(took):.3f} s")

    def change(self):
        """From the rename of catalog.json to the first answer with the new version; the worst of several."""
        took, gateway = [], self.bench.gateway
        for version in range(2, 4 if self.is_quick else 12):
            self.bench.catalog.publish("P001", version)
            began = time.monotonic()
            wait("a new version", lambda: gateway("HEAD", f"/packages/{version}/P001.mbtiles").status == 200, 30, 0.01)
            took.append(time.monotonic() - began)
            time.sleep(self.bench.random.random())
        note = f"median {statistics.median(took):.2f} s, {len(took)} versions"
        yield row(f"a new version among {PACKAGES} packages is seen", max(took), "s", 2, False, note)

    def events(self):
        """200 streams while jobs change: nothing is lost, and what that costs the gateway."""
        tokens = [self.site.make_token(f"viewer-{number}", VIEWER) for number in range(STREAMS // STREAMS_EACH)]
        # The orders come through another gateway.
        gateway, orders = self.site.gateway, self.site.make_gateway()
        jobs = [orders.submit("crawling", {"bbox": [24.5 + number / 100, 59.3, 25, 59.5]}, priority=-1) for number in range(40)]
        wait("the new tokens", lambda: gateway("GET", "/v1/status", Authorization=f"Bearer {tokens[-1]}").status == 200, 10)
        first = self.last_event()
        streams = EventStreams(gateway.port, tokens, first)
        wait("the streams", lambda: streams.read(0.05) or streams.are_open(), 20)
        load = multiprocessing.Process(target=change_jobs, args=(orders.port, self.site.tokens["operator"], jobs, 5 if self.is_quick else 10))
        cpu, began = cpu_seconds([gateway.process.pid]), time.monotonic()
        load.start()
        while load.is_alive():
            streams.read(0.05)
        load.join()
        seconds, cpu = time.monotonic() - began, cpu_seconds([gateway.process.pid]) - cpu
        time.sleep(1.5)
        last = self.last_event()
        end = time.monotonic() + 20
        while streams.behind(last) and time.monotonic() < end:
            streams.read(0.05)
        lost = streams.lost(first, last)
        streams.close()
        orders.kill()
        changes = (last - first) / seconds
        yield row(f"{STREAMS} event streams: events lost or out of order", lost, "", 0, False, f"{last - first} events to each stream")
        yield row(f"{STREAMS} event streams: the gateway's cores at 1,000 changes/s", cpu / seconds * max(1, 1_000 / changes), "cores", 0.1, False,
                  f"measured {cpu / seconds:.2f} cores at {changes:.0f} changes/s" + ("" if changes >= 1_000 else ", scaled"))

    def last_event(self):
        # Equal questions have the same answer for a second.
        return self.site.gateway.get(f"/v1/events?limit=1&after={time.time_ns() % 10**15}", role=VIEWER).json()["last"]

    def coverage(self):
        """The coverage of a job of the planet, while the job waits."""
        (self.bench.folder / "planet.yaml").write_text(
            f"id: planet\nurl: {self.site.origin}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-14\npoliteness:\n  concurrency: 64\n")
        text = self.site.run("submit", "bbox(-180,-85.05,179.99,85.05)", "--id", "planet", "--tileset", self.bench.folder / "planet.yaml",
                             "--zoom", "0-14", "--tile-limit", 10**9, "--coordinator", self.site.control, "--json").stdout
        job, gateway = json.loads(text)["job"], self.site.gateway
        # Some cells are done, some are at work; then nothing changes.
        time.sleep(2 if self.is_quick else 6)
        expect(gateway("POST", f"/v1/jobs/{job}/orders", {"order": "pause"}, role="operator").status == 200, "the job of the planet does not pause")
        time.sleep(3)
        took, sizes, cells = [], [], 0
        for _ in range(3 if self.is_quick else 12):
            # An answer is given again for a second; each of these is a new one.
            time.sleep(1.1)
            began = time.monotonic()
            answer = gateway.get(f"/v1/jobs/{job}/coverage", role=VIEWER, Accept_Encoding="gzip")
            took.append(1000 * (time.monotonic() - began))
            sizes.append(len(answer.body))
            cells = len(gzip.decompress(answer.body) if answer.headers.get("content-encoding") == "gzip" else answer.body)
        gateway("POST", f"/v1/jobs/{job}/orders", {"order": "cancel"}, role="operator")
        note = f"{cells} bytes of cells, {min(took):.1f} to {max(took):.1f} ms"
        yield row("coverage of the planet: time of an answer", statistics.median(took), "ms", 20, False, note)
        yield row("coverage of the planet: packed size", max(sizes) / 1000, "KB", 15, False, "cells done in their order")

    def page(self):
        """The first contentful paint of the page, next to the same files from nginx."""
        python = environment(self.site, "playwright==1.65.2")
        files = self.bench.folder / "page"
        for name in ["", *page_files(self.site.gateway)]:
            target = files / (name or "index.html")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.site.gateway.get("/" + name).body)
            if target.suffix in (".html", ".js", ".css", ".svg"):
                pathlib.Path(f"{target}.gz").write_bytes(gzip.compress(target.read_bytes(), 6))
        server = Nginx(self.bench.folder / "page-nginx", f"root {files};")
        done = subprocess.run([python, HERE / "page_paint.py", str(self.bench.rounds * 3), self.site.gateway.url, server.url],
                              capture_output=True, text=True)
        server.stop()
        expect(done.returncode == 0, done.stderr[-300:])
        ours, theirs = json.loads(done.stdout)
        yield row("page: first contentful paint ÷ the same files from nginx", ours / theirs, "×", 1.5, False, f"{ours:.0f} and {theirs:.0f} ms")

    def coordinator(self):
        """What a gateway with one open page costs the coordinator."""
        pid, gateway = self.site.coordinator.pid, self.site.gateway
        seconds = 10 if self.is_quick else 40

        def view():
            for name in ("status", "jobs", "workers", "origins"):
                gateway.get(f"/v1/{name}", role=VIEWER)
            time.sleep(1)

        quiet = self.share(pid, seconds, lambda: time.sleep(1))
        watched = self.share(pid, seconds, view)
        yield row("coordinator's core with a page that asks each second", max(0.0, watched - quiet) * 100, "%", 0.5, False,
                  f"{watched * 100:.2f} % with it, {quiet * 100:.2f} % without")

    @staticmethod
    def share(pid, seconds, work):
        """The part of a core that a process uses while `work` is done again and again."""
        before, began = cpu_seconds([pid]), time.monotonic()
        while time.monotonic() < began + seconds:
            work()
        return (cpu_seconds([pid]) - before) / (time.monotonic() - began)


class EventStreams:
    """Event streams as raw sockets; what comes is kept, and looked at afterwards."""

    def __init__(self, port, tokens, after):
        self.selector, self.texts = selectors.DefaultSelector(), {}
        for number in range(STREAMS):
            stream = socket.socket()
            # One address has 64 connections.
            stream.bind((f"127.98.0.{1 + number // 50}", 0))
            stream.connect(("127.0.0.1", port))
            stream.sendall(f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\nLast-Event-ID: {after}\r\n"
                           f"Authorization: Bearer {tokens[number // STREAMS_EACH]}\r\n\r\n".encode())
            stream.setblocking(False)
            self.texts[stream] = []
            self.selector.register(stream, selectors.EVENT_READ)

    def read(self, seconds):
        for key, _ in self.selector.select(seconds):
            piece = key.fileobj.recv(1 << 18)
            if not piece:
                self.selector.unregister(key.fileobj)
            self.texts[key.fileobj].append(piece)

    def are_open(self):
        return all(pieces and pieces[0].startswith(b"HTTP/1.1 200") for pieces in self.texts.values())

    def behind(self, last):
        """How many streams did not get the event."""
        mark = b"id: %d\n" % last
        return sum(mark not in b"".join(pieces[-3:]) for pieces in self.texts.values())

    def lost(self, first, last):
        """How many events of all streams are missing or not at their place."""
        wanted, wrong = list(range(first + 1, last + 1)), 0
        for pieces in self.texts.values():
            # A chunk begins between two events, so its length is on a line of its own.
            found = [int(number) for number in re.findall(rb"\nid: (\d+)\n", b"".join(pieces))][:len(wanted)]
            if found != wanted:
                wrong += max(1, len(set(wanted) - set(found)))
        return wrong

    def close(self):
        self.selector.close()
        for stream in self.texts:
            stream.close()


def change_jobs(port, token, jobs, seconds):
    """Changes the weights of jobs for a while, over 10 connections."""
    end = time.monotonic() + seconds

    def work(mine):
        connection, weight = http.client.HTTPConnection("127.0.0.1", port, timeout=30), 1
        while time.monotonic() < end:
            weight = 1 + weight % 9
            connection.request("POST", "/v1/jobs/orders", json.dumps({"jobs": mine, "order": "weight", "weight": weight}),
                               {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"an order gave {answer.status}: {text[:200]}")
        connection.close()

    threads = [threading.Thread(target=work, args=(jobs[number::10],)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def page_files(gateway):
    """The files that the page loads from its own server."""
    seen, open_ = [], re.findall(r'(?:href|src)="/?(ui/[^"]+)"', gateway.get("/").body.decode())
    while open_:
        name = open_.pop()
        if name in seen:
            continue
        seen.append(name)
        if name.endswith(".js"):
            folder = os.path.dirname(name)
            open_ += [f"{folder}/{found}" for found in re.findall(r"from '\./([^']+)'", gateway.get("/" + name).body.decode())]
    return seen
