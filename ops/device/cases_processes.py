"""Several processes on one store: two that want to be the worker, and a reader that serves tiles; the worker is killed."""

import os
import threading
import time
import urllib.error
import urllib.request

from fault_case import fault
from harness import Trouble, wait
from properties import Broken
from scripted import CatalogOrigin

# A tile of LI, which is installed in every scenario that is used here, and of no other package.
TILE = "/tiles/demo/9/269/179"


def holder(store):
    """The process that holds the lock of a store; None when there is none."""
    inode = os.stat(store / "lock").st_ino
    with open("/proc/locks") as locks:
        for line in locks:
            words = line.split()
            if words[1] == "FLOCK" and int(words[5].split(":")[2]) == inode:
                return int(words[4])
    return None


def get(address):
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def serve(case, *words):
    """A reader of the library: `device serve`; returns its address and process."""
    process = case.device.start("serve", "--port", "0", *words)
    return wait("device serve is ready", lambda: process.out.read_text().strip(), 30), process


class Renderer:
    """Asks for one tile again and again; every answer must be that tile in an old or a new version."""

    def __init__(self, base):
        self.address, self.bodies, self.problem, self.count = base + TILE, set(), None, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.is_set():
            try:
                status, body = get(self.address)
                self.count += 1
                self.bodies.add(body)
                if status != 200:
                    self.problem = f"{self.address} was answered with {status}"
            except OSError as error:
                self.problem = f"{self.address}: {error}"
            self.over.wait(0.01)

    def close(self):
        self.over.set()
        self.thread.join(30)
        if self.problem or not self.count or len(self.bodies) > 2:
            raise Broken(5, self.problem or f"{self.count} answers, {len(self.bodies)} versions")


@fault("two workers and a reader, the worker is killed", nightly=100, short=2, limit=150)
def takeover(case):
    """Another process takes the lock and ends the task; the reader has no error."""
    case.begin(("install", "together")[case.index % 2])
    first = case.device.start("run", "--forever")
    wait("the first one works", lambda: holder(case.store.path) == first.pid)
    base, reader = serve(case)
    second = case.device.start("run", "--forever")
    renderer = Renderer(base)
    case.cleanups.append(renderer.over.set)
    wait("the second one runs", lambda: "working" in second.log.read_text(errors="replace"))
    case.origin.rate = 4_000_000
    asked = case.device.start(*case.command(), "--queue")
    time.sleep(case.random.random() * 1.2)
    first.kill()
    killed = time.monotonic()
    wait("another process takes the lock", lambda: holder(case.store.path) in (second.pid, reader.pid), 10)
    case.notes.append(f"taken over after {time.monotonic() - killed:.1f} s")
    case.origin.rate = None
    case.wait(asked)
    if case.is_settled() or not case.store.state().is_idle or asked.child.returncode == 0:
        wait("the queue is done", case.is_settled, 60)
    renderer.close()
    for process in (second, reader):
        process.stop()
        if process.child.returncode not in (0, 130, 143):
            raise Trouble(f"{process.name} ended with {process.child.returncode}")
    case.finish()


def viewed(case):
    """Views a tile of the server that the installed style names; the device keeps it in `ambient.sqlite`."""
    port = case.plan.tiles_port
    path = max(path for path in case.origin.truth if path.startswith("/tiles/9/"))
    server = CatalogOrigin(case.origin.truth, port)
    case.cleanups.append(server.close)
    try:
        base, process = serve(case, "--online")
        status, body = get(f"{base}/http/127.0.0.1:{port}{path}")
        process.stop()
    finally:
        server.close()
    if status != 200 or body != case.origin.truth[path][2]:
        raise Broken(5, f"a viewed tile was answered with {status}, {len(body)} bytes")
