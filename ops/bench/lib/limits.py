"""Origins with hidden limits: how much of what they allow the cluster takes, and how much they refuse.

nginx with limit_req serves one small tile at every address; a server in Python refuses what is beyond 20 at once. Neither says Retry-After.
"""
import asyncio
import gzip
import os
import shutil
import signal
import subprocess
import threading
import time

import packhorse

# Seconds of a measurement, and what is left out: after the start, and after a change.
SPAN, START, AFTER = 35, 10, 20
FIRST_PORT = 18120
# A vector tile with one empty layer.
TILE = bytes([0x1A, 0x08, 0x0A, 0x01, 0x61, 0x28, 0x80, 0x20, 0x78, 0x02])
# Some 1,150,000 tiles at zoom 14: without a limit two workers take 18,000 a second, and no cell is over before it was measured.
AREA = "bbox(0,40,26,54)"

TEMPLATE = """
{user}
daemon on;
pid {run}/nginx.pid;
error_log {run}/error.log crit;
worker_processes 1;
worker_rlimit_nofile 65536;
events {{ worker_connections 4096; multi_accept on; }}
http {{
  log_format times '$msec $status';
  access_log off;
  keepalive_timeout 65; keepalive_requests 100000000;
  types {{ application/x-protobuf pbf; }}
  client_body_temp_path {run}/b; proxy_temp_path {run}/p; fastcgi_temp_path {run}/f;
  uwsgi_temp_path {run}/u; scgi_temp_path {run}/s;
  limit_req_status 429;
  split_clients "$request_id" $noise {{ 1% 1; * 0; }}
  {zones}
  root {run}/tree;
  {servers}
}}
"""
SERVER = """
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    access_log {run}/{port}.log times buffer=64k flush=1s;
    {slower}
    location / {{ {rules} try_files /tile.pbf =404; add_header Content-Encoding gzip; }}
  }}
"""


class Origins:
    """One nginx with a port for each kind of limit."""

    KINDS = ["50", "500", "5000", "changed", "none", "noise"]

    def __init__(self, run):
        self.run = run
        shutil.rmtree(run, ignore_errors=True)
        os.makedirs(f"{run}/tree")
        with open(f"{run}/tree/tile.pbf", "wb") as file:
            file.write(gzip.compress(TILE, 6, mtime=0))
        self.ports = {kind: FIRST_PORT + n for n, kind in enumerate(self.KINDS)}
        # A zone counts where its key is not empty; a file next to the tiles turns the slower one on.
        zones = ["limit_req_zone $server_port zone=z50:1m rate=50r/s;", "limit_req_zone $server_port zone=z500:1m rate=500r/s;",
                 "limit_req_zone $server_port zone=z5000:1m rate=5000r/s;", "limit_req_zone $slow zone=zslow:1m rate=200r/s;"]
        rules = {"50": "limit_req zone=z50 burst=20 nodelay;", "500": "limit_req zone=z500 burst=50 nodelay;",
                 "5000": "limit_req zone=z5000 burst=500 nodelay;", "none": "", "noise": "if ($noise) { return 429; }",
                 "changed": "limit_req zone=z500 burst=50 nodelay; limit_req zone=zslow burst=20 nodelay;"}
        # In the server, because an `if` in a location leaves the rest of that location out.
        slower = f"set $slow ''; if (-f {run}/slow) {{ set $slow 1; }}"
        servers = "".join(SERVER.format(port=port, run=run, rules=rules[kind], slower=slower if kind == "changed" else "") for kind, port in self.ports.items())
        with open(f"{run}/nginx.conf", "w") as file:
            file.write(TEMPLATE.format(run=run, zones="\n  ".join(zones), servers=servers,
                                       user="user root;" if os.geteuid() == 0 else ""))

    def __enter__(self):
        subprocess.run([shutil.which("nginx") or "/usr/sbin/nginx", "-c", f"{self.run}/nginx.conf"], check=True)
        return self

    def __exit__(self, *_):
        with open(f"{self.run}/nginx.pid") as file:
            os.kill(int(file.read()), signal.SIGTERM)

    def slow(self, is_on):
        if is_on:
            open(f"{self.run}/slow", "w").close()
        else:
            os.remove(f"{self.run}/slow")

    def log(self, kind):
        """(time, status) of each request."""
        time.sleep(1.5)
        with open(f"{self.run}/{self.ports[kind]}.log") as file:
            found = [(float(at), int(status)) for at, status in (line.split() for line in file)]
        os.truncate(f"{self.run}/{self.ports[kind]}.log", 0)
        return found


