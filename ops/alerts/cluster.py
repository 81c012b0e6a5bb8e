"""A cluster on loopback that a real Prometheus scrapes each second, with the example configuration of ops/monitoring.

Python's standard library only.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

OPS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(OPS))
import ports  # noqa: E402

RULES, CONFIG = OPS / "monitoring/packhorse.rules.yml", OPS / "monitoring/prometheus.yml"


class Wrong(Exception):
    """Something that must be corrected."""


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def wait(what, condition, limit=90):
    """Waits until `condition` returns something."""
    deadline = time.monotonic() + limit
    last = None
    while time.monotonic() < deadline:
        try:
            if found := condition():
                return found
        except OSError as error:
            last = error
        time.sleep(0.2)
    raise Wrong(f"not within {limit} s: {what}" + (f" ({last})" if last else ""))


def hasten(rules):
    """Rules that wait seconds where the real ones wait minutes, hours or days."""
    rules = re.sub(r"for: \d+[mhd]", "for: 2s", rules).replace("[30m]", "[60s]")
    return re.sub(r"\[(?:5m|15m|1h)\]", "[20s]", rules).replace("offset 15m", "offset 60s").replace("> 1800", "> 5").replace("> 900\n", "> 5\n").replace("silent_seconds > 60", "silent_seconds > 16")


class Cluster:
    """Prometheus, and what it scrapes."""

    def __init__(self, folder, program):
        self.folder, self.program, self.running, self.mounts, self.token = folder, program, {}, [], ""
        names = ("control", "work", "coordinator", "worker-1", "worker-2", "gateway", "prometheus", "made", "tiles")
        self.ports = {name: ports.take() for name in names}
        self.url = f"http://127.0.0.1:{self.ports['prometheus']}"

    def start(self, name, *words):
        log = (self.folder / f"{name}.log").open("wb")
        self.running[name] = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def worker(self, name):
        self.start(name, self.program, "worker", "--connect", f"tcp://127.0.0.1:{self.ports['work']}", "--blobs", self.folder / "share/blobs",
                   "--name", name, "--metrics", f"127.0.0.1:{self.ports[name]}")
        wait(f"{name} serves metrics", lambda: "packhorse_worker" in self.page(name))

    def coordinator(self, *more):
        self.start("coordinator", self.program, "coordinator", "--data", self.folder / "data", "--no-blob-endpoint", "--lease-seconds", 10,
                   "--blobs", self.folder / "share/blobs", "--catalog", self.folder / "share/catalog",
                   "--control", f"tcp://127.0.0.1:{self.ports['control']}", "--work", f"tcp://127.0.0.1:{self.ports['work']}",
                   "--backup-to", self.folder / "backups", "--backup-every", "5s",
                   "--metrics", f"127.0.0.1:{self.ports['coordinator']}", *more)
        wait("the coordinator serves metrics", lambda: "packhorse_jobs" in self.page("coordinator"))

    def gateway(self):
        self.start("gateway", self.program, "gateway", self.folder / "share/catalog", "--port", self.ports["gateway"], "--metrics", "open",
                   "--tokens", self.folder / "tokens", "--coordinator", f"tcp://127.0.0.1:{self.ports['control']}")
        wait("the gateway serves metrics", lambda: "packhorse_gateway" in self.page("gateway"))
        # Before its first question a gateway does not say whether the coordinator answers.
        self.jobs()

    def jobs(self):
        """Asks the gateway for the list of jobs; the code of its answer."""
        address = f"http://127.0.0.1:{self.ports['gateway']}/v1/jobs"
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers={"Authorization": f"Bearer {self.token}"}), timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def stop(self, name, signal_number=signal.SIGTERM):
        """Ends a process of this cluster."""
        self.running[name].send_signal(signal_number)
        self.running[name].wait(30)

    def tileset(self, name, template, *lines):
        """A tileset file with this address of tiles."""
        limits = "politeness:\n  requests_per_second: 400\n  concurrency: 16\n"
        (self.folder / f"{name}.yaml").write_text(f"id: {name}\nurl: {template}\nformat: mvt\nzoom: 0-14\n{limits}" + "".join(f"{l}\n" for l in lines))
        return self.folder / f"{name}.yaml"

    def command(self, *words):
        done = subprocess.run([str(self.program), *map(str, words), "--coordinator", f"tcp://127.0.0.1:{self.ports['control']}"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Wrong(f"packhorse {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def page(self, name):
        return get(f"http://127.0.0.1:{self.ports[name]}/metrics")

    def ask(self, path, **parameters):
        return json.loads(get(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"))["data"]

    def begin(self):
        self.start("origin", self.program, "demo-origin", "--port", "0", "--latency-ms", "10")
        tiles = wait("the demo world serves", lambda: re.search(r"^http://\S+", (self.folder / "origin.log").read_text(), re.M))[0]
        self.tileset("tiles", f"{tiles}/tiles/{{z}}/{{x}}/{{y}}.pbf")
        # Small disks of their own, which can be filled.
        for name, size in (("data", "48m"), ("share", "96m")):
            (self.folder / name).mkdir()
            if os.geteuid() == 0:
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "packhorse-monitoring", self.folder / name], check=True)
                self.mounts.append(self.folder / name)
        for name in ("tokens", "backups"):
            (self.folder / name).mkdir()
        made = subprocess.run([str(self.program), "keygen", str(self.folder / "tokens/viewer.token"), "--role", "viewer"],
                              capture_output=True, text=True, check=True).stdout
        self.token = re.search(r"\bph_\S+", made)[0]
        self.coordinator()
        self.worker("worker-1")
        self.worker("worker-2")
        self.gateway()
        # The example with other ports, and each second instead of each quarter of a minute; alerts wait seconds instead of minutes.
        config = CONFIG.read_text().replace("15s", "1s")
        for port, name in ((9470, "coordinator"), (9471, "worker-1"), (9472, "worker-2"), (7480, "gateway")):
            config = config.replace(f'"127.0.0.1:{port}"', f'"127.0.0.1:{self.ports[name]}"')
        # Values that a process cannot be brought to here come from a page that the cases write.
        config += f'\n  - job_name: made\n    static_configs:\n      - targets: ["127.0.0.1:{self.ports["made"]}"]\n'
        (self.folder / "prometheus.yml").write_text(config)
        (self.folder / RULES.name).write_text(hasten(RULES.read_text()))
        self.start("prometheus", "prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/tsdb",
                   f"--web.listen-address=127.0.0.1:{self.ports['prometheus']}")
        wait("Prometheus is ready", lambda: get(f"{self.url}/-/ready"))

    def end(self):
        for process in reversed(self.running.values()):
            if process.poll() is None:
                process.terminate()
        for process in self.running.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for folder in reversed(self.mounts):
            subprocess.run(["umount", folder], check=True)
