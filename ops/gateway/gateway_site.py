"""A whole site for ops/gateway-check: a tile server, a coordinator, workers and gateways, each a process of its own on loopback.

Python's standard library only.
"""
import hashlib
import http.client
import json
import pathlib
import signal
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "lib")]
import ports  # noqa: E402
from acceptance import expect, wait  # noqa: E402

OPERATOR, VIEWER = "operator", "viewer"


class Answer:
    """The head and the body of an answer."""

    def __init__(self, response):
        self.status, self.body = response.status, response.read()
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    def json(self):
        return json.loads(self.body)


class Gateway:
    """A gateway that can be killed and started again on its port."""

    def __init__(self, site, *options, catalog=None):
        self.site, self.options, self.port, self.process = site, options, ports.take(), None
        self.catalog = catalog or site.catalog
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.process = self.site.start("gateway", self.catalog, "--port", self.port, *self.options, output=subprocess.PIPE)
        line = self.process.stdout.readline().strip()
        expect(line == self.url, f"the gateway printed {line!r} instead of its address; {self.site.logs}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __call__(self, method, path, body=None, role=None, seconds=30, **headers):
        """One request over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            if role:
                fields["Authorization"] = f"Bearer {self.site.tokens[role]}"
            if body is not None:
                fields["Content-Type"], body = "application/json", json.dumps(body)
            connection.request(method, path, body, fields)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, role=None, status=200, **headers):
        answer = self("GET", path, role=role, **headers)
        expect(answer.status == status, f"GET {path} gave {answer.status}, not {status}: {answer.body[:200]!r}")
        return answer

    def submit(self, tileset, area, role=OPERATOR, **more):
        answer = self("POST", "/v1/jobs", {"tileset": tileset, "area": area, **more}, role=role)
        expect(answer.status in (200, 201), f"POST /v1/jobs gave {answer.status}: {answer.body[:300]!r}")
        return answer.json()["job"]

    def job(self, number):
        return self.get(f"/v1/jobs/{number}", role=VIEWER).json()

    def wait_for_job(self, number, seconds=120):
        def ended():
            job = self.job(number)
            return job if job["state"] in ("done", "failed", "cancelled") else None

        job = wait(f"the end of job {number}", ended, seconds, 0.2)
        expect(job["state"] == "done", f"job {number} is {job['state']}: {job.get('reason')}")
        return job


class Site:
    """The processes and the folders."""

    def __init__(self, folder, program, padding=400_000):
        self.folder, self.program = pathlib.Path(folder), str(program)
        self.logs, self.data, self.running, self.counts = self.folder / "logs", self.folder / "data", [], {}
        self.catalog, self.token_folder, self.tokens = self.data / "catalog", self.folder / "tokens", {}
        for new in (self.logs, self.token_folder):
            new.mkdir()
        self.control, self.work = (f"tcp://127.0.0.1:{ports.take()}" for _ in range(2))
        self.origin = self.serve("demo-origin", "--port", "0", "--padding", padding)
        self.slow = self.serve("demo-origin", "--port", "0", "--latency-ms", "1500")
        self.coordinator = None
        self.start_coordinator()
        self.workers = [self.start("worker", "--connect", self.work, "--blobs", self.data / "blobs") for _ in range(2)]
        for role in (OPERATOR, VIEWER):
            self.make_token(role, role)
        self.crawling = self.serve("demo-origin", "--port", "0", "--latency-ms", "5000")
        # A box of 17 tiles takes 85 s from the last one: one request at a time.
        for name, origin, more in (("demo", self.origin, ""), ("slow", self.slow, ""), ("crawling", self.crawling, "  concurrency: 1\n")):
            (self.folder / f"{name}.yaml").write_text(
                f"id: {name}\nurl: {origin}/tiles/{{z}}/{{x}}/{{y}}.pbf\nformat: pbf\nzoom: 0-10\nattribution: Demo\n"
                f"politeness:\n  contact: maps@example.com\n{more}")
        self.run("submit", "EE", "LI", "--tileset", self.folder / "demo.yaml", "--zoom", "0-9", "--format", "mbtiles,pmtiles", "--wait",
                 "--coordinator", self.control)
        self.gateway = self.make_gateway()

    def make_gateway(self, *more):
        return Gateway(self, "--tokens", self.token_folder, "--coordinator", self.control, *[
            word for name in ("demo", "slow", "crawling") for word in ("--tileset", self.folder / f"{name}.yaml")], *more)

    def start_coordinator(self):
        self.coordinator = self.start("coordinator", "--data", self.data, "--control", self.control, "--work", self.work,
                                      "--no-blob-endpoint")
        wait("the start of the coordinator", lambda: self.call("health", "--coordinator", self.control).returncode == 0)

    def make_token(self, name, role):
        output = self.run("keygen", self.token_folder / f"{name}.token", "--role", role).stdout
        self.tokens[name] = [line for line in output.splitlines() if line and not line.startswith("#")][-1].split()[-1]
        return self.tokens[name]

    def index(self):
        return json.loads((self.catalog / "catalog.json").read_text())

    def file(self, package, kind="mbtiles"):
        """The path below the catalog and the SHA-256 of the newest version of a package."""
        for entry in self.index()["packages"]:
            if entry["id"] == package:
                file = next(f for f in entry["versions"][0]["files"] if f["format"] == kind)
                return file["url"], file["sha256"]
        raise KeyError(package)

    def call(self, *words):
        return subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def run(self, *words):
        done = self.call(*words)
        expect(done.returncode == 0, f"packhorse {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()}")
        return done

    def start(self, *words, output=subprocess.DEVNULL):
        self.counts[words[0]] = self.counts.get(words[0], 0) + 1
        with (self.logs / f"{words[0]}-{self.counts[words[0]]}.log").open("w") as log:
            process = subprocess.Popen([self.program, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                                       stdout=output, stderr=log)
        self.running.append(process)
        return process

    def serve(self, *words):
        """Starts a server and returns the address that it prints."""
        line = self.start(*words, output=subprocess.PIPE).stdout.readline().strip()
        expect(line.startswith("http://"), f"packhorse {' '.join(map(str, words))} does not serve")
        return line

    def close(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def quoted(text):
    return urllib.parse.quote(text, safe="")