class Crowded:
    """Answers after 50 ms, and with 503 at once beyond 20 requests in flight."""

    MOST, LATENCY = 20, 0.05

    def __init__(self, port):
        self.port, self.inside, self.seen = port, 0, []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)

    def _serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=1024))
        self.loop.run_forever()

    async def _connection(self, reader, writer):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: {len(TILE)}\r\n\r\n".encode()
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                if self.inside >= self.MOST:
                    self.seen.append((time.time(), 503))
                    writer.write(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
                    continue
                self.inside += 1
                await asyncio.sleep(self.LATENCY)
                self.inside -= 1
                self.seen.append((time.time(), 200))
                writer.write(head + TILE)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    def log(self):
        found, self.seen = self.seen, []
        return found


def crawl(folder, port, workers, span, meanwhile=()):
    """A job over an origin for `span` seconds; does `meanwhile` (seconds, action) in it; returns when it began, by the wall clock."""
    cluster = packhorse.Cluster(folder, workers)
    try:
        file = f"{folder}/tiles.yaml"
        with open(file, "w") as text:
            text.write(f"id: limits\nurl: http://127.0.0.1:{port}/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-14\nattribution: test data\n"
                       "politeness:\n  concurrency: 64\n")
        start = time.time()
        subprocess.run([packhorse.PROGRAM, "submit", AREA, "--id", "limits", "--tileset", file, "--zoom", "14", "--tile-limit",
                        "10000000", "--coordinator", cluster.endpoints["control"]], check=True, stdout=cluster.log, stderr=cluster.log)
        for at, action in meanwhile:
            time.sleep(max(0, start + at - time.time()))
            action()
        time.sleep(max(0, start + span - time.time()))
    finally:
        cluster.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return start


def share(log, start, begin, end, limit):
    """What was answered as a share of the limit, and the share refused, between two seconds after the start."""
    part = [status for at, status in log if start + begin <= at < start + end]
    answered = sum(status == 200 for status in part)
    return answered / (end - begin) / limit, (len(part) - answered) / max(len(part), 1)


def run(work, say, target):
    """All cells; returns the table and the targets, which `target(what, value, bound, at_least)` makes."""
    rows, targets = [], []

    def cell(name, workers, found):
        for part, (accepted, refused) in found:
            label = f"{name}, {workers} worker{'s' if workers > 1 else ''}{part}"
            say(f"limits: {label}: {accepted:.2f} of the limit, {refused:.3f} refused")
            rows.append(f"| {label} | {accepted:.2f} | {refused * 100:.1f} % |")
            targets.append(target(f"limits: {label}: accepted / limit", accepted, 0.9, True))
            targets.append(target(f"limits: {label}: refused", refused, 0.02, False))

    folder = f"{work}/packhorse"
    with Origins(f"{work}/limits") as origins:
        for workers in (1, 2, 8):
            for kind in ("50", "500", "5000"):
                start = crawl(folder, origins.ports[kind], workers, SPAN)
                cell(f"{int(kind):,}/s", workers, [("", share(origins.log(kind), start, START, SPAN, int(kind)))])
        for workers in (1, 2, 8):
            first, second, third = 25, 60, 95
            start = crawl(folder, origins.ports["changed"], workers, third,
                          [(first, lambda: origins.slow(True)), (second, lambda: origins.slow(False))])
            log = origins.log("changed")
            cell("500/s, then 200, then 500", workers,
                 [(": 500", share(log, start, START, first, 500)), (": 200", share(log, start, first + AFTER, second, 200)),
                  (": 500 again", share(log, start, second + AFTER, third, 500))])
        speeds = {}
        for kind in ("none", "noise"):
            start = crawl(folder, origins.ports[kind], 2, SPAN)
            speeds[kind], refused = share(origins.log(kind), start, START, SPAN, 1)
            say(f"limits: {kind}: {speeds[kind]:,.0f}/s, {refused:.3f} refused")
        rows.append(f"| 1 % refused at random, 2 workers: of {speeds['none']:,.0f}/s undisturbed | {speeds['noise'] / speeds['none']:.2f} | 1.0 % |")
        targets.append(target("limits: 1 % refused at random: speed / undisturbed", speeds["noise"] / speeds["none"], 0.8, True))
    with Crowded(FIRST_PORT + 20) as crowded:
        for workers in (1, 2, 8):
            start = crawl(folder, crowded.port, workers, SPAN)
            cell("20 at once, 503 beyond", workers,
                 [("", share(crowded.log(), start, START, SPAN, crowded.MOST / crowded.LATENCY))])
    lines = ["### Origins with hidden limits, which they do not tell (429 or 503 without Retry-After)", "",
             f"From {START} s after the start and {AFTER} s after a change on; nginx `limit_req` with a burst of a tenth of a second to 0.4 s.", "",
             "| origin | accepted / limit | refused |", "|---|---|---|", *rows]
    return "\n".join(lines), targets
